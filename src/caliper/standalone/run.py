"""A whole run in one process: plan, publish what is missing, work, report."""

from __future__ import annotations

import asyncio
import platform
import resource
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from caliper.adapters.media.decoding import Decoders
from caliper.adapters.media.frames import MediaFolder
from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.identity_codec import IdentityCodec
from caliper.core.caption import Caption
from caliper.core.errors import InvalidInput
from caliper.core.preparation import Preparation
from caliper.core.report import Report
from caliper.core.run import RunSpec, RunState
from caliper.pipeline.aggregate import Captions, PlanReader
from caliper.pipeline.aggregator import Aggregator
from caliper.pipeline.caption import Captioner
from caliper.pipeline.examine import Examiner
from caliper.pipeline.following import Follower, Pace
from caliper.pipeline.gateway import Gateway, Outside
from caliper.pipeline.holding import HeldMedia, Holding
from caliper.pipeline.judge_check import Sittings, with_checks
from caliper.pipeline.outlets import Bounds, Outlets, Trouble
from caliper.pipeline.plan import read_summary
from caliper.pipeline.planner import Planner, Resumption
from caliper.pipeline.publish import RUNS, VERDICTS, before, jobs
from caliper.pipeline.report_files import ReportFiles, planned_captions
from caliper.pipeline.runs import RunBook, run_store
from caliper.pipeline.supplies import keep_written
from caliper.pipeline.tracked import TrackedRun
from caliper.ports.clock import Clock
from caliper.ports.codec import RunEnded
from caliper.ports.storage import ReportSink
from caliper.ports.telemetry import Watcher
from caliper.runtime.metering import Spent
from caliper.runtime.sinks import sinks, thumbnails_below
from caliper.runtime.worker import Limits
from caliper.standalone.anchored import kept_sittings, sit
from caliper.standalone.checks import warnings
from caliper.standalone.config import as_asked
from caliper.standalone.directory import RunDirectory
from caliper.standalone.kept import kept_report
from caliper.standalone.prepare import Prepared
from caliper.standalone.stages import Stages

_MOST_WAITING = Bounds(verdicts=500)
_PACE = Pace(conclude=0.05, keep=2.0, patience=None, snapshots=False)
"""Verdicts wait two seconds at most until they are on the disk, and a disk that fails ends it."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a run ended: its report, where it is kept, and what its calls cost by model. `since` is
    when an earlier process ended it, None where this one had something to do.
    """

    report: Report
    directory: Path
    since: datetime | None = None
    spent: Mapping[str, Spent] = field(default_factory=dict)


async def evaluate(prepared: Prepared, watcher: Watcher, clock: Clock) -> Finished:
    """Run to the end, or take up where an earlier process left off.

    Raises InvalidInput for rows that cannot be planned, ModelChanged, StoreUnavailable and
    StoreFull; what is done by then is kept, and the same call goes on from there.
    """
    _take_up(prepared)
    spec, directory = prepared.spec, run_directory(prepared)
    begun, started = clock.monotonic(), clock.now()
    prepared.allowance.tell = watcher.warned
    with directory.claim(spec):
        run = _Run(prepared, directory, watcher, clock)
        found = await run.work()
        if run.known:
            return already(directory, found)
        reuse = {} if found.reuse is None else {"reuse": asdict(found.reuse)}
        directory.write_execution(
            {
                "run": spec.run_id,
                "state": found.state,
                "started": started.isoformat(timespec="seconds"),
                "finished": clock.now().isoformat(timespec="seconds"),
                "seconds": round(clock.monotonic() - begun, 3),
                "jobs": run.missing,
                "models": {name: spent.to_json() for name, spent in prepared.room.spent.items()},
                "anchors": {name: sitting.to_json() for name, sitting in run.sittings.items()},
                "warnings": list(prepared.allowance.warnings.values()),
                **reuse,
                **_surroundings(),
            }
        )
    return Finished(found, directory.path, None, prepared.room.spent)


