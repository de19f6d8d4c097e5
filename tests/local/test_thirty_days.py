"""Thirty days with eight checkpoints a day and faults: all is told once, and little is kept."""

import asyncio
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from sys import getsizeof
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from tests.fakes.checkpoint_server import FakeServer, Killed, World
from tests.fakes.clock import FakeClock, IdleClock, ImmediateExecutor
from tests.fakes.outboxes import ALL
from tests.fakes.stores import MemoryStore
from tests.fakes.suites import FakeEvaluator, checkpoint, suite

from caliper.adapters.metrics.prometheus import Metrics, PrometheusTelemetry
from caliper.core.checkpoints import CheckpointEntry, CheckpointRevision
from caliper.core.entry_states import EntryState
from caliper.core.errors import BackendUnavailable, StoreUnavailable
from caliper.core.notices import Notice
from caliper.core.suites import Suite
from caliper.local import suite_runs
from caliper.local.suite_runs import LocalEvaluator
from caliper.local.watchers import SilentWatcher
from caliper.pipeline.suites import history, outbox
from caliper.pipeline.suites.baselines import BaselineChoice
from caliper.pipeline.suites.claims import EntryClaim
from caliper.pipeline.suites.evaluation import EntryResult
from caliper.pipeline.suites.latest import LatestScores
from caliper.pipeline.suites.loop import SuiteEvent, SuiteLoop
from caliper.pipeline.suites.outbox import Outbox
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.pipeline.suites.slots import ServingSlot
from caliper.pipeline.suites.source_leases import SourceLeases
from caliper.ports.serving import CheckpointEndpoint

HOUR, DAY = 3_600, 86_400
DAYS, KEEP, NOTICES, EVERY = 30, 20, 300, 3 * HOUR
COUNT = DAYS * DAY // EVERY
HANGS, BROKEN = 43, 83
NIGHTLY = replace(suite(), keep=KEEP, values={"serve": {}, "timeout": HOUR / 2})


class Month(IdleClock):
    """A clock that is set ahead for two days, and back for two others."""

    def now(self) -> datetime:
        day = self.seconds / DAY
        wrong = HOUR * (8 <= day < 10) - HOUR * (15 <= day < 17)
        return super().now() + timedelta(seconds=wrong)


class ProcessStore(MemoryStore):
    """The store as a process sees it: away for some hours, and for good once it is killed."""

    def __init__(self, store: MemoryStore, clock: Month) -> None:
        super().__init__(store)
        self._clock, self.is_killed = clock, False

    async def before(self, *_: str) -> None:
        if self.is_killed:
            raise Killed
        if any(0 <= self._clock.seconds - day * DAY < 2 * HOUR for day in (3, 12.7, 21.2)):
            raise StoreUnavailable("the store is away")


class Team:
    """Who is told, and is away for two days."""

    kinds = ALL

    def __init__(self, clock: Month) -> None:
        self._clock = clock
        self.taken: list[Notice] = []

    async def deliver(self, notice: Notice) -> None:
        if 10 <= self._clock.seconds / DAY < 12:
            raise BackendUnavailable("refused")
        self.taken.append(notice)


class Sources:
    """ports.sources.CheckpointSources, of which nothing is lost."""

    def __init__(self) -> None:
        self.markers: set[tuple[str, str]] = set()

    async def signature(self, _: CheckpointRevision) -> str | None:
        return "there"

    async def loss(self, _: CheckpointRevision) -> str:
        return ""

    async def mark(self, source: str, suite: str, _: str) -> None:
        self.markers.add((source, suite))

    async def unmark(self, source: str, suite: str) -> None:
        self.markers.discard((source, suite))


class Evaluator(FakeEvaluator):
    """Serves each checkpoint in a slot, and leaves a run directory. Some processes are killed in
    the middle of an evaluation, and one checkpoint hangs.
    """

    def __init__(self, world: World, store: ProcessStore, clock: Month, kills: set[int]) -> None:
        super().__init__()
        self._world, self._store, self._clock, self._kills = world, store, clock, kills
        self._local = LocalEvaluator(SilentWatcher(), clock, self._lost)

    async def evaluate(
        self, suite: Suite, claim: EntryClaim, baseline: BaselineChoice
    ) -> EntryResult:
        server = FakeServer(self._world)
        store: Any = self._store
        slot = ServingSlot(store, self._clock, "gpu", server.clear, lambda _: None)
        one = claim.entry.checkpoint
        step = one.step or 0

        async def work(_: CheckpointEndpoint) -> EntryResult:
            result = await super(Evaluator, self).evaluate(suite, claim, baseline)
            _leave_run(f"{one.name}-run")
            if step in self._kills:
                self._kills.remove(step)
                self._store.is_killed = True
                raise Killed
            if step == HANGS:
                await asyncio.Event().wait()
            return result

        if step == BROKEN:
            raise BackendUnavailable("refused")
        return await slot.use(server, one, one.label, DAY, work)

    async def _lost(self, _: CheckpointRevision) -> str:
        return ""

    async def after(self, suite: Suite, entries: Sequence[CheckpointEntry]) -> None:
        await self._local.after(suite, entries)


def _leave_run(name: str) -> None:
    run = Path("runs", name, "run.yaml")
    run.parent.mkdir(parents=True, exist_ok=True)
    run.touch()


