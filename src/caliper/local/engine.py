"""Executes a run in one process, with its own gateway, planner, workers and aggregator."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from caliper.adapters.media.decoders import Decoders
from caliper.adapters.media.frames import MediaFolder
from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.identity_codec import IdentityCodec
from caliper.benchmarks.registry import benchmark
from caliper.core.caption import Caption
from caliper.core.errors import InvalidInput
from caliper.core.messages import CaptionJob, ExamineJob, RunEnded
from caliper.core.preparation import Preparation
from caliper.core.report import Report
from caliper.core.run import RunSpec, RunState
from caliper.local.checks import warnings
from caliper.local.config import as_asked
from caliper.local.directory import RunDirectory
from caliper.local.reports import kept_report, kept_sittings
from caliper.local.setup import RunSetup
from caliper.local.stages import Stages
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.aggregation.follower import Follower, FollowerTiming
from caliper.pipeline.aggregation.outlets import Bounds, Outlets, Trouble
from caliper.pipeline.asking.captioner import Captioner
from caliper.pipeline.asking.examiner import Models
from caliper.pipeline.asking.memory_limit import LimitedMedia, MemoryLimit
from caliper.pipeline.asking.token_budget import SharedAllowances, capped
from caliper.pipeline.gateway.gateway import Gateway, Outside
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.planning.planner import Planner, Resumption
from caliper.pipeline.planning.publisher import RUNS, VERDICTS, before
from caliper.pipeline.reports.judge_check import Sittings, with_checks
from caliper.pipeline.reports.report_files import ReportFiles, planned_captions
from caliper.pipeline.store.plan import Captions, read_summary
from caliper.pipeline.store.runs import RunBook, run_store
from caliper.pipeline.store.supplies import keep_written
from caliper.pipeline.work.worker import WorkerLimits
from caliper.ports.clock import Clock
from caliper.ports.storage import ReportSink
from caliper.ports.telemetry import SILENT, Watcher
from caliper.wiring.anchor_sitting import REPLAY
from caliper.wiring.roles import Examiners
from caliper.wiring.sinks import sinks, thumbnails_below
from caliper.wiring.standing_anchors import StandingAnchors

_BOUNDS = Bounds(verdicts=500)
_TIMING = FollowerTiming(conclude=0.05, keep=2.0, patience=None, snapshots=False)
"""Verdicts reach the disk within two seconds, and a failing disk ends the run."""


class LocalRun:
    """One run, with its own gateway, planner, workers and aggregator.

    `known` is true if an earlier process left nothing to do; `published` is the number of jobs of
    this process.
    """

    def __init__(
        self, prepared: RunSetup, directory: RunDirectory, watcher: Watcher, clock: Clock
    ) -> None:
        self._prepared, self._directory = prepared, directory
        self._watcher, self._clock = watcher, clock
        self._store = directory.store(prepared.spec, prepared.config.store)
        self._stream = MemoryStream(logs=(VERDICTS, RUNS), once=True)
        self._codec = IdentityCodec()
        files = ReportFiles(self._planned_captions, self._sinks, directory.path, self._complete)
        outlets = Outlets(self._on_run_ended, _refuse)
        self._board = Aggregator(self._store, self._codec, clock, files, outlets, _BOUNDS)
        self._resumed, self._ended = asyncio.Event(), asyncio.Event()
        self._report: Report | None = None
        self._own_captions: dict[str, dict[str, str]] = {}
        self._planned: Captions | None = None
        self._sittings: Sittings | None = None
        self.warnings: list[str] = []
        self.published, self.known = 0, False

    async def work(self) -> Report:
        """Run to the end, and write the report."""
        prepared, run = self._prepared, self._prepared.spec.run_id
        runs = RunBook(self._store, self._clock)
        store, stream, codec, supplies = self._store, self._stream, self._codec, prepared.supplies
        stages, board = prepared.stages, self._board
        outside = Outside(store, stream, codec, self._clock, supplies, stages, board)
        if not await self._is_finished(run):
            self._directory.begin()
        record, _ = await Gateway(outside, runs).start(prepared.asked)
        if record.state is RunState.COMPLETE:
            await self._resume(run, None)
            return await kept_report(self._directory, await self._ledger(run), self._captions)
        planner = Planner(store, stream, codec, runs, supplies, self._resume)
        await self._work(planner)
        self.published = planner.published
        if self._report is None:
            raise InvalidInput("the run did not end", file=str(self._directory.path))
        if prepared.captioners:
            ledger = await self._ledger(run)
            self._directory.write_captions(await self._planned_captions(ledger))
        return self._report

    async def _is_finished(self, run: str) -> bool:
        """Whether an earlier process wrote the last file, its report covers all verdicts, and a
        complete run has no failures left that may be transient.
        """
        planned = self._directory.written and await read_summary(run_store(self._store, run))
        if not planned:
            return False
        run_ledger = await self._ledger(run)
        if run_ledger.ended is RunState.COMPLETE and run_ledger.ledger.passing():
            return False
        return run_ledger.ended is None or run_ledger.reported == run_ledger.ledger.changes

    async def _ledger(self, run: str) -> RunLedger:
        ledger = await self._board.find(run)
        if ledger is None:
            raise InvalidInput("the run cannot be read", file=str(self._directory.path))
        return ledger

    async def _resume(self, run: str, end: int | None) -> Resumption:
        """Report the progress of the planned run, and prepare for its missing jobs."""
        prepared, directory, watcher = self._prepared, self._directory, self._watcher
        run_ledger = await self._ledger(run)
        # Not earlier: rows that cannot be planned will be fixed, and that makes it another run.
        directory.keep_spec(run_ledger.spec, as_asked(prepared.config))
        watcher.planned(run_ledger.summary)
        supplied = prepared.supplies.captions
        for text in await warnings(run_ledger.spec, supplied, run_ledger.plan):
            watcher.warned(text)
        for planned in run_ledger.summary.benchmarks:
            scored, unscored = run_ledger.ledger.count(planned.first, planned.questions)
            watcher.resumed(planned.name, scored + sum(unscored.values()))
        self._own_captions = await directory.captions(run_ledger) if prepared.captioners else {}
        complete = run_ledger.settled and run_ledger.ended is RunState.COMPLETE
        self.known = directory.written and (complete or not await _lacking(run_ledger, end))
        if self.known:
            self._sittings = await kept_sittings(directory, run_ledger.spec)
        else:
            directory.begin()
            directory.write_captions(await self._planned_captions(run_ledger))
        # Also for runs of earlier releases, which did not count their starts.
        run_ledger.try_again(end)
        self._resumed.set()
        return Resumption(run_ledger.ledger, self._own_captions)

    async def _work(self, planner: Planner) -> None:
        options = self._prepared.decoders
        decoders, anchors = Decoders(options), self._anchors()
        holding = MemoryLimit(options.held_bytes, options.workers)
        media = LimitedMedia(self._media(decoders), holding)
        try:
            await self._stages(planner, media, anchors).work()
        finally:
            await anchors.close()
            await decoders.close()

    def _stages(self, planner: Planner, media: LimitedMedia, anchors: StandingAnchors) -> Stages:
        prepared, spec = self._prepared, self._prepared.spec

        def warn(text: str) -> None:
            self.warnings.append(text)
            self._watcher.warned(text)

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
            planner=planner,
            examiner_of=examiners,
            captioner_of=captioner_of,
            used=examiners.before_publishing,
            follow=self._follow,
            stream=self._stream,
            codec=self._codec,
            watcher=self._watcher,
            clock=self._clock,
            limits=WorkerLimits(prepared.config.concurrency, prepared.room.access.retry_budget),
            keep_caption=self._keep_caption,
            over=self._ended,
        )

    def _anchors(self) -> StandingAnchors:
        access, anchors_asked = self._prepared.room.access, self._prepared.config.anchors
        for part in self._prepared.spec.benchmarks if anchors_asked else ():
            if part.models[benchmark(part.name).role].kind == REPLAY:
                self._watcher.warned(f"{part.name}: recorded replies hold none to the anchors")
        patience = access.timeout + access.retry_budget
        return StandingAnchors(self._store, SILENT, patience, asked=anchors_asked)

    async def _follow(self) -> None:
        # Earlier, a run that another process had ended would end again as it is.
        await self._resumed.wait()
        await Follower(self._board, self._stream, self._clock, _TIMING).run()

    async def _on_run_ended(self, _: RunEnded) -> None:
        self._ended.set()

    async def _keep_caption(self, benchmark: str, caption: Caption) -> None:
        await keep_written(self._store, self._prepared.spec.run_id, benchmark, caption)
        self._own_captions.setdefault(benchmark, {})[caption.sample] = caption.plain

    @property
    def _captions(self) -> Captions:
        return {**self._own_captions, **self._prepared.supplies.captions}

    def _complete(self, report: Report) -> Report:
        self._report = report
        if self._sittings is not None:
            self._report = with_checks(report, self._sittings)
        return self._report

    async def _planned_captions(self, run: RunLedger) -> Captions:
        # Supplied captions stay as they are.
        if self._planned is None or self._prepared.captioners:
            captions = {
                part.name: self._captions.get(part.name, {}) for part in run.spec.benchmarks
            }
            self._planned = await planned_captions(captions, run.plan)
        return self._planned

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


async def _lacking(run: RunLedger, end: int | None) -> bool:
    """Whether an outcome before index `end` is worth asking for."""
    async for items in before(run.plan, end)():
        if any(map(run.ledger.lacks, items)):
            return True
    return False


def _refuse(_: Trouble, text: str) -> None:
    """End the run: its own messages or store are unreadable."""
    raise InvalidInput(text)