def already(directory: RunDirectory, found: Report) -> Finished:
    """A run that an earlier process ended, with its report. Raises NewerSchema or InvalidInput."""
    told = directory.read_execution().get("finished")
    since = None if told is None else datetime.fromisoformat(told)
    found = with_checks(replace(found, reuse=directory.reuse), kept_sittings(directory))
    return Finished(found, directory.path, since)


def _take_up(prepared: Prepared) -> None:
    """Go on with a run that an earlier commit began, under the spec that it has."""
    before = replace(prepared, spec=prepared.spec.by_origin)
    with suppress(InvalidInput):
        if run_directory(before).read_spec() == before.spec:
            prepared.spec = before.spec


def run_directory(prepared: Prepared) -> RunDirectory:
    """Where the run is kept: `--out`, else below `runs/`."""
    if prepared.config.out is not None:
        return RunDirectory(prepared.config.out)
    return RunDirectory.default(prepared.spec)


class _Run:
    """One run, with the gateway, the planner, the workers and the aggregator of its process.

    `known` says that an earlier process left nothing to do; `missing` counts the jobs that this
    one had.
    """

    def __init__(
        self, prepared: Prepared, directory: RunDirectory, watcher: Watcher, clock: Clock
    ) -> None:
        self._prepared, self._directory = prepared, directory
        self._watcher, self._clock = watcher, clock
        self._store = directory.store(prepared.spec, prepared.config.store)
        self._stream = MemoryStream(logs=(VERDICTS, RUNS), once=True)
        self._codec = IdentityCodec()
        files = ReportFiles(self._planned, self._sinks, directory.path, self._complete)
        outlets = Outlets(self._hear, _refuse)
        self._board = Aggregator(self._store, self._codec, clock, files, outlets, _MOST_WAITING)
        self._resumed, self._over = asyncio.Event(), asyncio.Event()
        self._report: Report | None = None
        self._written: dict[str, dict[str, str]] = {}
        self.sittings: Sittings = {}
        self.missing, self.known = 0, False

    async def work(self) -> Report:
        """Work until there is no more to do, and write the report."""
        prepared, run = self._prepared, self._prepared.spec.run_id
        runs = RunBook(self._store, self._clock)
        store, stream, codec, supplies = self._store, self._stream, self._codec, prepared.supplies
        stages, board = prepared.stages, self._board
        outside = Outside(store, stream, codec, self._clock, supplies, stages, board)
        if not await self._whole(run):
            self._directory.begin()
        found, _ = await Gateway(outside, runs).start(prepared.asked)
        if found.state is RunState.COMPLETE:
            await self._resume(run, None)
            return await kept_report(self._directory, await self._tracked(run), self._captions)
        await self._work(Planner(store, stream, codec, runs, supplies, self._resume))
        if self._report is None:
            raise InvalidInput("the run did not end", file=str(self._directory.path))
        tracked = await self._tracked(run)
        self._directory.write_captions(await self._planned(prepared.spec, tracked.plan))
        return self._report

    async def _whole(self, run: str) -> bool:
        """Whether an earlier process got as far as the last file, and all is there that it tells
        of.
        """
        planned = self._directory.written and await read_summary(run_store(self._store, run))
        if not planned:
            return False
        tracked = await self._tracked(run)
        return tracked.ended is None or tracked.reported == tracked.ledger.changes

    async def _tracked(self, run: str) -> TrackedRun:
        found = await self._board.find(run)
        if found is None:
            raise InvalidInput("the run cannot be read", file=str(self._directory.path))
        return found

    async def _resume(self, run: str, end: int | None) -> Resumption:
        """Tell where the planned run stands, and make ready for what is missing of it."""
        prepared, directory, watcher = self._prepared, self._directory, self._watcher
        tracked = await self._tracked(run)
        # Only now: rows that cannot be planned will be mended, and then it is another run.
        directory.keep_spec(tracked.spec, as_asked(prepared.config))
        watcher.planned(tracked.summary)
        supplied = prepared.supplies.captions
        for text in await warnings(tracked.spec, supplied, tracked.plan):
            watcher.warned(text)
        for planned in tracked.summary.benchmarks:
            scored, unscored = tracked.ledger.count(planned.first, planned.questions)
            watcher.resumed(planned.name, scored + sum(unscored.values()))
        self._written = await directory.captions(tracked) if prepared.captioners else {}
        async for items in before(tracked.plan, end)():
            self.missing += sum(any(map(tracked.ledger.lacks, job)) for job in jobs(items))
        complete = tracked.settled and tracked.ended is RunState.COMPLETE
        self.known = directory.written and (complete or self.missing == 0)
        if self.known:
            self.sittings = kept_sittings(directory)
        else:
            self.sittings = await sit(prepared, watcher)
            directory.begin()
            directory.write_captions(await self._planned(tracked.spec, tracked.plan))
        # For a run that an earlier release left, too, which did not count its starts.
        tracked.try_again(end)
        self._resumed.set()
        return Resumption(tracked.ledger, self._written)

    async def _work(self, planner: Planner) -> None:
        prepared, spec = self._prepared, self._prepared.spec
        decoders = Decoders(prepared.decoders)
        holding = Holding(prepared.decoders.held_bytes, prepared.decoders.workers)
        media = HeldMedia(self._media(decoders), holding)
        stages = Stages(
            planner=planner,
            examiner=Examiner(spec, prepared.models, self._store),
            captioners={
                name: Captioner(spec, model, prepared.pack, media, self._store)
                for name, model in prepared.captioners.items()
            },
            follow=self._follow,
            stream=self._stream,
            codec=self._codec,
            watcher=self._watcher,
            clock=self._clock,
            limits=Limits(
                in_flight=prepared.config.concurrency, budget=prepared.room.access.retry_budget
            ),
            keep_caption=self._keep_caption,
            over=self._over,
        )
        try:
            await stages.work()
        finally:
            await decoders.close()

    async def _follow(self) -> None:
        # Before, a run that an earlier process ended would end as it is.
        await self._resumed.wait()
        await Follower(self._board, self._stream, self._clock, _PACE).run()

    async def _hear(self, _: RunEnded) -> None:
        self._over.set()

    async def _keep_caption(self, benchmark: str, caption: Caption) -> None:
        await keep_written(self._store, self._prepared.spec.run_id, benchmark, caption)
        self._written.setdefault(benchmark, {})[caption.sample] = caption.plain

    @property
    def _captions(self) -> Captions:
        return {**self._written, **self._prepared.supplies.captions}

    def _complete(self, report: Report) -> Report:
        self._report = with_checks(report, self.sittings)
        return self._report

    async def _planned(self, spec: RunSpec, plan: PlanReader) -> Captions:
        known = {part.name: self._captions.get(part.name, {}) for part in spec.benchmarks}
        return await planned_captions(known, plan)

    def _sinks(self, spec: RunSpec, captions: Captions) -> Sequence[ReportSink]:
        places = self._prepared.config.benchmarks
        roots = {part.name: places[part.name].media_root for part in spec.benchmarks}
        return sinks(captions, thumbnails_below(roots))

    def _media(self, decoders: Decoders) -> dict[str, MediaFolder]:
        spec, config = self._prepared.spec, self._prepared.config
        return {
            name: MediaFolder(
                config.benchmarks[name].media_root,
                decoders,
                spec.benchmark(name).preparation or Preparation(),
            )
            for name in self._prepared.captioners
        }


def _refuse(_: Trouble, text: str) -> None:
    """What cannot be read of a run's own messages and store ends the run."""
    raise InvalidInput(text)


def _surroundings() -> dict[str, Any]:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "host": platform.node(),
        "python": sys.version.split()[0],
        "peak_memory_mib": round(usage.ru_maxrss / 1024, 1),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3),
    }
