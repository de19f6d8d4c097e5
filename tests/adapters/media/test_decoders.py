"""One decode a file, however many ask; bounded, and off the event loop."""

import asyncio
import threading
from pathlib import Path

import pytest
from PIL import Image as Picture

from caliper.adapters.media.bounds import DecoderOptions, MediaLimits
from caliper.adapters.media.decoders import Decoders
from caliper.adapters.media.preparation import InlineMedia, MediaFolder
from caliper.core.errors import InvalidInput, MediaMissing
from caliper.core.preparation import Preparation
from caliper.ports.models import Image


class Work:
    """A decode that waits until it is let go, and counts. `started` says that `full` are."""

    def __init__(self, size: int = 10, full: int = 1) -> None:
        self.size, self.full, self.begun, self.at_once, self.most = size, full, 0, 0, 0
        self.go = asyncio.Event()
        self.started = asyncio.Event()

    async def __call__(self) -> list[Image]:
        self.begun += 1
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        if self.at_once == self.full:
            self.started.set()
        await self.go.wait()
        self.at_once -= 1
        return [Image(b"x" * self.size, "image/jpeg")]


async def test_many_that_ask_at_once_share_one_decode() -> None:
    decoders, work = Decoders(), Work()
    asked = [asyncio.create_task(decoders.images("a", work)) for _ in range(50)]
    await work.started.wait()
    work.go.set()
    found = await asyncio.gather(*asked)
    assert work.begun == 1
    assert all(images is found[0] for images in found)
    assert await decoders.images("a", work) is found[0]
    assert work.begun == 1
    await decoders.close()


async def test_who_stops_waiting_stops_nobody_else() -> None:
    decoders, work = Decoders(), Work()
    first, second = (asyncio.create_task(decoders.images("a", work)) for _ in range(2))
    await work.started.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    work.go.set()
    assert len(await second) == 1
    assert work.begun == 1


async def test_no_more_than_twice_the_threads_are_open() -> None:
    decoders, work = Decoders(DecoderOptions(workers=2)), Work(full=4)
    asked = [asyncio.create_task(decoders.images(key, work)) for key in range(30)]
    await work.started.wait()
    work.go.set()
    await asyncio.gather(*asked)
    assert (work.begun, work.most) == (30, 4)


async def test_what_was_used_last_is_kept_up_to_the_bound() -> None:
    decoders, work = Decoders(DecoderOptions(cache_bytes=25)), Work()
    work.go.set()
    for key in "abacab":
        await decoders.images(key, work)
    # a and b are there; c puts out b, the one not used for longest; b then puts out c.
    assert work.begun == 4
    await decoders.images("a", work)
    assert work.begun == 4
    large = Work(size=26)
    large.go.set()
    for _ in range(2):
        await decoders.images("large", large)
    assert large.begun == 2


async def test_a_failure_is_shared_and_not_kept() -> None:
    decoders = Decoders()
    tries = 0

    async def fail() -> list[Image]:
        nonlocal tries
        tries += 1
        await asyncio.sleep(0)
        raise MediaMissing("gone")

    found = await asyncio.gather(
        *(decoders.images("a", fail) for _ in range(3)), return_exceptions=True
    )
    assert [str(error) for error in found] == ["gone"] * 3
    assert tries == 1
    with pytest.raises(MediaMissing):
        await decoders.images("a", fail)
    assert tries == 2


async def test_decoding_leaves_the_loop_alone() -> None:
    decoders = Decoders(DecoderOptions(workers=1))
    assert await decoders.run(threading.current_thread) is not threading.current_thread()


async def test_a_folder_is_shown_in_order(tmp_path: Path) -> None:
    for place, name in enumerate(("a.png", "b.png")):
        Picture.new("RGB", (40, 20), (90 * place, 0, 0)).save(tmp_path / name)
    media = MediaFolder(tmp_path, Decoders(), Preparation(longest=16))
    first, second, third = await media.images(["b.png", "a.png", "b.png"])
    assert first is third
    assert first != second
    for name, error in (("c.png", MediaMissing), ("../a.png", InvalidInput)):
        with pytest.raises(error):
            await media.images(["a.png", name])


async def test_a_preparation_of_its_own_is_a_decode_of_its_own(tmp_path: Path) -> None:
    Picture.new("RGB", (40, 20)).save(tmp_path / "a.png")
    decoders = Decoders()
    small, large = [
        await MediaFolder(tmp_path, decoders, Preparation(longest=side)).images(["a.png"])
        for side in (16, 32)
    ]
    assert small != large


async def test_bytes_are_fetched_once_and_only_when_needed(tmp_path: Path) -> None:
    Picture.new("RGB", (40, 20)).save(tmp_path / "a.png")
    fetched = 0

    async def fetch(_: int) -> bytes:
        nonlocal fetched
        fetched += 1
        return (tmp_path / "a.png").read_bytes()

    decoders, preparation = Decoders(), Preparation()
    loose = InlineMedia(decoders, preparation)
    found = [await loose.images("0" * 64, "x/a.png", fetch) for _ in range(3)]
    assert fetched == 1
    assert list(found[0]) == await MediaFolder(tmp_path, decoders, preparation).images(["a.png"])
    # The ending tells clips from pictures, so it is part of what was made of the bytes.
    with pytest.raises(InvalidInput, match=r"^a\.mp4: not a readable clip: [^/]*$"):
        await loose.images("0" * 64, "a.mp4", fetch)


async def test_no_more_bytes_are_fetched_than_may_be_decoded() -> None:
    wanted = []

    async def fetch(most: int) -> bytes:
        wanted.append(most)
        raise InvalidInput(f"larger than {most} bytes", file="media/0")

    limits = MediaLimits(picture_bytes=10, clip_bytes=20)
    loose = InlineMedia(Decoders(DecoderOptions(limits)), Preparation())
    for name in ("x/a.png", "x/a.MP4"):
        with pytest.raises(InvalidInput, match=f"^{name}: larger than"):
            await loose.images("0" * 64, name, fetch)
    assert wanted == [10, 20]
