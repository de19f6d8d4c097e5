import asyncio
import threading
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import pytest
from tests.fakes import reports

from caliper.core.errors import InvalidInput, StoreFull
from caliper.core.report import Report, VerdictRow
from caliper.pipeline.reports.outputs import cache_rows, write_outputs

FOUND = Report("ours", "complete", ())
ROWS = list(reports.verdicts(5))


async def shards() -> AsyncGenerator[list[VerdictRow], None]:
    for shard in (ROWS[:2], [], ROWS[2:]):
        yield shard


class BoundedSink:
    """ports.storage.ReportSink that reads at most so many rows."""

    def __init__(self, name: str, most: int | None = None) -> None:
        self.name, self.most = name, most
        self.rows: list[VerdictRow] = []
        self.thread = 0

    def write(self, report: Report, verdicts: Iterator[VerdictRow], directory: Path) -> Path:
        self.rows = list(islice(verdicts, self.most))
        self.thread = threading.get_ident()
        return directory / self.name


class Full(BoundedSink):
    def write(self, report: Report, verdicts: Iterator[VerdictRow], directory: Path) -> Path:
        super().write(report, verdicts, directory)
        raise StoreFull("no space left")


async def test_every_sink_gets_all_rows_in_order(tmp_path: Path) -> None:
    first, second = BoundedSink("a"), BoundedSink("b")
    files = await write_outputs([first, second], FOUND, shards, tmp_path)
    assert files == [tmp_path / "a", tmp_path / "b"]
    assert first.rows == second.rows == ROWS


async def test_writing_does_not_hold_up_the_loop(tmp_path: Path) -> None:
    sink = BoundedSink("a")
    await write_outputs([sink], FOUND, shards, tmp_path)
    assert sink.thread != threading.get_ident()


async def test_a_sink_need_not_read_to_the_end(tmp_path: Path) -> None:
    some, none, rest = BoundedSink("a", 3), BoundedSink("b", 0), BoundedSink("c")
    await write_outputs([some, none, rest], FOUND, shards, tmp_path)
    assert (some.rows, none.rows, rest.rows) == (ROWS[:3], [], ROWS)


async def test_rows_that_are_kept_are_read_once_to_their_end(tmp_path: Path) -> None:
    begun = 0

    async def counted() -> AsyncGenerator[list[VerdictRow], None]:
        nonlocal begun
        begun += 1
        async for shard in shards():
            yield shard

    some, first, second, third = (
        BoundedSink("a", 3),
        BoundedSink("b"),
        BoundedSink("c"),
        BoundedSink("d", 1),
    )
    await write_outputs([some, first, second, third], FOUND, cache_rows(counted), tmp_path)
    assert (some.rows, first.rows, second.rows, third.rows) == (ROWS[:3], ROWS, ROWS, ROWS[:1])
    assert begun == 2


async def test_a_full_disk_is_told_and_what_was_written_stays(tmp_path: Path) -> None:
    first, last = BoundedSink("a"), BoundedSink("c")
    with pytest.raises(StoreFull):
        await write_outputs([first, Full("b"), last], FOUND, shards, tmp_path)
    assert (first.rows, last.rows) == (ROWS, [])


async def test_a_plan_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    async def broken() -> AsyncGenerator[list[VerdictRow], None]:
        yield ROWS[:2]
        raise InvalidInput("the plan lost a shard")

    with pytest.raises(InvalidInput, match="lost a shard"):
        await write_outputs([BoundedSink("a")], FOUND, broken, tmp_path)


async def test_rows_that_need_a_thread_get_one_beside_the_sinks(tmp_path: Path) -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))

    async def unpacked() -> AsyncGenerator[list[VerdictRow], None]:
        yield await asyncio.to_thread(lambda: ROWS)

    sinks = [BoundedSink(name) for name in "abc"]
    await asyncio.gather(*(write_outputs([sink], FOUND, unpacked, tmp_path) for sink in sinks))
    assert [sink.rows for sink in sinks] == [ROWS] * 3


class Folder:
    """Rows of which the second shard never comes, and what became of who waits for it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.asked, self.closed = asyncio.Event(), False
        self.left: list[str] = []

    async def rows(self) -> AsyncGenerator[list[VerdictRow], None]:
        try:
            yield ROWS[:2]
            self.asked.set()
            await asyncio.Event().wait()
        finally:
            self.closed = True


class FolderSink(BoundedSink):
    """Says what is left of the folder when it ends."""

    def __init__(self, folder: Folder) -> None:
        super().__init__("a")
        self.folder = folder

    def write(self, report: Report, verdicts: Iterator[VerdictRow], directory: Path) -> Path:
        try:
            return super().write(report, verdicts, directory)
        finally:
            self.folder.left.append("there" if self.folder.place.exists() else "gone")


@pytest.mark.parametrize("times", [1, 2])
async def test_who_is_cancelled_leaves_no_thread_behind(tmp_path: Path, times: int) -> None:
    before = threading.active_count()
    folder = Folder(tmp_path / "report")

    async def write() -> None:
        folder.place.mkdir()
        try:
            await write_outputs([FolderSink(folder)], FOUND, folder.rows, folder.place)
        finally:
            folder.place.rmdir()

    writing = asyncio.create_task(write())
    await folder.asked.wait()
    for _ in range(times):
        writing.cancel()
        await asyncio.sleep(0)
    await asyncio.wait([writing])
    assert writing.cancelled()
    assert (folder.left, folder.closed, threading.active_count()) == (["there"], True, before)


async def test_a_sink_that_reads_on_after_its_caller_left_is_given_nothing(tmp_path: Path) -> None:
    begun, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    class Slow(BoundedSink):
        def write(self, report: Report, verdicts: Iterator[VerdictRow], directory: Path) -> Path:
            self.rows = [next(verdicts)]
            loop.call_soon_threadsafe(begun.set)
            go_on.wait()
            return super().write(report, verdicts, directory)

    sink = Slow("a")
    writing = asyncio.create_task(write_outputs([sink], FOUND, shards, tmp_path))
    await begun.wait()
    writing.cancel()
    await asyncio.sleep(0)
    assert not writing.done()
    go_on.set()
    await asyncio.wait([writing])
    assert (writing.cancelled(), sink.rows) == (True, ROWS[:1])
