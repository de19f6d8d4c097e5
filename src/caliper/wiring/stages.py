"""The stages that take jobs from topics: what they are made of, for services and local runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from caliper.core.messages import CaptionJob, ExamineJob
from caliper.core.question import Source
from caliper.core.run import BenchmarkSpec, RunSpec
from caliper.pipeline.asking.captioner import Captioner
from caliper.pipeline.asking.examiner import Examiner, Models
from caliper.pipeline.asking.memory_limit import LimitedMedia, MemoryLimit
from caliper.pipeline.asking.token_budget import CappedChatModel, SharedAllowances
from caliper.pipeline.planning.publisher import CAPTION_JOBS
from caliper.pipeline.store.write_back import WriteBackBuffer
from caliper.pipeline.work.handlers import (
    CaptionHandler,
    ExamineHandler,
    OnRunFailure,
    OnVerdicts,
    SaveCaption,
    ignore_verdicts,
    raise_error,
)
from caliper.pipeline.work.stage import Stage
from caliper.pipeline.work.worker import WorkerLimits
from caliper.ports.media import Media
from caliper.ports.models import ChatModel
from caliper.ports.prompts import PromptPack
from caliper.ports.telemetry import SILENT, Telemetry
from caliper.wiring.grounds import Ground
from caliper.wiring.run_anchors import RunAnchors


@dataclass(frozen=True, slots=True)
class ModelStages:
    """Builds the stages that call models, and provides what they need for a job.

    `spec_of` takes a run and a benchmark and gives the run's spec, None if the job should be
    acknowledged without work. `failed` and `examined` are those of `ExamineHandler`.
    """

    ground: Ground
    spec_of: Callable[[str, str], Awaitable[RunSpec | None]]
    allowances: SharedAllowances
    limits: WorkerLimits
    telemetry: Telemetry = SILENT
    failed: OnRunFailure = raise_error
    examined: OnVerdicts = ignore_verdicts

    def examining(
        self,
        topic: str,
        models_of: Callable[[RunSpec, ExamineJob], Awaitable[Models]],
        anchors: RunAnchors,
    ) -> Stage:
        """The judge or reader that takes jobs from `topic`. `models_of` gives the models that
        answer a job. `anchors` are judged once for every run that is met.
        """
        store = WriteBackBuffer(self.ground.store)

        async def examiner_of(job: ExamineJob) -> Examiner | None:
            spec = await self.spec_of(job.run, job.benchmark)
            if spec is None:
                return None
            models = await models_of(spec, job)
            models = models.within(await self.allowances.of(job))
            if job.items[0].source is not Source.MEDIA:
                anchors.start_judgement(spec, job.benchmark, models)
            return Examiner(spec, models, store, self.telemetry)

        async def record_usage(job: ExamineJob | CaptionJob) -> None:
            await self.allowances.publish(job)
            if isinstance(job, ExamineJob):
                await anchors.wait_for_judgement(job)

        ground = self.ground
        handler = ExamineHandler(
            ground.stream, ground.codec, examiner_of, record_usage, self.examined, self.failed
        )
        handlers = (handler.handle, handler.give_up)
        return Stage(topic, handlers, ground.stream, ground.clock, self.limits, self.telemetry)

    def captioning(self, checkpoint: Checkpoint, keep: SaveCaption) -> Stage:
        """The captioner; `keep` is called with each caption before it is examined."""
        store = WriteBackBuffer(self.ground.store)

        async def captioner_of(job: CaptionJob) -> Captioner | None:
            spec = await self.spec_of(job.run, job.benchmark)
            if spec is None:
                return None
            media = checkpoint.media_of(spec.benchmark(job.benchmark))
            limited = LimitedMedia(media, checkpoint.memory_limit)
            model = checkpoint.models[job.benchmark]
            if (allowance := await self.allowances.of(job)) is not None:
                model = CappedChatModel(model, allowance)
            return Captioner(spec, model, checkpoint.pack, limited, store, self.telemetry)

        async def no_examiner(_: ExamineJob) -> None:
            return None

        ground = self.ground
        record_usage = self.allowances.publish
        examining = ExamineHandler(
            ground.stream, ground.codec, no_examiner, record_usage, self.examined, self.failed
        )
        handler = CaptionHandler(examining, captioner_of, keep)
        return Stage(
            CAPTION_JOBS,
            (handler.handle, handler.give_up),
            ground.stream,
            ground.clock,
            self.limits,
            self.telemetry,
        )


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The checkpoint under test: its models by benchmark, with their prompts. `media_of` gives the
    media of a benchmark of a run, and `memory_limit` bounds those in memory.
    """

    models: Mapping[str, ChatModel]
    pack: PromptPack
    media_of: Callable[[BenchmarkSpec], Media]
    memory_limit: MemoryLimit
