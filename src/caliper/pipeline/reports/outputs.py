"""The files of a finished run, for machines, for reading and for browsing."""

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


def kept(rows: Rows) -> Rows:
    """The same rows: the first pass that reaches the end keeps them in memory for the others."""
    whole: list[list[VerdictRow]] = []

    async def shards() -> Shards:
        if whole:
            for shard in whole:
                yield shard
            return
        read = []
        async with aclosing(rows()) as found:
            async for shard in found:
                read.append(shard)
                yield shard
        whole.extend(read)

    return shards


async def write_outputs(
    sinks: Sequence[ReportSink], found: Report, rows: Rows, directory: Path
) -> list[Path]:
    """Write every file, each over its own pass through the rows, a shard in memory at a time.

    Raises StoreFull or StoreUnavailable; what an earlier sink wrote stays. A caller who is
    cancelled gets away once nobody writes into `directory` any more: a sink that waits for rows
    is given none, one that has read them all ends first.
    """
    # A thread of its own: rows may need one of the default executor, where sinks that wait for
    # them could take them all.
    with ThreadPoolExecutor(1, thread_name_prefix="writing") as thread:
        return [await _write(sink, (found, rows(), directory), thread) for sink in sinks]


async def _write(sink: ReportSink, given: tuple[Report, Shards, Path], thread: Executor) -> Path:
    found, rows, directory = given
    loop = asyncio.get_running_loop()
    async with aclosing(rows) as shards:
        handed = _Handed(shards, loop)
        writing = loop.run_in_executor(thread, sink.write, found, iter(handed), directory)
        try:
            return await asyncio.shield(writing)
        finally:
            handed.stop()
            while not writing.done():
                # However often the caller is cancelled: what the thread uses must stay.
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([writing])


class _Handed:
    """Rows as a plain iterator for another thread than the loop's, where they come from."""

    def __init__(self, shards: Shards, loop: asyncio.AbstractEventLoop) -> None:
        self._shards, self._loop = shards, loop
        self._reading: asyncio.Task[object] | None = None
        self._stopped = False

    def __iter__(self) -> Iterator[VerdictRow]:
        """Raises concurrent.futures.CancelledError once it was stopped."""
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
        """Give no more rows: who waits for some or asks for more is told so."""
        self._stopped = True
        if self._reading is not None:
            self._reading.cancel()
