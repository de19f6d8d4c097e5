"""A whole run in one process: plan, publish what is missing, work, report."""

from __future__ import annotations

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
from caliper.adapters.models.cost import Cost
from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.identity_codec import IdentityCodec
from caliper.benchmarks.registry import benchmark
from caliper.core.caps import TokenCap
from caliper.core.caption import Caption
from caliper.core.errors import InvalidInput
from caliper.core.messages import CaptionJob, ExamineJob, RunEnded
from caliper.core.preparation import Preparation
from caliper.core.report import Report
from caliper.core.run import RunSpec
from caliper.pipeline.aggregator import Aggregator
from caliper.pipeline.allowance import SharedAllowances, capped
from caliper.pipeline.budget import affordable
from caliper.pipeline.caption import Captioner
from caliper.pipeline.examine import Models
from caliper.pipeline.following import Follower, Pace
from caliper.pipeline.holding import HeldMedia, Holding
from caliper.pipeline.outlets import Bounds, Outlets, Trouble
from caliper.pipeline.plan import Captions, plan
from caliper.pipeline.publish import RUNS, VERDICTS, Publisher, before, jobs
from caliper.pipeline.report_files import ReportFiles, planned_captions
from caliper.pipeline.runs import note_start, run_store
from caliper.pipeline.supplies import keep_written
from caliper.pipeline.tracked import TrackedRun
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore, ReportSink
from caliper.ports.telemetry import SILENT, Watcher
from caliper.runtime.anchors.judging import REPLAY
from caliper.runtime.anchors.standing import StandingAnchors
from caliper.runtime.roles import Examiners
from caliper.runtime.sinks import sinks, thumbnails_below
from caliper.runtime.worker import Limits
from caliper.standalone.checks import warnings
from caliper.standalone.config import as_asked
from caliper.standalone.directory import RunDirectory
from caliper.standalone.kept import kept_report, kept_sittings
from caliper.standalone.prepare import Prepared
from caliper.standalone.stages import Stages

_MOST_WAITING = 500
"""Verdicts that wait at most until they are on the disk."""
_PACE = Pace(conclude=2.0, snapshot=None, patience=None)
"""A run in one process: verdicts wait two seconds at most, and a disk that fails ends it."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a run ended: its report, where it is kept, and what its calls cost by model. `since` is
    when an earlier process ended it, None where this one had something to do.
    """

    report: Report
    directory: Path
    since: datetime | None = None
    spent: Mapping[str, Cost] = field(default_factory=dict)


async def evaluate(prepared: Prepared, watcher: Watcher, clock: Clock) -> Finished:
    """Run to the end, or take up where an earlier process left off.

    Raises InvalidInput for rows that cannot be planned, ModelChanged, StoreUnavailable and
    StoreFull; what is done by then is kept, and the same call goes on from there.
    """
    _take_up(prepared)
    spec, directory = prepared.spec, run_directory(prepared)
    begun, started = clock.monotonic(), clock.now()
    with directory.claim(spec):
        store = directory.store(spec, prepared.config.store)
        summary = await plan(spec, prepared.sources, run_store(store, spec.run_id))
        # Only now: rows that cannot be planned will be mended, and then it is another run.
        directory.keep_spec(spec, as_asked(prepared.config))
        watcher.planned(summary)
        run = await _Run.open(prepared, directory, store, clock)
        for text in await warnings(spec, prepared.captions, run.tracked.plan):
            watcher.warned(text)
        for planned in summary.benchmarks:
            scored, unscored = run.tracked.ledger.count(planned.first, planned.questions)
            watcher.resumed(planned.name, scored + sum(unscored.values()))
        missing = await run.missing()
        if missing == 0 and directory.written:
            found = await kept_report(directory, run.tracked, run.captions)
            return already(directory, found)
        found = await run.work(watcher)
        sittings = await kept_sittings(directory, spec)
        reuse = {} if found.reuse is None else {"reuse": asdict(found.reuse)}
        directory.write_execution(
            {
                "run": spec.run_id,
                "state": found.state,
                "started": started.isoformat(timespec="seconds"),
                "finished": clock.now().isoformat(timespec="seconds"),
                "seconds": round(clock.monotonic() - begun, 3),
                "jobs": missing,
                "models": {name: spent.to_json() for name, spent in prepared.room.costs.items()},
                "anchors": {name: sitting.to_json() for name, sitting in sittings.items()},
                "warnings": run.warnings,
                **reuse,
                **_surroundings(),
            }
        )
    return Finished(found, directory.path, None, prepared.room.costs)


