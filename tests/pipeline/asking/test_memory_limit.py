import asyncio

import pytest
from tests.fakes import runs
from tests.fakes.models import OpenPack, ScriptedModel
from tests.fakes.stores import MemoryStore

from caliper.core.messages import CaptionJob
from caliper.core.question import Decoding
from caliper.pipeline.asking.captioner import Captioner
from caliper.pipeline.asking.memory_limit import LimitedMedia, MemoryLimit
from caliper.ports.models import Completion, Image

TEN = Image(b"." * 10, "image/jpeg")


class PlaceHolders:
    """Tasks that take a place each, and keep it until they are let go."""

    def __init__(self, holding: MemoryLimit) -> None:
        self.holding = holding
        self.inside: list[int] = []
        self.most = 0
        self.tasks: list[asyncio.Task[None]] = []
        self.go: dict[int, asyncio.Event] = {}

    def start(self, *sizes: int) -> None:
        for size in sizes:
            number = len(self.tasks)
            self.go[number] = asyncio.Event()
            self.tasks.append(asyncio.create_task(self._one(number, size)))

    async def _one(self, number: int, size: int) -> None:
        async with self.holding.place() as holds:
            holds([TEN] * (size // 10))
            self.inside.append(number)
            await self.go[number].wait()
            self.inside.remove(number)

    async def settled(self) -> list[int]:
        """Who has a place, once nobody can move on by himself."""
        for _ in range(3 * len(self.tasks) + 3):
            await asyncio.sleep(0)
        return self.inside

    async def end(self) -> None:
        for event in self.go.values():
            event.set()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        assert self.inside == []


async def test_no_more_than_so_many_bytes_and_first_come_first_served() -> None:
    held = PlaceHolders(MemoryLimit(100, concurrency=1))
    held.start(40, 40, 40, 10)
    assert await held.settled() == [0, 1]
    held.go[0].set()
    assert await held.settled() == [1, 2]
    held.go[1].set()
    assert await held.settled() == [2, 3]
    await held.end()


async def test_what_is_larger_than_the_bound_is_held_alone() -> None:
    held = PlaceHolders(MemoryLimit(100, concurrency=4))
    held.start(500)
    assert await held.settled() == [0]
    held.start(500, 10)
    assert await held.settled() == [0]
    held.go[0].set()
    assert await held.settled() == [1]
    await held.end()


async def test_sizes_that_are_not_known_yet_are_bounded_in_number() -> None:
    holding, preparing = MemoryLimit(100, concurrency=2), asyncio.Event()
    inside = 0

    async def one() -> None:
        nonlocal inside
        async with holding.place():
            inside += 1
            await preparing.wait()

    tasks = [asyncio.create_task(one()) for _ in range(5)]
    for _ in range(20):
        await asyncio.sleep(0)
    assert inside == 2
    preparing.set()
    await asyncio.gather(*tasks)
    assert inside == 5


async def test_who_is_cancelled_or_fails_gives_his_place_back() -> None:
    held = PlaceHolders(MemoryLimit(100, concurrency=1))
    held.start(90, 90, 90)
    assert await held.settled() == [0]
    held.tasks[1].cancel()
    held.tasks[0].cancel()
    await asyncio.gather(*held.tasks[:2], return_exceptions=True)
    held.inside.remove(0)
    assert await held.settled() == [2]
    held.go[2].set()
    await held.tasks[2]
    with pytest.raises(ValueError, match="broken"):
        async with held.holding.place():
            raise ValueError("broken")
    held.start(100)
    assert await held.settled() == [3]
    await held.end()


class Pictures:
    """ports.media.Media that counts what it made."""

    made = 0

    async def images(self, paths: object) -> list[Image]:
        self.made += 1
        return [TEN] * 4


class GatedModel(ScriptedModel):
    """Answers when it is told to."""

    def __init__(self) -> None:
        super().__init__(lambda text, before: "A cat.")
        self.answers = asyncio.Event()

    async def complete(
        self, messages: object, decoding: Decoding, schema: object = None, affinity: str = ""
    ) -> Completion:
        await self.answers.wait()
        return Completion("A cat.")


async def test_behind_a_slow_endpoint_no_more_is_prepared_than_may_be_held() -> None:
    model, media = GatedModel(), Pictures()
    models = {"reader": runs.JUDGE, "captioner": model.identity}
    spec = runs.spec(runs.part(captions=None, models=models))
    found = {"captionqa": runs.sources(runs.choice_rows(12, 1), None)}
    items = (await runs.planned(spec, found, MemoryStore())).items
    held = LimitedMedia(media, MemoryLimit(100, concurrency=1))
    captioner = Captioner(spec, model, OpenPack(), held, MemoryStore())
    jobs = [CaptionJob(spec.run_id, "captionqa", item.sample, (item,)) for item in items]
    tasks = [asyncio.create_task(captioner.caption(job)) for job in jobs]
    for _ in range(100):
        await asyncio.sleep(0)
    # Two times 40 bytes; a third sample would be more than 100.
    assert media.made == 2
    model.answers.set()
    await asyncio.gather(*tasks)
    assert media.made == 12
