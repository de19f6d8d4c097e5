"""Reports that readers ask for: of one moment, and asked for by callers who may leave."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.fakes import runs
from tests.fakes.evaluations import House, stored_run, verdict, verdicts_of

from caliper.core.report import Report, VerdictRow
from caliper.pipeline.reading import RunReader
from caliper.pipeline.runs import RunBook
from caliper.pipeline.store_log import SEGMENT_BYTES


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


def reader_of(house: House, sink: Counting) -> RunReader:
    return RunReader(
        house.store, RunBook(house.store, house.clock), house.clock, lambda *_: (sink,)
    )


async def test_callers_who_leave_take_no_thread_along(house: House) -> None:
    # No two segments are unpacked at the same time: all rows need a thread once more.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    run = await stored_run(house.store, "ours", runs.part(captions=None))
    board = await house.aggregator()
    for index in range(2):
        await board.apply([verdicts_of(run, [verdict(index, 1, "x" * SEGMENT_BYTES)], index)])
        await board.snapshot()
    begun = asyncio.Event()
    reader = reader_of(house, Counting(begun.set))
    name = run.spec.run_id
    for _ in range(4):
        asking = asyncio.create_task(reader.report(name, "report.md", partial=True))
        await begun.wait()
        begun.clear()
        asking.cancel()
        await asyncio.wait([asking])
        assert asking.cancelled()
    assert (await reader.report(name, "report.md", partial=True))[0] == b"2"
