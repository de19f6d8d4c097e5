"""A registry with a suite, and loops on it."""

import asyncio
from collections.abc import Sequence
from typing import Any

from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore
from tests.fakes.suites import FakeEvaluator, suite

from caliper.core.checkpoints import CheckpointEntry, CheckpointRevision, SourceLoss
from caliper.core.entry_states import EntryState
from caliper.core.suites import Suite
from caliper.pipeline.suites.loop import SuiteEvent, SuiteLoop
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.pipeline.suites.source_leases import SourceLeases


class Surroundings:
    """A registry with a suite, and loops on it."""

    def __init__(self) -> None:
        self.store, self.clock = MemoryStore(), FakeClock()
        self.registry = SuiteRegistry(self.store, self.clock)
        self.evaluator = FakeEvaluator()
        self.events: list[tuple[str, str]] = []
        self.arriving: list[CheckpointRevision | SourceLoss] = []
        self.sources: SourceLeases | None = None

    async def applied(self, **fields: Any) -> Suite:
        await self.registry.apply(suite(**fields))
        return suite(**fields)

    def loop(self) -> SuiteLoop:
        async def arrivals() -> Sequence[CheckpointRevision | SourceLoss]:
            arrived, self.arriving = self.arriving, []
            return arrived

        return SuiteLoop(
            self.store, self.clock, self.evaluator, self.on_event, arrivals, self.sources
        )

    def on_event(self, event: SuiteEvent) -> None:
        name = event.entry.checkpoint.name if event.entry else event.detail
        self.events.append((name, event.event))

    async def once(self, *names: str) -> None:
        await self.loop().run(names or ("nightly",), once=True)

    async def until_evaluated(self, count: int) -> None:
        """Run a loop without an end until so many were evaluated."""
        self.evaluator.wanted = count
        loop = asyncio.create_task(self.loop().run(("nightly",), once=False))
        await self.evaluator.done.wait()
        loop.cancel()
        await asyncio.gather(loop, return_exceptions=True)

    async def entries(self, name: str = "nightly") -> list[CheckpointEntry]:
        return [each.entry for each in (await self.registry.entries(name))[0]]

    async def states(self) -> dict[str, EntryState]:
        return {each.checkpoint.name: each.state for each in await self.entries()}

    def leases(self) -> list[bytes]:
        return [data for key, data in self.store.objects.items() if "/leases/" in key]
