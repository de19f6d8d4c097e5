"""Reading runs: their report files, and their verdicts a page at a time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Container, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from cachetools import LRUCache

from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput, NotReady, UnknownName
from caliper.core.question import Item
from caliper.core.report import VerdictRow
from caliper.core.run import OVER, RunSpec, RunState
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.ledger.report import verdict_rows
from caliper.pipeline.ledger.run_ledger import RunLedger, Runs
from caliper.pipeline.live.tallies import LiveTallies
from caliper.pipeline.reports.facets import (
    Facet,
    Facets,
    count_facets,
    facets_of,
    planned_dimensions,
)
from caliper.pipeline.reports.report_files import ReportFiles, captions_of_run
from caliper.pipeline.store.plan import Captions, read_shard
from caliper.pipeline.store.run_record import RunRecord, read_record
from caliper.pipeline.store.runs import RunBook, run_store
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
_HELD_COUNTS, _SELDOM = 16, 10
_UNPLANNED = "the run is not planned yet"
_TOKEN = re.compile(r"(\d{1,9})\.(\d{1,12})", re.ASCII)

SinkOf = Callable[[RunSpec, Captions, str], Sequence[ReportSink]]
"""The sinks that write the file of that name."""


@dataclass(frozen=True, slots=True)
class VerdictQuery:
    """Which verdicts; an empty filter lets all through. `token` is from the page before."""

    benchmark: str = ""
    dimension: str = ""
    outcome: str = ""
    size: int = 0
    token: str = ""

    @property
    def filters(self) -> Facet:
        """Benchmark, dimension and outcome; empty for any."""
        return (self.benchmark, self.dimension, self.outcome)

    def takes(self, found: Facet) -> bool:
        """Whether the filters let a verdict through."""
        return all(wanted in ("", each) for wanted, each in zip(self.filters, found, strict=True))


@dataclass(frozen=True, slots=True)
class _Look:
    """A run, when its verdicts were read, and its record."""

    run: RunLedger
    when: float
    record: RunRecord


@dataclass(frozen=True, slots=True)
class _Counted:
    """Counts, of which ledger they are, and until when they will do for another one."""

    facets: Facets
    digest: str
    until: float


class RunReader:
    """Reads runs from what the store holds of them: of a running run as far as the
    aggregator has kept its evidence.
    """

    def __init__(self, store: ObjectStore, runs: RunBook, clock: Clock, sinks: SinkOf) -> None:
        self._store, self._runs, self._clock = store, runs, clock
        self._sinks = sinks
        self._opener = Runs(store)
        self._held: LRUCache[str, _Look] = LRUCache(_HELD)
        self._counted: LRUCache[str, _Counted] = LRUCache(_HELD_COUNTS)
        self._opening = asyncio.Lock()
        self._counting = asyncio.Lock()
        # A report takes a thread of its own, and rows and pictures in memory: one at a time.
        self._computing = asyncio.Lock()

    async def report(self, run: str, file: str, *, partial: bool) -> tuple[bytes, str]:
        """A file of a run's report, and its media type.

        Raises NotFound for an unknown run, UnknownName for an unknown file, NotReady for a
        run that is not complete (unless `partial` will do) or not planned, with the reason where
        it failed.
        """
        name = file or "report.json"
        if name not in FILES:
            raise InvalidInput(str(UnknownName("file", name, tuple(FILES))), field="file")
        look = await self._open(run)
        found, status = look.run, look.record.status()
        if status.state is not RunState.COMPLETE and not partial:
            failed = status.state is RunState.FAILED
            state = f"failed: {status.error}" if failed else "is not complete"
            raise NotReady(f"the run {state}; ask for a partial report")
        written = None
        if status.state in OVER:
            written = await found.store.get(f"report/{name}")
        return written if written is not None else await self._compute(found, name), FILES[name]

    async def _compute(self, found: RunLedger, name: str) -> bytes:
        # What others look at grows meanwhile, and may be growing now: a report keeps to one moment.
        async with self._opening:
            self._held.pop(found.run, None)
        async with self._computing:
            with TemporaryDirectory(prefix="caliper-report-") as folder:
                files = ReportFiles(
                    partial(captions_of_run, self._store),
                    lambda spec, captions: self._sinks(spec, captions, name),
                    Path(folder),
                )
                await files.write(found, RunState.FINISHED, LiveTallies(), nullcontext())
                return await asyncio.to_thread(Path(folder, name).read_bytes)

    async def verdicts(self, run: str, wanted: VerdictQuery) -> tuple[list[VerdictRow], str]:
        """A page of verdicts in plan order, and the token of the next, empty on the last.

        Raises NotFound for an unknown run, InvalidInput for a token that is none, for a
        benchmark or dimension that the run does not have, and for an outcome that none of its
        benchmarks has.
        """
        spec = await self._runs.spec(run)
        shard, after = _place(wanted.token)
        _check_filters(spec, wanted)
        try:
            found = (await self._open(run)).run
        except NotReady:
            return [], ""
        size = min(wanted.size or _PAGE, _LARGEST_PAGE)
        there = self._shards(found, wanted)

        async def plan() -> AsyncIterator[list[Item]]:
            # What holds nothing that is wanted is not read, neither plan nor evidence.
            for number in range(shard, found.summary.shards):
                items = await read_shard(found.store, number) if number in there else []
                yield [item for item in items if _wants(wanted, after, item, found.ledger)]

        rows: list[VerdictRow] = []
        text, last = 0, shard
        async for page in verdict_rows(found.spec, plan, found.ledger):
            for row in page:
                facet = (row.benchmark, row.dimension, row.outcome)
                if row.index > after and wanted.takes(facet):
                    if len(rows) == size or text > _PAGE_TEXT:
                        # The last row's own shard: what comes in behind it is still to be told.
                        return rows, f"{last}.{rows[-1].index}"
                    rows.append(row)
                    text, last = text + _length(row), shard
            shard += 1
        if wanted.dimension and not rows and not wanted.token:
            # Only now, for it takes the whole plan: nothing was found, so all was looked at.
            known = await planned_dimensions(found.plan, wanted.benchmark)
            _known("dimension of the run", wanted.dimension, known, "dimension")
        return rows, ""

    def _shards(self, found: RunLedger, wanted: VerdictQuery) -> Container[int]:
        """The shards where there may be what is wanted: all of them, unless they were counted."""
        held = self._counted.get(found.run)
        if held is None or held.digest != found.ledger.digest():
            return range(found.summary.shards)
        shards = held.facets.shards
        return {number for facet in shards if wanted.takes(facet) for number in shards[facet]}

    async def facets(self, run: str) -> Facets:
        """How many verdicts there are of each benchmark, dimension and outcome: of a run that
        goes on as of a moment ago, so that counting takes a tenth of the time at most.

        Raises NotFound for an unknown run, StoreUnavailable.
        """
        try:
            found = (await self._open(run)).run
        except NotReady:
            return Facets()
        async with self._counting:
            begun, digest = self._clock.monotonic(), found.ledger.digest()
            held = self._counted.get(run)
            if held is not None and (held.digest == digest or begun < held.until):
                return held.facets
            facets = await count_facets(found.plan, found.ledger)
            now = self._clock.monotonic()
            self._counted[run] = _Counted(facets, digest, now + _SELDOM * (now - begun))
            return facets

    async def _open(self, run: str) -> _Look:
        """The run as it was a moment ago, or as it ended. Raises NotFound for an unknown run,
        NotReady before its plan.
        """
        spec = await self._runs.spec(run)
        async with self._opening:
            now = self._clock.monotonic()
            record = await read_record(run_store(self._store, run), spec)
            held = self._held.get(run)
            if held is not None and held.record == record and now - held.when <= _FRESH:
                return held
            if held is not None:
                await self._opener.refresh(held.run)
            found = held.run if held else await self._opener.open(run, now)
            if found is None:
                raise NotReady(
                    f"the run failed: {record.refused}" if record.refused else _UNPLANNED
                )
            look = self._held[run] = _Look(found, now, record)
            return look


def _check_filters(spec: RunSpec, wanted: VerdictQuery) -> None:
    """Raise InvalidInput for a benchmark or an outcome that the run cannot have."""
    names = tuple(part.name for part in spec.benchmarks)
    if wanted.benchmark:
        _known("benchmark of the run", wanted.benchmark, names, "benchmark")
    if wanted.outcome:
        asked = (wanted.benchmark,) if wanted.benchmark else names
        labels = dict.fromkeys(label for name in asked for label in benchmark(name).labels)
        _known("outcome", wanted.outcome, tuple(labels), "outcome")


def _known(kind: str, name: str, known: tuple[str, ...], field: str) -> None:
    if name not in known:
        raise InvalidInput(str(UnknownName(kind, name, known)), field=field)


def _wants(wanted: VerdictQuery, after: int, item: Item, ledger: Ledger) -> bool:
    """Whether a verdict of the item may be on the page."""
    if wanted.filters == ("", "", ""):
        return item.first + item.size > after + 1
    return any(index > after and wanted.takes(facet) for index, facet in facets_of(item, ledger))


def _length(row: VerdictRow) -> int:
    """Characters of what may be long in a verdict."""
    return sum(map(len, (row.question, row.expected, row.explanation, row.reply)))


def _place(token: str) -> tuple[int, int]:
    """The shard to begin with, and the index to begin behind."""
    if not token:
        return 0, -1
    found = _TOKEN.fullmatch(token)
    if found is None:
        raise InvalidInput("not a valid page token", field="page_token")
    return int(found[1]), int(found[2])
