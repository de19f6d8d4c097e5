import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.fakes import runs
from tests.fakes.clock import PATIENCE
from tests.fakes.evaluations import (
    House,
    cancel,
    event_of,
    messages_of,
    stored_run,
    verdict,
)
from tests.fakes.stores import Gate, MemoryStore

from caliper.core.errors import NotReady
from caliper.core.keys import canonical_json
from caliper.core.messages import EventKind
from caliper.core.outcome import Verdict
from caliper.core.question import Item
from caliper.core.report import Report, VerdictRow
from caliper.core.run import BenchmarkSpec
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.ledger.verdict_log import SEGMENT_BYTES
from caliper.pipeline.reports.run_reader import RunReader
from caliper.pipeline.reports.verdict_query import VerdictQuery
from caliper.pipeline.store.run_book import RunBook
from caliper.pipeline.store.runs import refuse, run_store
from caliper.pipeline.store.supplies import put_captions
from caliper.ports.storage import ObjectStore, ReportSink


@dataclass
class Counting:
    """ports.storage.ReportSink that writes how many rows there are; `begun` hears of each."""

    begun: Callable[[], object]
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    def write(self, _: Report, verdicts: Iterator[VerdictRow], directory: Path) -> Path:
        self.loop.call_soon_threadsafe(self.begun)
        file = directory / "report.md"
        file.write_text(str(sum(1 for _ in verdicts)))
        return file


@pytest.fixture
def house() -> House:
    return House()


async def uncaptioned(store: ObjectStore) -> BenchmarkSpec:
    return runs.part(captions=await put_captions(store, {"another": ""}))


def reader_of(house: House, sink: ReportSink) -> RunReader:
    return RunReader(
        house.store, RunBook(house.store, house.clock), house.clock, lambda *_: (sink,)
    )


async def test_callers_who_leave_take_no_thread_along(house: House) -> None:
    # No two segments are unpacked at the same time: all rows need a thread once more.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    run = await stored_run(house.store, "ours", await uncaptioned(house.store))
    board = await house.aggregator()
    for index in range(2):
        await board.apply(messages_of(run, [verdict(index, 1, "x" * SEGMENT_BYTES)], index))
        await board.snapshot()
    begun = asyncio.Event()
    reader = reader_of(house, Counting(begun.set))
    name = run.spec.run_id
    async with asyncio.timeout(PATIENCE):
        for _ in range(4):
            asking = asyncio.create_task(reader.report(name, "report.md", partial=True))
            await begun.wait()
            begun.clear()
            asking.cancel()
            await asyncio.wait([asking])
            assert asking.cancelled()
        assert (await reader.report(name, "report.md", partial=True))[0] == b"2"


class Waiting:
    """ports.storage.ReportSink that reads its rows when it may, and writes how many verdicts
    the report knows and how many rows there are.
    """

    def __init__(self) -> None:
        self.go_on = threading.Event()

    def write(self, found: Report, verdicts: Iterator[VerdictRow], directory: Path) -> Path:
        self.go_on.wait()
        file = directory / "report.md"
        (part,) = found.benchmarks
        file.write_text(f"{part.coverage.scored} {sum(1 for _ in verdicts)}")
        return file


async def test_a_report_is_of_one_moment_whoever_else_looks() -> None:
    store = MemoryStore()
    house = House(store)
    run = await stored_run(store, "ours", await uncaptioned(store))
    board = await house.aggregator()
    await board.apply(messages_of(run, [verdict(0, 1)]))
    await cancel(house, run, board)
    house.clock.seconds += 5
    await board.conclude()
    sink, name = Waiting(), run.spec.run_id
    reader = reader_of(house, sink)
    store.before = missing = Gate("get", "report/report.md")
    asking = asyncio.create_task(reader.report(name, "report.md", partial=True))
    await missing.reached.wait()
    # More comes in, and somebody else has it entered into the run that the report is about.
    await board.apply(messages_of(run, [verdict(index, 1) for index in range(1, 4)], 1))
    await board.snapshot()
    house.clock.seconds += 10
    store.before = later = Gate("get", "verdicts/00000001.jsonl.gz")
    looking = asyncio.create_task(reader.verdicts(name, VerdictQuery()))
    await later.reached.wait()
    missing.opened.set()
    # As far as it gets by itself, which should not be into the report.
    for _ in range(50):
        await asyncio.sleep(0)
    later.opened.set()
    seen, _ = await looking
    sink.go_on.set()
    assert len(seen) == 4
    assert (await asking)[0] in (b"1 1", b"4 4")


async def test_a_report_of_a_failed_run_says_why_there_is_none(house: House) -> None:
    spec = runs.spec()
    kept = run_store(house.store, spec.run_id)
    await kept.put("spec.json", canonical_json(spec.to_json()))
    reader = reader_of(house, Waiting())
    with pytest.raises(NotReady, match=r"^the run is not planned yet$"):
        await reader.report(spec.run_id, "", partial=True)
    await refuse(kept, "questions.json:4: id: missing")
    for partial in (False, True):
        with pytest.raises(NotReady, match=r"^the run failed: questions\.json:4: id: missing$"):
            await reader.report(spec.run_id, "", partial=partial)


async def test_a_run_that_failed_half_way_has_a_partial_report_only(house: House) -> None:
    run = await stored_run(house.store, "ours", await uncaptioned(house.store))
    board = await house.aggregator()
    await board.apply([event_of(run, EventKind.FAIL, 1, "another model")])
    house.clock.seconds += 5
    await board.conclude()
    sink = Waiting()
    sink.go_on.set()
    reader = reader_of(house, sink)
    with pytest.raises(
        NotReady, match=r"^the run failed: another model; ask for a partial report$"
    ):
        await reader.report(run.spec.run_id, "report.md", partial=False)
    assert await reader.report(run.spec.run_id, "report.md", partial=True)


async def test_a_page_reads_little_more_evidence_than_it_shows(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    captions = await put_captions(house.store, {"another": ""})
    run = await stored_run(house.store, "ours", runs.part(captions=captions, repeats=400))
    size = run.summary.questions
    board = await house.aggregator()
    await board.apply(messages_of(run, [verdict(index, index % 2) for index in range(size)]))
    await board.snapshot()
    read: list[int] = []
    evidence = Ledger.evidence

    async def counted(ledger: Ledger, items: Iterable[Item]) -> dict[int, Verdict]:
        found = await evidence(ledger, items)
        read.append(len(found))
        return found

    monkeypatch.setattr(Ledger, "evidence", counted)
    reader, seen, token = reader_of(house, Counting(int)), list[int](), None
    while token != "":
        query = VerdictQuery(size=100, token=token or "")
        rows, token = await reader.verdicts(run.spec.run_id, query)
        seen += [row.index for row in rows]
        if len(seen) == 100:
            assert sum(read) < size
    assert seen == list(range(size))
