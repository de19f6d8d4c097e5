"""Figures are reduced one run at a time, once for all, and reports are of one moment."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

from tests.fakes.clock import FakeClock
from tests.fakes.evaluations import (
    CODEC,
    SIZE,
    House,
    event_of,
    messages_of,
    stored_run,
    verdict,
)
from tests.fakes.stores import Gate, MemoryStore

from caliper.adapters.exports.json import JsonExport
from caliper.core.messages import EventKind
from caliper.core.report import Report, VerdictRow
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.aggregation.outlets import Outlets
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.ledger.runs import Runs
from caliper.pipeline.live.tallies import LiveTallies
from caliper.pipeline.reports.report_files import ReportFiles
from caliper.pipeline.store.plan import Captions


class SlowExport(JsonExport):
    """Takes its time to write report.json."""

    def __init__(self, clock: FakeClock, seconds: float) -> None:
        self._clock, self._seconds = clock, seconds

    def write(self, report: Report, verdicts: Iterator[VerdictRow], directory: Path) -> Path:
        self._clock.seconds += self._seconds
        return super().write(report, verdicts, directory)


class GatedAggregator:
    """An aggregator whose captions can be read once the gate is open."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.house, self.reached, self.gate = House(), asyncio.Event(), asyncio.Event()
        self.captions = {"nat_001": "a b", "nat_002": "a b"}
        house = self.house
        self.files = ReportFiles(self._captions, lambda _, __: [SlowExport(house.clock, seconds)])
        outlets = Outlets(house.announce, lambda *_: None)
        self.board = Aggregator(house.store, CODEC, house.clock, self.files, outlets)

    async def _captions(self, _: RunLedger) -> Captions:
        found = {"captionqa": dict(self.captions)}
        self.reached.set()
        await self.gate.wait()
        return found


async def test_no_outcome_is_told_beside_captions_that_are_older() -> None:
    writing = GatedAggregator()
    house, board = writing.house, writing.board
    run = await stored_run(house.store)
    await board.apply([event_of(run, EventKind.PLAN, 1)])
    first = [verdict(index, None if index < 2 else 1) for index in range(SIZE)]
    await board.apply(messages_of(run, first))
    concluding = asyncio.create_task(board.conclude())
    await writing.reached.wait()
    # The captioner was away; now the caption is there, and judged.
    writing.captions["nat_000"] = "one two three four five six seven eight"
    await board.apply(messages_of(run, [verdict(index, 1) for index in range(2)], 5))
    writing.gate.set()
    await concluding
    assert house.file(run) is None
    await board.conclude()
    told = json.loads(house.file(run) or b"")["benchmarks"]["captionqa"]
    assert (told["caption_length"], told["overall"]["n_scored"]) == (4, SIZE)


async def test_a_report_waits_for_its_turn_and_waiting_costs_nothing() -> None:
    writing = GatedAggregator()
    writing.gate.set()
    house, board = writing.house, writing.board
    run = await stored_run(house.store)
    first = [verdict(index, 1 if index else None) for index in range(SIZE)]
    await board.apply([event_of(run, EventKind.PLAN, 1), *messages_of(run, first)])
    async with board.live.turn:
        concluding = asyncio.create_task(board.conclude())
        await writing.reached.wait()
        house.clock.seconds += 60
        assert house.file(run) is None
    await concluding
    before = house.file(run)
    assert before is not None
    # So what changes is told at once, and not after a multiple of the minute.
    await board.apply(messages_of(run, [verdict(0, 1)], 5))
    await board.conclude()
    assert house.file(run) != before


async def test_a_dear_report_is_not_written_again_at_once() -> None:
    writing = GatedAggregator(seconds=60)
    writing.gate.set()
    house, board = writing.house, writing.board
    run = await stored_run(house.store)
    first = [verdict(index, 1 if index else None) for index in range(SIZE)]
    await board.apply([event_of(run, EventKind.PLAN, 1), *messages_of(run, first)])
    await board.conclude()
    before = house.file(run)
    await board.apply(messages_of(run, [verdict(0, 1)], 5))
    await board.conclude()
    assert house.file(run) == before
    house.clock.seconds += 600
    await board.conclude()
    assert house.file(run) != before


async def test_figures_that_the_ledger_outran_are_reduced_again() -> None:
    store = MemoryStore()
    stored = await stored_run(store)
    run = await Runs(store).open(stored.spec.run_id, 0.0)
    assert run is not None
    live = LiveTallies()
    store.after = gate = Gate("get", "/plan/0")
    reducing = asyncio.create_task(live.figures(run))
    await gate.reached.wait()
    run.ledger.merge([verdict(index, 1) for index in range(SIZE)])
    gate.opened.set()
    changes, _ = await reducing
    assert changes < run.ledger.changes
    changes, found = await live.figures(run)
    assert (changes, found.benchmarks[0].coverage.scored) == (run.ledger.changes, SIZE)
    assert found.benchmarks[0].estimates["overall", "accuracy"].value == 100
