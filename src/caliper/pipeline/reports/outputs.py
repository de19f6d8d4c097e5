"""Writes the output files of a run: each sink makes its own pass through the verdict rows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import aclosing, suppress
from pathlib import Path

from caliper.core.report import Report, VerdictRow
from caliper.ports.storage import ReportSink

Shards = AsyncGenerator[list[VerdictRow], None]
Rows = Callable[[], Shards]


def cache_rows(rows: Rows) -> Rows:
    """The same rows, cached in memory by the first pass that reaches the end."""
    cached: list[list[VerdictRow]] = []

    async def shards() -> Shards:
        if cached:
            for shard in cached:
                yield shard
            return
        read = []
        async with aclosing(rows()) as source:
            async for shard in source:
                read.append(shard)
                yield shard
        cached.extend(read)

    return shards


async def write_outputs(
    sinks: Sequence[ReportSink], report: Report, rows: Rows, directory: Path
) -> list[Path]:
    """Write every file, each in its own pass through the rows, one shard in memory at a time.

    Raises StoreFull or StoreUnavailable; files of earlier sinks stay. On cancellation it returns
    only when nothing writes into `directory` any more: a sink that waits for rows gets no more,
    and a sink that has read all rows finishes first.
    """
    # A thread of its own: reading rows may need threads of the default executor, and sinks that
    # wait for rows could occupy all of them.
    with ThreadPoolExecutor(1, thread_name_prefix="writing") as thread:
        return [await _write(sink, (report, rows(), directory), thread) for sink in sinks]


async def _write(sink: ReportSink, job: tuple[Report, Shards, Path], thread: Executor) -> Path:
    report, rows, directory = job
    loop = asyncio.get_running_loop()
    async with aclosing(rows) as shards:
        iterator = _RowIterator(shards, loop)
        writing = loop.run_in_executor(thread, sink.write, report, iter(iterator), directory)
        try:
            return await asyncio.shield(writing)
        finally:
            iterator.stop()
            while not writing.done():
                # Even if cancelled repeatedly: the thread still uses the rows and the folder.
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([writing])


class _RowIterator:
    """Async shards as a plain iterator of rows, for a thread other than the event loop's."""

    def __init__(self, shards: Shards, loop: asyncio.AbstractEventLoop) -> None:
        self._shards, self._loop = shards, loop
        self._reading: asyncio.Task[object] | None = None
        self._stopped = False

    def __iter__(self) -> Iterator[VerdictRow]:
        """Iterate over the rows. Raises concurrent.futures.CancelledError once stopped."""
        while (shard := self._wait()) is not None:
            yield from shard

    def _wait(self) -> list[VerdictRow] | None:
        return asyncio.run_coroutine_threadsafe(self._next(), self._loop).result()

    async def _next(self) -> list[VerdictRow] | None:
        if self._stopped:
            raise asyncio.CancelledError
        self._reading = asyncio.current_task()
        try:
            return await anext(self._shards, None)
        finally:
            self._reading = None

    def stop(self) -> None:
        """Give no more rows: a pending or later read raises CancelledError."""
        self._stopped = True
        if self._reading is not None:
            self._reading.cancel()
