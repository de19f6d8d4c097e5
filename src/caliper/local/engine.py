"""Executes a run in one process, with its own gateway, planner, workers and aggregator."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from functools import partial

from caliper.adapters.media.bounds import DecoderOptions
from caliper.adapters.media.decoders import Decoders
from caliper.adapters.media.preparation import MediaFolder
from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.identity_codec import IdentityCodec
from caliper.benchmarks.registry import benchmark
from caliper.core.caption import Caption
from caliper.core.errors import DataLoss, InvalidInput
from caliper.core.messages import CaptionJob, ExamineJob, RunEnded
from caliper.core.preparation import Preparation
from caliper.core.report import Report
from caliper.core.run import WHOLE_STATES, BenchmarkSpec, RunSpec, RunState
from caliper.lazy import check_library
from caliper.local.caption_writer import CaptionWriter
from caliper.local.checks import warnings
from caliper.local.config import config_record
from caliper.local.directory import RunDirectory
from caliper.local.reports import current_report
from caliper.local.setup import CaptionedRuleOf, RunSetup
from caliper.local.stages import planning, schedule_imports, work
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.aggregation.drawn_blocks import DrawnBlocks
from caliper.pipeline.aggregation.follower import Follower, FollowerTiming
from caliper.pipeline.aggregation.outlets import Bounds, Outlets, Trouble
from caliper.pipeline.asking.examiner import Models
from caliper.pipeline.asking.memory_limit import MemoryLimit
from caliper.pipeline.asking.token_budget import SharedAllowances
from caliper.pipeline.gateway.gateway import Gateway
from caliper.pipeline.ledger.averages import PlannedAverages
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.planning.planner import Planner, Resumption
from caliper.pipeline.planning.publisher import (
    JUDGE_JOBS,
    QA_JOBS,
    RUNS,
    VERDICTS,
    JobMessage,
    publish_jobs,
)
from caliper.pipeline.planning.resolution import LocalStages
from caliper.pipeline.reports.report_files import ReportFiles, captions_of_run
from caliper.pipeline.store.plan import Captions, read_summary
from caliper.pipeline.store.runs import read_starts, run_store
from caliper.pipeline.store.supplies import save_caption
from caliper.pipeline.work.stage import Stage
from caliper.pipeline.work.worker import WorkerLimits
from caliper.ports.clock import Clock
from caliper.ports.stages import StopRule
from caliper.ports.storage import ReportSink
from caliper.ports.telemetry import SILENT
from caliper.ports.watcher import Watcher
from caliper.wiring.anchors import REPLAY
from caliper.wiring.grounds import Ground
from caliper.wiring.run_anchors import RunAnchors
from caliper.wiring.sinks import folder_thumbnails, lacks, plain_sinks, sinks
from caliper.wiring.stages import Checkpoint, ModelStages

_BOUNDS = Bounds(verdicts=500)
_TIMING = FollowerTiming(conclude=0.05, snapshot=2.0, patience=None, snapshots=False)
"""Verdicts reach the disk within two seconds, and a failing disk ends the run."""


class LocalRun:
    """One run, with its own gateway, planner, workers and aggregator.

    `known` is true if an earlier process left nothing to do; `jobs` is the number of jobs of this
    process.
    """

    def __init__(
        self,
        setup: RunSetup,
        directory: RunDirectory,
        watcher: Watcher,
        clock: Clock,
        decoders: DecoderOptions,
    ) -> None:
        self._setup, self._directory, self._watcher = setup, directory, watcher
        self._options = decoders
        self._stream = stream = MemoryStream(logs=(VERDICTS, RUNS), once=True)
        self._store = store = directory.store(setup.spec, setup.config.store)
        self._ground = Ground(store, stream, stream, IdentityCodec(), clock)
        files = ReportFiles(
            self._captions_of, self._sinks, directory.path, self._complete, plain_sinks
        )
        advance = None
        if setup.rule_of is not None:
            ways = partial(self._rule_of, setup.rule_of), self._known, self._publish_block
            advance = DrawnBlocks(self._ground.codec, *ways).advance
        outlets = Outlets(self._on_run_ended, _refuse, advance=advance, alone=True)
        self._board = Aggregator(store, self._ground.codec, clock, files, outlets, _BOUNDS)
        self._resumed, self._ended = asyncio.Event(), asyncio.Event()
        self._report: Report | None = None
        self._written: dict[str, dict[str, str]] = {}
        self._planned: Captions | None = None
        self._writing: CaptionWriter | None = None
        self.warnings: list[str] = []
        self.jobs, self.known = 0, False

    async def work(self) -> Report:
        """Run to the end, and write the report."""
        setup, run, ground = self._setup, self._setup.spec.run_id, self._ground
        store, stream, codec, supplies = ground.store, ground.stream, ground.codec, setup.supplies
        if not await self._is_finished(run):
            await self._directory.begin(setup.spec)
        # The run is resolved: no stage is asked for its models.
        gateway = Gateway(
            store, stream, codec, ground.clock, supplies, LocalStages({}), self._board, ground.runs
        )
        record, _ = await gateway.begin(setup.spec, setup.config.terms)
        if record.state in WHOLE_STATES:
            await self._resume(run, None)
            run_ledger = await self._ledger(run)
            captions = await self._captions_of(run_ledger)
            return await current_report(self._directory, run_ledger, captions)
        await self._work(Planner(store, stream, codec, ground.runs, supplies, self._resume))
        if self._report is None:
            message = "the run did not end; rerun the same command"
            raise InvalidInput(message, file=str(self._directory.path))
        if setup.models.captioners:
            self._directory.write_captions(await self._captions_of(await self._ledger(run)))
        return self._report

    async def _is_finished(self, run: str) -> bool:
        """Whether an earlier process wrote the last file, and its report covers all verdicts."""
        try:
            planned = self._directory.is_finished and await read_summary(
                run_store(self._store, run)
            )
            if not planned:
                return False
            run_ledger = await self._ledger(run)
        except DataLoss:
            return False
        return (
            run_ledger.end_state is None or run_ledger.reported_changes == run_ledger.ledger.changes
        )

    async def _ledger(self, run: str, start: int = 0) -> RunLedger:
        ledger = await self._board.table.find(run, start=start)
        if ledger is None:
            message = "the run cannot be read; rerun the same command"
            raise InvalidInput(message, file=str(self._directory.path))
        return ledger

    async def _resume(self, run: str, end: int | None) -> Resumption:
        """Report the progress of the planned run, and prepare for its missing jobs."""
        setup, directory, watcher = self._setup, self._directory, self._watcher
        starts = await read_starts(run_store(self._store, run))
        # Earlier releases did not count their starts: every one is new here.
        run_ledger = await self._ledger(run, starts.number + 1)
        if run_ledger.is_broken:  # Its plan could not be read, and was made again.
            self._board.table.drop(run)
            run_ledger = await self._ledger(run, starts.number + 1)
        # Not earlier: rows that cannot be planned will be fixed, and that makes it another run.
        directory.write_spec(run_ledger.spec, config_record(setup.config))
        averages, places = PlannedAverages(run_ledger.spec), setup.config.benchmarks.values()
        watcher.on_plan(run_ledger.summary, averages.lacking)
        plan = averages.reading(run_ledger.plan)
        texts = await warnings(run_ledger.spec, setup.supplies.captions, plan)
        for text in (*texts, *lacks(pictures=any(place.media is not None for place in places))):
            watcher.on_warning(text)
        for planned in run_ledger.summary.benchmarks:
            scored, unscored = run_ledger.ledger.count(planned.first, planned.questions)
            watcher.on_resume(planned.name, scored + sum(unscored.values()))
        if setup.models.captioners:
            known = await directory.captions(run_ledger)
            self._written = {name: dict(texts) for name, texts in known.items()}
        run_ledger.retry(end)
        # Its blocks are drawn for this start, which the plan announces.
        run_ledger.start = starts.number
        self.known = directory.is_finished and run_ledger.due_state is RunState.FINISHED
        if not self.known:
            await directory.begin(run_ledger.spec)
            directory.write_captions(await self._captions_of(run_ledger))
        self._resumed.set()
        return Resumption(run_ledger.ledger, self._written)

    async def _work(self, planner: Planner) -> None:
        if self._setup.models.captioners:
            check_library("PIL", "av")
        decoders, anchors = Decoders(self._options), self._anchors()
        plan = planning(planner, self._ground, self._note_jobs)
        try:
            await work(
                plan, self._stages(decoders, anchors), self._stream, self._follow, self._ended
            )
        finally:
            await anchors.close()
            await decoders.close()

    async def _rule_of(self, rule_of: CaptionedRuleOf, run: RunLedger) -> StopRule:
        """The rule that ends the run early, after all captions are written."""
        if self._writing is not None and self._setup.models.captioners:
            await self._writing.complete(run, self._captions)
        return await rule_of(run, self._captions)

    async def _known(
        self, _: RunSpec, samples: Iterable[tuple[str, str]]
    ) -> Mapping[tuple[str, str], str]:
        texts = self._captions
        pairs = ((each, texts.get(each[0], {}).get(each[1])) for each in samples)
        return {each: text for each, text in pairs if text is not None}

    async def _publish_block(self, _: RunLedger, jobs: AsyncIterator[JobMessage]) -> None:
        after = jobs if self._writing is None else self._writing.after(jobs)
        self.jobs += await publish_jobs(self._stream, after)

    def _note_jobs(self, published: int) -> None:
        self.jobs += published
        # The models have their first questions: there is time now.
        schedule_imports()

    def _stages(self, decoders: Decoders, anchors: RunAnchors) -> list[Stage]:
        setup, models, options = self._setup, self._setup.models, self._options
        answering = models.answering

        def warn(text: str) -> None:
            self.warnings.append(text)
            self._watcher.on_warning(text)

        async def spec_of(_: str, __: str) -> RunSpec:
            return setup.spec

        async def models_of(_: RunSpec, __: ExamineJob) -> Models:
            return answering

        def media_of(part: BenchmarkSpec) -> MediaFolder:
            root = setup.config.benchmarks[part.name].media_root
            return MediaFolder(root, decoders, part.preparation or Preparation())

        stages = ModelStages(
            self._ground,
            spec_of,
            SharedAllowances(self._store, "local", warn),
            WorkerLimits(setup.config.concurrency, models.room.access.retry_budget),
            examined=self._watcher.on_verdicts,
        )
        holding = MemoryLimit(options.held_bytes, options.workers)
        checkpoint = Checkpoint(models.captioners, models.pack, media_of, holding)
        self._writing = CaptionWriter(stages, checkpoint, self._keep_caption)
        examining = [stages.examining(name, models_of, anchors) for name in (JUDGE_JOBS, QA_JOBS)]
        return [stages.captioning(checkpoint, self._keep_caption), *examining]

    def _anchors(self) -> RunAnchors:
        access, choice = self._setup.models.room.access, self._setup.config.anchors
        for part in self._setup.spec.benchmarks if choice else ():
            if part.models[benchmark(part.name).role].kind == REPLAY:
                reason = "recorded replies do not answer anchors"
                self._watcher.on_warning(f"{part.name}: no judge check: {reason}")
        return RunAnchors(self._store, SILENT, access.timeout + access.retry_budget, choice=choice)

    async def _follow(self) -> None:
        # Earlier, a run that another process had ended would end again as it is.
        await self._resumed.wait()
        await Follower(self._board, self._ground.logs, self._ground.clock, _TIMING).run()

    async def _on_run_ended(self, _: RunEnded) -> None:
        self._ended.set()

    async def _keep_caption(self, job: CaptionJob, caption: Caption) -> Caption:
        caption = await save_caption(self._store, job.run, job.benchmark, caption)
        self._written.setdefault(job.benchmark, {})[caption.sample] = caption.plain
        self._watcher.on_caption(job.benchmark, job.sample)
        return caption

    @property
    def _captions(self) -> Captions:
        return {**self._written, **self._setup.supplies.captions}

    async def _captions_of(self, run: RunLedger) -> Captions:
        # Supplied captions stay as they are.
        if self._planned is None or self._setup.models.captioners:
            self._planned = await captions_of_run(self._texts_of, run)
        return self._planned

    async def _texts_of(self, _: str, part: BenchmarkSpec) -> Mapping[str, str]:
        return self._captions.get(part.name, {})

    def _complete(self, report: Report) -> Report:
        self._report = report
        return report

    def _sinks(self, spec: RunSpec, captions: Captions) -> Sequence[ReportSink]:
        places = self._setup.config.benchmarks
        roots = {part.name: places[part.name].media_root for part in spec.benchmarks}
        return sinks(captions, folder_thumbnails(roots))


def _refuse(kind: Trouble, text: str) -> None:
    """End the run: its own messages or store are unreadable."""
    raise (DataLoss if kind is Trouble.LOST else InvalidInput)(text)
