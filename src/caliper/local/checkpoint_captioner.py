"""Captions for suites of an installation, by checkpoints that are served for it.

They are written by the captioner's stage, and kept in the store under its keys: whatever ends a
process, the next one asks for none of them again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.media.decoders import Decoders
from caliper.adapters.media.preparation import InlineMedia
from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.identity_codec import IdentityCodec
from caliper.core.caption import Caption
from caliper.core.envelopes import Message
from caliper.core.errors import BackendUnavailable, InvalidInput
from caliper.core.messages import CaptionJob, ExamineJob, Verdicts
from caliper.core.outcome import Reason, Unscored
from caliper.core.preparation import Preparation
from caliper.core.run import BenchmarkSpec, RunSpec
from caliper.core.spending import Spending
from caliper.core.terms import Terms
from caliper.pipeline.asking.memory_limit import MemoryLimit
from caliper.pipeline.asking.token_budget import SharedAllowances
from caliper.pipeline.planning.planner import affordable_end, calls_of
from caliper.pipeline.planning.publisher import CAPTION_JOBS, RunJobs, jobs, publish_jobs
from caliper.pipeline.planning.resolution import EvaluationRequest, LocalStages, resolve
from caliper.pipeline.store.caption_overlay import CaptionOverlay
from caliper.pipeline.store.disk_spill import SpilledTexts, temporary_folder
from caliper.pipeline.store.plan import PlanReader, plan, read_plan
from caliper.pipeline.store.store_supplies import StoredSupplies
from caliper.pipeline.store.supplies import MediaIndex
from caliper.pipeline.work.worker import WorkerLimits, first_failure
from caliper.ports.models import ChatModel
from caliper.ports.prompts import PromptPack
from caliper.ports.stages import StageDescription
from caliper.ports.storage import ObjectStore
from caliper.wiring.grounds import Ground
from caliper.wiring.models import Access, ModelRoom
from caliper.wiring.prices import Prices, spending
from caliper.wiring.roles import StoredMedia
from caliper.wiring.stages import Checkpoint, ModelStages, Stage

_LOG = logging.getLogger(__name__)
_PAUSE = 1.0
"""Seconds between two tries while the store is down."""
_PASSING = {Reason.BACKEND, Reason.TIMEOUT}
_ROLES = ("captioner", "judge", "reader")
OnCaptions = Callable[[int, int], None]
"""Takes how many samples are done, and how many there are."""


@dataclass(slots=True)
class CheckpointCaptions:
    """The captions that a checkpoint wrote, by benchmark and sample. `lacking` counts the samples
    without one by reason, and `terms` are what is left of the caps for a run on the captions.
    """

    terms: Terms
    texts: Mapping[str, SpilledTexts]
    lacking: Counter[Reason] = field(default_factory=Counter)

    @property
    def shortfall(self) -> str:
        """Which captions are missing, for people; empty if none is."""
        told = ", ".join(f"{count:,} {reason}" for reason, count in sorted(self.lacking.items()))
        return f"samples without a caption: {told}" if told else ""

    def charge(self, tokens: int) -> None:
        """Take so many tokens off what is left."""
        if self.terms.tokens is not None:
            self.terms = replace(self.terms, tokens=max(1, self.terms.tokens - tokens))

    def check(self) -> None:
        """Raise an error, one that passes or not, if there is no caption at all."""
        if not any(self.texts.values()):
            passes = bool(self.lacking.keys() & _PASSING)
            message = self.shortfall or "budget.calls has no room for a caption and its questions"
            raise (BackendUnavailable if passes else InvalidInput)(message)


@dataclass(frozen=True, slots=True)
class CheckpointModels:
    """The SPECs of a checkpoint that is served, by benchmark, and its revision. Not every server
    gets the `token`.
    """

    specs: Mapping[str, str]
    revision: str
    token: bool


@dataclass(frozen=True, slots=True)
class CheckpointCaptioner:
    """Has checkpoints caption samples whose data and media are in the store. `access` says how
    checkpoints are reached, `pack` is what they are asked with, and `prices` what they cost.
    """

    ground: Ground
    access: Access
    pack: PromptPack
    decoders: Decoders
    memory_limit: MemoryLimit
    prices: Prices

    async def write(
        self,
        request: EvaluationRequest,
        served: CheckpointModels,
        on_captions: OnCaptions,
        pay: Callable[[Spending], None],
    ) -> CheckpointCaptions:
        """The captions that a request needs. `pay` is called with what they cost, in any case.

        Raises InvalidInput for a server of another revision, BackendError, ModelChanged, DataLoss,
        StoreUnavailable.
        """
        ground = self.ground
        access = self.access if served.token else replace(self.access, token=None)
        room = ModelRoom(access, ground.clock, ground.telemetry.stage("captioner"))
        supplies = StoredSupplies(ground.store, DatasetFiles)
        try:
            models = {name: await room.chat_model(spec) for name, spec in served.specs.items()}
            _check_revision(models, served.revision)
            spec = await resolve(_captioned(request, models), supplies, self._stages(models))
            with temporary_folder("caliper-captions-") as folder:
                own = DirectoryStore(folder)
                async with supplies.sources(spec) as sources:
                    summary = await plan(spec, sources, own)
                writing = _Writing(spec, partial(read_plan, own, summary), on_captions)
                await writing.run(request.terms, partial(self._stage, spec, models, own))
            captions = writing.captions
            captions.check()
            captions.charge(spending(room.costs, {}).tokens)
            return captions
        finally:
            cost = spending(room.costs, self.prices)
            # Tokens of the run are counted with a cap only: half of a sum would be none.
            pay(cost if request.terms.tokens is not None else Spending(cost.calls))
            await room.close()

    def _stages(self, models: Mapping[str, ChatModel]) -> LocalStages:
        """Stages of which only the captioner's is used: the others stand for models that are called
        once a question, as calls are counted.
        """
        identities = {f"{name}/captioner": model.identity for name, model in models.items()}
        other = next(iter(identities.values()))
        identities |= dict.fromkeys((*_ROLES, "tagger", "embedder"), other)
        return LocalStages(dict.fromkeys(_ROLES, StageDescription(identities, self.pack.digest)))

    def _stage(
        self, spec: RunSpec, models: Mapping[str, ChatModel], own: ObjectStore, writing: _Writing
    ) -> Stage:
        store, index = self.ground.store, MediaIndex(self.ground.store, self.ground.clock)
        overlay = CaptionOverlay(store, own)

        async def spec_of(_: str, __: str) -> RunSpec:
            return spec

        def media_of(part: BenchmarkSpec) -> StoredMedia:
            inline = InlineMedia(self.decoders, part.preparation or Preparation())
            return StoredMedia(store, index, part.data, inline)

        ground = Ground(overlay, writing.stream, writing.stream, IdentityCodec(), self.ground.clock)
        in_flight, budget = self.access.in_flight, self.access.retry_budget
        stages = ModelStages(
            ground,
            spec_of,
            SharedAllowances(overlay, "suites", _LOG.warning),
            # More jobs than calls keep the model busy while others are read or saved.
            WorkerLimits(in_flight + in_flight // 2, budget, pause=_PAUSE),
            examined=writing.note_failure,
        )
        checkpoint = Checkpoint(models, self.pack, media_of, self.memory_limit)
        return stages.captioning(checkpoint, writing.keep)


class _CaptionStream(MemoryStream):
    """A stream of caption-jobs. What follows on them is left to the run that gets the captions."""

    async def publish(self, message: Message) -> None:
        if message.topic == CAPTION_JOBS:
            await super().publish(message)


class _Writing:
    """The captions of one plan, while they are written."""

    def __init__(self, spec: RunSpec, shards: PlanReader, on_captions: OnCaptions) -> None:
        self._spec, self._shards, self._tell = spec, shards, on_captions
        self._samples = self._done = 0
        texts = {part.name: SpilledTexts() for part in spec.benchmarks}
        self.captions = CheckpointCaptions(Terms(), texts)
        self.stream = _CaptionStream()

    async def run(self, terms: Terms, stage_of: Callable[[_Writing], Stage]) -> None:
        """Write all captions that the terms have room for."""
        end = None
        if terms.calls is not None:
            end = await affordable_end(self._spec, self._shards, terms.calls)
        asked = await self._count(end)
        left = None if terms.calls is None else max(1, asked)
        self.captions.terms = replace(terms, calls=left)
        self._tell(0, self._samples)
        found = RunJobs(self._spec.run_id, IdentityCodec(), {}, terms.token_cap(1)).of(
            self._shards,
            {part.name: part.checkpoint_sources for part in self._spec.benchmarks},
            end=end,
        )
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(stage_of(self).worker().run())
                await publish_jobs(self.stream, found)
                await self.stream.close_topic(CAPTION_JOBS)
        except BaseExceptionGroup as failures:
            raise first_failure(failures) from None

    async def _count(self, end: int | None) -> int:
        """Count the samples before an index of the plan. Returns how many calls their questions
        need.
        """
        asked = 0
        async for items in self._shards():
            for job in jobs([item for item in items if end is None or item.first < end]):
                self._samples += 1
                asked += calls_of(self._spec, job) - 1
        return asked

    async def keep(self, job: CaptionJob, caption: Caption) -> None:
        """Keep a caption."""
        self.captions.texts[job.benchmark].update([(caption.sample, caption.plain)])
        self._note()

    def note_failure(self, _: ExamineJob, verdicts: Verdicts) -> None:
        """Note a sample whose caption could not be had."""
        outcomes = (verdict.outcome for verdict in verdicts.verdicts)
        reasons = (each.reason for each in outcomes if isinstance(each, Unscored))
        self.captions.lacking[next(reasons, Reason.INTERNAL)] += 1
        self._note()

    def _note(self) -> None:
        self._done += 1
        self._tell(self._done, self._samples)


def _captioned(request: EvaluationRequest, models: Mapping[str, ChatModel]) -> EvaluationRequest:
    """The request, as one for captions alone."""
    no_media: dict[str, Any] = {"qa_data": None, "qa_replies": None, "media": ""}
    parts = (
        replace(part, captioner=models[part.name].identity.name, answerers={}, **no_media)
        for part in request.benchmarks
    )
    return replace(request, benchmarks=tuple(parts), judging=None)


def _check_revision(models: Mapping[str, ChatModel], revision: str) -> None:
    for name, model in models.items():
        if model.identity.revision != revision:
            message = f"the server has {model.identity.label}, not revision {revision}"
            raise InvalidInput(message, field=f"benchmarks.{name}.captioner")
