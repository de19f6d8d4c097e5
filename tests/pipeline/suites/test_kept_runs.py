"""Old runs are removed from an installation, but not those that its suites keep."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from tests.fakes import runs
from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore
from tests.fakes.suites import checkpoint, suite
from tests.fakes.telemetry import until

from caliper.core.checkpoints import EntryFigure
from caliper.core.entry_states import EntryCause
from caliper.core.keys import canonical_json
from caliper.core.suites import Suite, SuiteCause
from caliper.pipeline.gateway.retention import purge_daily
from caliper.pipeline.store.runs import END, SPEC, STARTED, run_store, write_json
from caliper.pipeline.suites.kept_runs import runs_of_suites
from caliper.pipeline.suites.registry import StoredEntry, SuiteRegistry

DAY = 86_400


class Installation:
    """A store with runs of a suite's checkpoints, all of them old."""

    def __init__(self) -> None:
        self.store, self.clock = MemoryStore(), FakeClock()
        self.registry = SuiteRegistry(self.store, self.clock)
        self.runs: dict[str, int] = {}

    async def evaluated(self, of: Suite, step: int, headline: float, **fields: Any) -> None:
        """A checkpoint that was judged in full."""
        entry, _ = await self.registry.register(of, checkpoint(step, **fields))
        run = await self.run(f"{of.name} {step}")
        self.runs[run] = step
        figures = (EntryFigure("capability", "average.recall", headline, is_headline=True),)
        key = StoredEntry(entry, None).key
        await self.registry.change_entry(key, EntryCause.CLAIM)
        done = {"run": run, "is_complete": True, "figures": figures}
        await self.registry.change_entry(key, EntryCause.NO_GATE, **done)

    async def run(self, name: str) -> str:
        spec = runs.spec(name=name)
        own, now = run_store(self.store, spec.run_id), self.clock.now().isoformat()
        await own.put(SPEC, canonical_json(spec.to_json()))
        await write_json(own, STARTED, started=now, starts=1)
        await write_json(own, END, state="complete", ended_at=now, start=1)
        return spec.run_id

    async def left(self) -> list[int]:
        """The steps whose runs a week's retention leaves a month later."""
        other = await self.run("of nobody")
        self.clock.seconds += 30 * DAY
        cleaning = asyncio.create_task(purge_daily(self.store, 7, self.clock, runs_of_suites))
        await until(lambda: self.clock.seconds > 31 * DAY)
        cleaning.cancel()
        assert f"runs/{other}/{SPEC}" not in self.store.objects
        return [
            step for run, step in self.runs.items() if f"runs/{run}/{SPEC}" in self.store.objects
        ]


async def five(of: Suite) -> Installation:
    """Checkpoints of five steps; the first is tagged, the third the best."""
    there = Installation()
    await there.registry.apply(of)
    for step, headline in enumerate((50.0, 51.0, 70.0, 60.0, 40.0), start=1):
        await there.evaluated(of, step, headline, tags=("release",) if step == 1 else ())
    return there


@pytest.mark.parametrize(
    ("of", "kept"),
    [
        (suite(), [1, 3, 5]),
        (suite(baseline="pinned:rev2"), [1, 2, 3, 5]),
        (replace(suite(), keep=2), [1, 3, 4, 5]),
    ],
)
async def test_baselines_and_the_last_runs_of_a_suite_stay(of: Suite, kept: Iterable[int]) -> None:
    assert await (await five(of)).left() == kept


async def test_the_one_before_an_open_checkpoint_stays() -> None:
    there = await five(suite())
    await there.registry.register(suite(), checkpoint(3, revision="late", name="late"))
    assert await there.left() == [1, 2, 3, 5]


async def test_a_retired_suite_keeps_no_runs_and_a_damaged_one_all() -> None:
    there = await five(suite())
    await there.registry.change("nightly", SuiteCause.RETIREMENT)
    assert await there.left() == []
    there = await five(suite())
    await there.store.put("suites/nightly/suite.json", b"{")
    assert await there.left() == [1, 2, 3, 4, 5]
