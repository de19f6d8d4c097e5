"""Every file of a finished run gets all rows, in order."""

import threading
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from pathlib import Path

import pytest
from tests.fakes import reports

from caliper.core.errors import InvalidInput, StoreFull
from caliper.core.report import Report, VerdictRow
from caliper.pipeline.outputs import write_outputs

FOUND = Report("ours", "complete", ())
ROWS = list(reports.verdicts(5))


async def shards() -> AsyncIterator[list[VerdictRow]]:
    for shard in (ROWS[:2], [], ROWS[2:]):
        yield shard


class Noting:
    """ports.storage.ReportSink that reads at most so many rows."""

    def __init__(self, name: str, most: int | None = None) -> None:
        self.name, self.most = name, most
        self.rows: list[VerdictRow] = []
        self.thread = 0

    def write(self, report: Report, verdicts: Iterator[VerdictRow], directory: Path) -> Path:
        self.rows = list(islice(verdicts, self.most))
        self.thread = threading.get_ident()
        return directory / self.name


class Full(Noting):
    def write(self, report: Report, verdicts: Iterator[VerdictRow], directory: Path) -> Path:
        super().write(report, verdicts, directory)
        raise StoreFull("no space left")


async def test_every_sink_gets_all_rows_in_order(tmp_path: Path) -> None:
    first, second = Noting("a"), Noting("b")
    files = await write_outputs([first, second], FOUND, shards, tmp_path)
    assert files == [tmp_path / "a", tmp_path / "b"]
    assert first.rows == second.rows == ROWS


async def test_writing_does_not_hold_up_the_loop(tmp_path: Path) -> None:
    sink = Noting("a")
    await write_outputs([sink], FOUND, shards, tmp_path)
    assert sink.thread != threading.get_ident()


async def test_a_sink_need_not_read_to_the_end(tmp_path: Path) -> None:
    some, none, rest = Noting("a", 3), Noting("b", 0), Noting("c")
    await write_outputs([some, none, rest], FOUND, shards, tmp_path)
    assert (some.rows, none.rows, rest.rows) == (ROWS[:3], [], ROWS)


async def test_a_full_disk_is_told_and_what_was_written_stays(tmp_path: Path) -> None:
    first, last = Noting("a"), Noting("c")
    with pytest.raises(StoreFull):
        await write_outputs([first, Full("b"), last], FOUND, shards, tmp_path)
    assert (first.rows, last.rows) == (ROWS, [])


async def test_a_plan_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[list[VerdictRow]]:
        yield ROWS[:2]
        raise InvalidInput("the plan lost a shard")

    with pytest.raises(InvalidInput, match="lost a shard"):
        await write_outputs([Noting("a")], FOUND, broken, tmp_path)
