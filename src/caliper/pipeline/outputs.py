"""The files of a finished run, for machines, for reading and for browsing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path

from caliper.core.report import Report, VerdictRow
from caliper.ports.storage import ReportSink

Rows = Callable[[], AsyncIterator[list[VerdictRow]]]


async def write_outputs(
    sinks: Sequence[ReportSink], found: Report, rows: Rows, directory: Path
) -> list[Path]:
    """Write every file, each over its own pass through the rows, a shard in memory at a time.

    Raises StoreFull or StoreUnavailable; what an earlier sink wrote stays.
    """
    loop = asyncio.get_running_loop()
    return [
        await asyncio.to_thread(sink.write, found, _in_thread(rows(), loop), directory)
        for sink in sinks
    ]


def _in_thread(
    shards: AsyncIterator[list[VerdictRow]], loop: asyncio.AbstractEventLoop
) -> Iterator[VerdictRow]:
    """The rows as a plain iterator for another thread than the loop's."""

    async def following() -> list[VerdictRow] | None:
        return await anext(shards, None)

    while (shard := asyncio.run_coroutine_threadsafe(following(), loop).result()) is not None:
        yield from shard