def already(directory: RunDirectory, found: Report) -> Finished:
    """A run that an earlier process ended, with its report. Raises NewerSchema or InvalidInput."""
    told = directory.read_execution().get("finished")
    since = None if told is None else datetime.fromisoformat(told)
    return Finished(replace(found, reuse=directory.reuse), directory.path, since)


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
    """One planned run, with its aggregator."""

    def __init__(
        self, prepared: Prepared, directory: RunDirectory, store: ObjectStore, clock: Clock
    ) -> None:
        self._prepared, self._directory, self._store = prepared, directory, store
        self._clock = clock
        self._stream = MemoryStream(logs=(VERDICTS, RUNS), once=True)
        self._codec = IdentityCodec()
        files = ReportFiles(self._planned, self._sinks, directory.path, self._complete)
        outlets, bounds = Outlets(_nobody_hears, _refuse), Bounds(verdicts=_MOST_WAITING)
        self._board = Aggregator(store, self._codec, clock, files, outlets, bounds)
        self._follower = Follower(self._board, self._stream, clock, _PACE)
        self._end: int | None = None
        self._report: Report | None = None
        self.warnings: list[str] = []
        self.captions: dict[str, dict[str, str]] = {}
        self.tracked: TrackedRun

    @classmethod
    async def open(
        cls, prepared: Prepared, directory: RunDirectory, store: ObjectStore, clock: Clock
    ) -> _Run:
        """The run with all that is known of it. Raises InvalidInput, StoreUnavailable."""
        self = cls(prepared, directory, store, clock)
        tracked = await self._board.find(prepared.spec.run_id)
        if tracked is None:
            raise InvalidInput("the run cannot be read", file=str(directory.path))
        self.tracked = tracked
        kept = await directory.captions(tracked) if prepared.captioners else {}
        self.captions = {**kept, **prepared.captions}
        return self

    async def missing(self) -> int:
        """How many jobs that the cap on calls leaves lack an outcome."""
        run, calls, count = self.tracked, self._prepared.config.max_calls, 0
        if calls is not None:
            self._end = await affordable(run.spec, run.plan, calls)
        async for items in before(run.plan, self._end)():
            count += sum(any(map(run.ledger.lacks, members)) for members in jobs(items))
        return count

    async def work(self, watcher: Watcher) -> Report:
        """Work until there is no more to do, and write the report."""
        prepared, caps = self._prepared, self._prepared.config.caps
        start = await note_start(self.tracked.store, caps, self._clock.now())
        self._directory.begin()
        # What an earlier process wrote may not have been its last file.
        self.tracked.start, self.tracked.ended = start, None
        self._directory.write_captions(await self._planned(self.tracked))
        decoders, anchors = Decoders(prepared.decoders), self._anchors(watcher)
        holding = Holding(prepared.decoders.held_bytes, prepared.decoders.workers)
        media = HeldMedia(self._media(decoders), holding)
        stages = self._stages(caps.token_cap(start), media, anchors, watcher)
        try:
            await stages.work(self.tracked, self._end)
        finally:
            await anchors.close()
            await decoders.close()
        if self._report is None:
            raise InvalidInput("the run did not end", file=str(self._directory.path))
        self._directory.write_captions(await self._planned(self.tracked))
        return self._report

    def _stages(
        self, cap: TokenCap | None, media: HeldMedia, anchors: StandingAnchors, watcher: Watcher
    ) -> Stages:
        prepared, spec = self._prepared, self._prepared.spec

        def warn(text: str) -> None:
            self.warnings.append(text)
            watcher.warned(text)

        async def spec_of(_: str, __: str) -> RunSpec:
            return spec

        async def models_of(_: RunSpec, __: ExamineJob) -> Models:
            return prepared.models

        async def captioner_of(job: CaptionJob) -> Captioner:
            model = capped(prepared.captioners[job.benchmark], await allowances.of(job))
            return Captioner(spec, model, prepared.pack, media, self._store)

        allowances = SharedAllowances(self._store, "local", warn)
        examiners = Examiners(spec_of, models_of, self._store, allowances, anchors)
        return Stages(
            publisher=Publisher(spec.run_id, self._stream, self._codec, self.captions, cap),
            examiner_of=examiners,
            captioner_of=captioner_of,
            used=examiners.before_publishing,
            asked={part.name: part.asked_of_checkpoint for part in spec.benchmarks},
            follower=self._follower,
            stream=self._stream,
            codec=self._codec,
            watcher=watcher,
            clock=self._clock,
            limits=Limits(prepared.config.concurrency, prepared.room.access.retry_budget),
            keep_caption=self._keep_caption,
        )

    def _anchors(self, watcher: Watcher) -> StandingAnchors:
        access, asked = self._prepared.room.access, self._prepared.config.anchors
        for part in self._prepared.spec.benchmarks if asked else ():
            if part.models[benchmark(part.name).role].kind == REPLAY:
                watcher.warned(f"{part.name}: recorded replies hold none to the anchors")
        patience = access.timeout + access.retry_budget
        return StandingAnchors(self._store, SILENT, patience, asked=asked)

    async def _keep_caption(self, benchmark: str, caption: Caption) -> None:
        await keep_written(self._store, self.tracked.run, benchmark, caption)
        self.captions.setdefault(benchmark, {})[caption.sample] = caption.plain

    def _complete(self, report: Report) -> Report:
        self._report = report
        return report

    async def _planned(self, run: TrackedRun) -> Captions:
        known = {part.name: self.captions.get(part.name, {}) for part in run.spec.benchmarks}
        return await planned_captions(known, run.plan)

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


async def _nobody_hears(_: RunEnded) -> None:
    """The end of the run is that of its process."""


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
