import hashlib

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.full_storage import longest_file
from tests.fakes.stores import MemoryStore

from caliper.adapters.media.bounds import DecoderOptions, MediaLimits
from caliper.adapters.media.decoders import Decoders
from caliper.adapters.media.preparation import InlineMedia
from caliper.core.errors import DataLoss, InvalidInput, MediaMissing, StoreFull
from caliper.core.preparation import Preparation
from caliper.pipeline.store.media_index import MediaIndex
from caliper.pipeline.store.runs import write_json
from caliper.wiring.roles import StoredMedia

DATA = "d" * 64


class Strict(MemoryStore):
    """Gives no medium without asking how long it may be."""

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        assert max_bytes is not None or not key.startswith("media/")
        return await super().get(key, max_bytes)


async def stored(data: bytes, limits: MediaLimits) -> StoredMedia:
    """A medium that the dataset calls x/a.png, and one that is not there."""
    store, digest = Strict(), hashlib.sha256(data).hexdigest()
    await store.put(f"media/{digest}", data)
    known = {"x/a.png": digest, "x/lost.png": "0" * 64}
    await write_json(store, f"datasets/{DATA}/media.json", media=known)
    loose = InlineMedia(Decoders(DecoderOptions(limits)), Preparation())
    return StoredMedia(store, MediaIndex(store, FakeClock()), DATA, loose)


async def test_a_medium_that_is_too_long_is_not_fetched() -> None:
    media = await stored(b"x" * 11, MediaLimits(picture_bytes=10))
    with pytest.raises(InvalidInput, match=r"^x/a\.png: larger than 10 bytes$"):
        await media.images(["x/a.png"])


@pytest.mark.parametrize("path", ["x/lost.png", "x/unknown.png"])
async def test_a_medium_that_is_not_there(path: str) -> None:
    media = await stored(b"x", MediaLimits())
    with pytest.raises(MediaMissing, match=f"{path} was not pushed"):
        await media.images([path])


async def test_a_medium_that_was_damaged_in_the_store_is_not_shown() -> None:
    media = await stored(b"x", MediaLimits())
    key = f"media/{hashlib.sha256(b'x').hexdigest()}"
    await media.store.put(key, b"y")
    with pytest.raises(DataLoss, match=key):
        await media.images(["x/a.png"])


async def test_a_full_temporary_disk_is_waited_for() -> None:
    media = await stored(b"x", MediaLimits())
    with longest_file(0), pytest.raises(StoreFull, match="no room for temporary files"):
        await media.images(["x/a.png"])
