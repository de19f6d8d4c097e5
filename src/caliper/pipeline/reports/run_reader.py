"""Reads runs from the store: report files, and verdicts page by page."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Container, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from cachetools import LRUCache

from caliper.core.errors import DataLoss, InvalidInput, NotReady, UnknownName
from caliper.core.question import Item
from caliper.core.report import VerdictRow
from caliper.core.run import FINAL_STATES, WHOLE_STATES, RunSpec, RunState
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.ledger.report import verdict_rows
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.ledger.runs import Runs
from caliper.pipeline.live.tallies import LiveTallies
from caliper.pipeline.reports.facets import Facets, count_facets, facet_of, facets_of
from caliper.pipeline.reports.report_files import (
    ReportFiles,
    captions_of_run,
    stored_file,
    stored_texts,
)
from caliper.pipeline.reports.verdict_query import VerdictQuery, check_filters, check_kinds
from caliper.pipeline.store.disk_spill import temporary_folder
from caliper.pipeline.store.plan import Captions, read_shard
from caliper.pipeline.store.run_book import RunBook
from caliper.pipeline.store.run_record import RunRecord, read_record
from caliper.pipeline.store.runs import run_store
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
"""The most characters in a page: with long replies, it has fewer rows."""
_BATCH = 200
_OPEN_RUNS, _MAX_AGE = 2, 5.0
_CACHED_FACETS, _PAUSE_FACTOR = 16, 10
_UNPLANNED = "the run is not planned yet"
_TOKEN = re.compile(r"(\d{1,9})\.(\d{1,12})", re.ASCII)

SinkOf = Callable[[RunSpec, Captions, str], Sequence[ReportSink]]
"""Returns the sinks that write the file of that name."""


@dataclass(frozen=True, slots=True)
class _OpenRun:
    """A run as it was opened at a time (`when`, monotonic seconds), with its record."""

    run: RunLedger
    when: float
    record: RunRecord


@dataclass(frozen=True, slots=True)
class _CachedFacets:
    """Facets of the ledger with that digest, good enough for a newer ledger until `until`."""

    facets: Facets
    digest: str
    until: float


class RunReader:
    """Reads runs from the store: running ones up to the evidence that the aggregator has stored."""

    def __init__(self, store: ObjectStore, runs: RunBook, clock: Clock, sinks: SinkOf) -> None:
        self._store, self._runs, self._clock = store, runs, clock
        self._sinks = sinks
        self._opener = Runs(store)
        self._open_runs: LRUCache[str, _OpenRun] = LRUCache(_OPEN_RUNS)
        self._facets: LRUCache[str, _CachedFacets] = LRUCache(_CACHED_FACETS)
        self._opening = asyncio.Lock()
        self._counting = asyncio.Lock()
        # One report at a time: each takes a thread, and memory for rows and pictures.
        self._computing = asyncio.Lock()

    async def report(self, run: str, file: str, *, partial: bool) -> tuple[bytes, str]:
        """A file of a run's report, and its media type.

        Raises NotFound for an unknown run, InvalidInput for an unknown file, NotReady for a run
        that is not planned, or not complete unless `partial`; a failed run gives its reason.
        """
        name = file or "report.json"
        if name not in FILES:
            raise InvalidInput(str(UnknownName("file", name, tuple(FILES))), field="file")
        stored = await self._stored(run, name, partial=partial)
        if stored is not None:
            return stored, FILES[name]
        opened = await self._open(run)
        status = opened.record.status()
        if status.state not in WHOLE_STATES and not partial:
            failed = status.state is RunState.FAILED
            state = f"failed: {status.error}" if failed else "is not complete"
            raise NotReady(f"the run {state}; ask for a partial report")
        return await self._compute(opened.run, name), FILES[name]

    async def _stored(self, run: str, name: str, *, partial: bool) -> bytes | None:
        """The file stored when the run ended; None if it has not ended, or the file is lost."""
        spec, store = await self._runs.spec(run), run_store(self._store, run)
        record = await read_record(store, spec)
        state = record.status().state
        if not (state in WHOLE_STATES or (partial and state in FINAL_STATES)):
            return None
        with suppress(DataLoss):
            return await stored_file(store, record.end, name)
        return None

    async def _compute(self, run: RunLedger, name: str) -> bytes:
        # The cached run is refreshed by other requests; a report needs a run that does not change.
        async with self._opening:
            self._open_runs.pop(run.run, None)
        async with self._computing:
            with temporary_folder("caliper-report-") as folder:
                files = ReportFiles(
                    partial(captions_of_run, partial(stored_texts, self._store)),
                    lambda spec, captions: self._sinks(spec, captions, name),
                    folder,
                )
                await files.write(run, RunState.FINISHED, LiveTallies(), nullcontext())
                return await asyncio.to_thread((folder / name).read_bytes)

    async def verdicts(self, run: str, query: VerdictQuery) -> tuple[list[VerdictRow], str]:
        """A page of verdicts in plan order, and the token of the next, empty on the last.

        Raises NotFound for an unknown run, InvalidInput for an invalid token, for a benchmark,
        dimension or category that the run does not have, and for an outcome that its benchmarks do
        not define.
        """
        spec = await self._runs.spec(run)
        shard, after = _parse_token(query.token)
        check_filters(spec, query)
        try:
            opened = (await self._open(run)).run
        except NotReady:
            return [], ""
        size = min(query.size or _PAGE, _LARGEST_PAGE)
        matching = self._shards(opened, query)
        read = partial(read_shard, opened.store, opened.summary)

        async def plan() -> AsyncIterator[list[Item]]:
            nonlocal shard
            # Skip shards and items without a match: neither plan nor evidence is read for them.
            for number in range(shard, opened.summary.shards):
                shard = number
                items = await read(number) if number in matching else []
                for some in _batches(items):
                    yield [item for item in some if _may_match(query, after, item, opened.ledger)]

        rows: list[VerdictRow] = []
        text, last = 0, shard
        async for page in verdict_rows(opened.spec, plan, opened.ledger):
            for row in page:
                if row.index > after and query.matches(facet_of(row)):
                    if len(rows) == size or text > _PAGE_TEXT:
                        # Resume in the shard of the last row: verdicts may yet arrive behind it.
                        return rows, f"{last}.{rows[-1].index}"
                    rows.append(row)
                    text, last = text + _length(row), shard
        if not rows and not query.token:
            # Last, because it reads the whole plan.
            await check_kinds(opened.plan, query)
        return rows, ""

    def _shards(self, run: RunLedger, query: VerdictQuery) -> Container[int]:
        """The shards that may have matches: all, unless the facets of this ledger are cached."""
        cached = self._facets.get(run.run)
        if cached is None or cached.digest != run.ledger.digest():
            return range(run.summary.shards)
        shards = cached.facets.shards
        return {number for facet in shards if query.matches(facet) for number in shards[facet]}

    async def facets(self, run: str) -> Facets:
        """The number of verdicts per facet. For a running run they may be slightly out of date, so
        that counting takes at most a tenth of the time.

        Raises NotFound for an unknown run, StoreUnavailable.
        """
        try:
            opened = (await self._open(run)).run
        except NotReady:
            return Facets()
        async with self._counting:
            started, digest = self._clock.monotonic(), opened.ledger.digest()
            cached = self._facets.get(run)
            if cached is not None and (cached.digest == digest or started < cached.until):
                return cached.facets
            facets = await count_facets(opened.plan, opened.ledger)
            now = self._clock.monotonic()
            self._facets[run] = _CachedFacets(facets, digest, now + _PAUSE_FACTOR * (now - started))
            return facets

    async def _open(self, run: str) -> _OpenRun:
        """The run, at most `_MAX_AGE` seconds old, and refreshed at once when its record changed.

        Raises NotFound for an unknown run, NotReady for one that is not planned yet.
        """
        spec = await self._runs.spec(run)
        async with self._opening:
            now = self._clock.monotonic()
            record = await read_record(run_store(self._store, run), spec)
            cached = self._open_runs.get(run)
            if cached is not None and cached.record == record and now - cached.when <= _MAX_AGE:
                return cached
            if cached is not None and cached.record.starts == record.starts:
                await self._opener.refresh(cached.run)
                run_ledger: RunLedger | None = cached.run
            else:
                # A new start may have restored lost objects.
                run_ledger = await self._opener.open(run, now)
            if run_ledger is None:
                raise NotReady(
                    f"the run failed: {record.refused}" if record.refused else _UNPLANNED
                )
            opened = self._open_runs[run] = _OpenRun(run_ledger, now, record)
            return opened


def _batches(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Items with about `_BATCH` questions: a page reads little more evidence than it shows."""
    for _, batch in groupby(items, lambda item: item.first // _BATCH):
        yield list(batch)


def _may_match(query: VerdictQuery, after: int, item: Item, ledger: Ledger) -> bool:
    """Whether a verdict of the item may be on the page."""
    if not any(query.filters):
        return item.first + item.size > after + 1
    return any(index > after and query.matches(facet) for index, facet in facets_of(item, ledger))


def _length(row: VerdictRow) -> int:
    """Characters in the fields of a verdict that may be long."""
    return sum(map(len, (row.question, row.expected, row.explanation, row.reply)))


def _parse_token(token: str) -> tuple[int, int]:
    """The shard to start in, and the index to start after."""
    if not token:
        return 0, -1
    match = _TOKEN.fullmatch(token)
    if match is None:
        raise InvalidInput("not a valid page token", field="page_token")
    return int(match[1]), int(match[2])
