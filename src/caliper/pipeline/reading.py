"""Reading runs: their report files, and their verdicts a page at a time."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput, NotReady, UnknownName
from caliper.core.question import Item
from caliper.core.report import Report, VerdictRow
from caliper.core.run import RunSpec, RunState
from caliper.pipeline.aggregate import Captions, report, verdict_rows
from caliper.pipeline.outputs import write_outputs
from caliper.pipeline.plan import read_plan
from caliper.pipeline.report_files import captions_of_run
from caliper.pipeline.runs import RunBook, run_store, starts_of
from caliper.pipeline.tracked import END, Runs, TrackedRun
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore, ReportSink

FILES = {
    "report.json": "application/json",
    "report.md": "text/markdown",
    "report.html": "text/html",
    "verdicts.parquet": "application/vnd.apache.parquet",
}
_PAGE, _LARGEST_PAGE = 100, 1000
_PAGE_TEXT = 2_000_000
"""Characters of a page: with replies at their longest, it ends before it is full."""
_HELD, _FRESH = 2, 5.0
_TOKEN = re.compile(r"(\d{1,9})\.(\d{1,12})", re.ASCII)

SinkOf = Callable[[RunSpec, Captions, str], Sequence[ReportSink]]
"""The sinks that write the file of that name."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which verdicts; an empty filter lets all through. `token` is from the page before."""

    benchmark: str = ""
    dimension: str = ""
    outcome: str = ""
    size: int = 0
    token: str = ""

    def takes(self, row: VerdictRow) -> bool:
        """Whether the filters let a verdict through."""
        pairs = ((self.benchmark, row.benchmark), (self.dimension, row.dimension))
        return all(wanted in ("", found) for wanted, found in (*pairs, (self.outcome, row.outcome)))


@dataclass(frozen=True, slots=True)
class _Look:
    """A run, when it was looked at, and what end.json was then."""

    run: TrackedRun
    when: float
    end: bytes | None


class RunReader:
    """Reads runs from what the store holds of them: of a running run as far as the
    aggregator has kept its evidence.
    """

    def __init__(self, store: ObjectStore, runs: RunBook, clock: Clock, sinks: SinkOf) -> None:
        self._store, self._runs, self._clock = store, runs, clock
        self._sinks = sinks
        self._opener = Runs(store)
        self._held: OrderedDict[str, _Look] = OrderedDict()
        self._opening = asyncio.Lock()
        # Sinks wait in threads for rows and pictures, which take threads in turn: with as many
        # sinks as threads, nobody would go on.
        self._computing = asyncio.Lock()

    async def report(self, run: str, file: str, *, partial: bool) -> tuple[bytes, str]:
        """A file of a run's report, and its media type.

        Raises NotFound for an unknown run, UnknownName for an unknown file, NotReady for a
        run that is not complete (unless `partial` will do) or not planned.
        """
        name = file or "report.json"
        if name not in FILES:
            raise InvalidInput(str(UnknownName("file", name, tuple(FILES))), field="file")
        await self._runs.spec(run)
        found = await self._open(run)
        if found.ended is not RunState.COMPLETE and not partial:
            raise NotReady("the run is not complete; ask for a partial report")
        written = None
        if found.settled and not await self._started_again(found):
            written = await run_store(self._store, run).get(f"report/{name}")
        return written if written is not None else await self._compute(found, name), FILES[name]

    async def _started_again(self, found: TrackedRun) -> bool:
        """Whether a run that was not complete goes on since."""
        ended = found.ended is not RunState.COMPLETE
        return ended and found.start < await starts_of(found.store)

    async def _compute(self, found: TrackedRun, name: str) -> bytes:
        # What others look at grows meanwhile: a report keeps to one moment.
        self._held.pop(found.run, None)
        captions = await captions_of_run(self._store, found.spec, found.plan)
        made = await report(found.spec, found.summary, found.plan, found.ledger, captions)
        async with self._computing:
            with TemporaryDirectory(prefix="caliper-report-") as folder:
                (file,) = await self._write(found, made, captions, Path(folder, name))
                return file.read_bytes()

    async def _write(
        self, found: TrackedRun, made: Report, captions: Captions, file: Path
    ) -> list[Path]:
        return await write_outputs(
            self._sinks(found.spec, captions, file.name),
            made,
            lambda: verdict_rows(found.spec, found.plan, found.ledger),
            file.parent,
        )

    async def verdicts(self, run: str, wanted: Wanted) -> tuple[list[VerdictRow], str]:
        """A page of verdicts in plan order, and the token of the next, empty on the last.

        Raises NotFound for an unknown run, InvalidInput for a token that is none, for a
        benchmark that the run does not have, and for an outcome that none of them has.
        """
        spec = await self._runs.spec(run)
        shard, after = _place(wanted.token)
        names = tuple(part.name for part in spec.benchmarks)
        if wanted.benchmark:
            _known("benchmark of the run", wanted.benchmark, names, "benchmark")
        if wanted.outcome:
            asked = (wanted.benchmark,) if wanted.benchmark else names
            labels = dict.fromkeys(label for name in asked for label in benchmark(name).labels)
            _known("outcome", wanted.outcome, tuple(labels), "outcome")
        try:
            found = await self._open(run)
        except NotReady:
            return [], ""
        size = min(wanted.size or _PAGE, _LARGEST_PAGE)

        def plan() -> AsyncIterator[list[Item]]:
            return read_plan(found.store, found.summary, shard)

        rows: list[VerdictRow] = []
        text, last = 0, shard
        async for page in verdict_rows(found.spec, plan, found.ledger):
            for row in page:
                if row.index > after and wanted.takes(row):
                    if len(rows) == size or text > _PAGE_TEXT:
                        # The last row's own shard: what comes in behind it is still to be told.
                        return rows, f"{last}.{rows[-1].index}"
                    rows.append(row)
                    text, last = text + _length(row), shard
            shard += 1
        return rows, ""

    async def _open(self, run: str) -> TrackedRun:
        """The run as it was a moment ago, or as it ended. Raises NotReady before its plan."""
        async with self._opening:
            now = self._clock.monotonic()
            end = await run_store(self._store, run).get(END)
            held = self._held.get(run)
            if held is not None and held.end == end and now - held.when <= _FRESH:
                return held.run
            if held is not None:
                await self._opener.refresh(held.run)
            found = held.run if held else await self._opener.open(run, now)
            if found is None:
                raise NotReady("the run is not planned yet")
            self._held[run] = _Look(found, now, end)
            self._held.move_to_end(run)
            while len(self._held) > _HELD:
                self._held.popitem(last=False)
            return found


def _known(kind: str, name: str, known: tuple[str, ...], field: str) -> None:
    if name not in known:
        raise InvalidInput(str(UnknownName(kind, name, known)), field=field)


def _length(row: VerdictRow) -> int:
    """Characters of what may be long in a verdict."""
    return sum(map(len, (row.question, row.expected, row.explanation, row.reply)))


def _place(token: str) -> tuple[int, int]:
    """The shard to begin with, and the index to begin behind."""
    if not token:
        return 0, -1
    found = _TOKEN.fullmatch(token)
    if found is None:
        raise InvalidInput("this is no token of a page", field="page_token")
    return int(found[1]), int(found[2])