class Trainer:
    """A training run on one machine: its store, and the processes that evaluate."""

    def __init__(self) -> None:
        self.clock, self.store, self.world = Month(), MemoryStore(), World()
        self.team, self.sources = Team(self.clock), Sources()
        self.kills, self.due = {13, 14, 100, 185}, 0
        self.metrics = CollectorRegistry()
        self.telemetry = PrometheusTelemetry(Metrics(self.metrics))
        self.sizes: list[int] = []
        self.series: list[int] = []
        self.events: Counter[str] = Counter()

    async def arrivals(self) -> Sequence[CheckpointRevision]:
        first, self.due = self.due, min(int(self.clock.seconds / EVERY), COUNT)
        return [checkpoint(step) for step in range(first, self.due)]

    async def until(self, day: int) -> None:
        """Processes that end with a kill, or are restarted when the day has come."""
        while self.clock.seconds < day * DAY:
            store: Any = ProcessStore(self.store, self.clock)
            evaluator = Evaluator(self.world, store, self.clock, self.kills)
            latest = LatestScores(self.telemetry)

            def on_event(event: SuiteEvent, latest: LatestScores = latest) -> None:
                self.events[event.event] += 1
                latest.on_event(event)

            leases = SourceLeases(store, self.clock, self.sources, lambda _: None)
            loop = SuiteLoop(store, self.clock, evaluator, on_event, self.arrivals, leases)
            teller = Outbox(store, self.clock, lambda _: {"team": self.team})
            with suppress(Killed):
                await teller.run_beside(["nightly"], self._worked(loop, day))
            # The others forget what a killed process had seen arrive.
            self.due = 0
            self.sizes.append(_size(loop) + _size(teller))
            self.series.append(sum(len(list(each.samples)) for each in self.metrics.collect()))

    async def _worked(self, loop: SuiteLoop, day: int) -> None:
        work = asyncio.create_task(loop.run(["nightly"], once=False, pace=HOUR))
        end = asyncio.create_task(self.clock.sleep(day * DAY - self.clock.seconds))
        try:
            await asyncio.wait((work, end), return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                await work
        finally:
            for each in (work, end):
                each.cancel()
            await asyncio.gather(work, end, return_exceptions=True)

    def count(self, part: str) -> int:
        return sum(part in key for key in self.store.objects)


def _size(root: object) -> int:
    """The bytes that an object holds, without those of the world around it."""
    strangers = (MemoryStore, FakeClock, FakeEvaluator, Trainer, Team, Sources)
    seen: dict[int, object] = {}
    todo = [root]
    while todo:
        each = todo.pop()
        if id(each) in seen or isinstance(each, (*strangers, type)) or callable(each):
            continue
        seen[id(each)] = each
        todo.extend(_held(each))
    return sum(map(getsizeof, seen.values()))


def _held(each: object) -> Iterator[object]:
    if isinstance(each, dict):
        yield from each.keys()
        yield from each.values()
    elif isinstance(each, (list, tuple, set, frozenset)):
        yield from each
    elif is_dataclass(each):
        yield from (getattr(each, field.name) for field in fields(each))
    elif type(each).__module__.startswith("caliper"):
        yield from vars(each).values()


@pytest.mark.rest
async def test_a_month_leaves_little_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asyncio.get_running_loop().set_default_executor(ImmediateExecutor())
    monkeypatch.setattr(history, "PAGE", 25)
    monkeypatch.setattr(outbox, "_PACE", HOUR / 4)
    monkeypatch.setattr(outbox, "KEPT", NOTICES)
    trainer = Trainer()
    monkeypatch.setattr(suite_runs, "suite_store", lambda: trainer.store)
    registry = SuiteRegistry(trainer.store, trainer.clock)
    await registry.apply(NIGHTLY)
    sizes = []
    time = asyncio.create_task(trainer.clock.run())
    for day in (6, 12, 18, 24, DAYS + 1):
        await trainer.until(day)
        sizes.append(trainer.sizes[-1])
    time.cancel()
    stored, unreadable = await registry.entries("nightly")
    states = Counter(str(each.entry.state) for each in stored)
    assert unreadable == []
    assert states == {"evaluated": 1, "passed": COUNT - 3, "failed": 2}
    reasons = {
        each.entry.checkpoint.step: each.entry.reason
        for each in stored
        if each.entry.state is EntryState.FAILED
    }
    assert reasons == {HANGS: "not evaluated within 1,800 seconds", BROKEN: "refused"}
    assert trainer.kills == set()
    # Each transition is told, with one id, whatever was down and whichever clock was wrong.
    told = {Notice.of(each.entry, mark).id for each in stored for mark in each.entry.notices}
    ids = [each.id for each in trainer.team.taken]
    assert len(told) > 4 * (COUNT - 2)
    assert set(ids) == told
    assert len(ids) <= len(told) + len(trainer.sizes)
    # What grows, by one small entry a checkpoint; all else has an end.
    assert trainer.count("/entries/") == COUNT
    assert trainer.count("/notices/") <= NOTICES + 100
    assert [trainer.count(part) for part in ("/leases/", "/markers/", "/queue/")] == [0, 0, 0]
    # One account a month.
    assert trainer.count("/spending/") == 1
    assert len(trainer.store.objects) == COUNT + trainer.count("/notices/") + 5
    assert trainer.sources.markers == trainer.world.served == set()
    assert trainer.world.most == 1
    assert KEEP <= len(await asyncio.to_thread(os.listdir, "runs")) <= KEEP + 2
    largest = max(len(data) for key, data in trainer.store.objects.items() if "/entries/" in key)
    assert largest < 4_096
    # The processes of a later week hold little more, of each checkpoint.
    assert sizes[-1] - sizes[-2] < 8_000 * COUNT * 6 / DAYS, sizes
    assert len(set(trainer.series[1:])) == 1
    assert trainer.events["store away"] > 0
