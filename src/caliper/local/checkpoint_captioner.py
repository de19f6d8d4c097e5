"""Captions for an installation's suites, written by checkpoints that are served for this.

The captioner's stage writes them and stores them under its keys: whatever ends a process, the next
one requests none of them again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.media.decoders import Decoders
from caliper.adapters.media.preparation import InlineMedia
from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.wire.identity_codec import IdentityCodec
from caliper.core.errors import InvalidInput
from caliper.core.preparation import Preparation
from caliper.core.run import BenchmarkSpec, RunSpec
from caliper.core.spending import Spending
from caliper.local.caption_passes import CaptionPasses, CheckpointCaptions, OnCaptions
from caliper.pipeline.asking.memory_limit import MemoryLimit
from caliper.pipeline.asking.token_budget import SharedAllowances
from caliper.pipeline.planning.resolution import EvaluationRequest, LocalStages, resolve
from caliper.pipeline.store.caption_overlay import CaptionOverlay
from caliper.pipeline.store.dataset_pushes import with_media
from caliper.pipeline.store.disk_spill import temporary_folder
from caliper.pipeline.store.media_index import MediaIndex
from caliper.pipeline.store.owners import Ownership
from caliper.pipeline.store.plan import plan, read_plan
from caliper.pipeline.store.store_supplies import StoredSupplies
from caliper.pipeline.work.stage import Stage
from caliper.pipeline.work.worker import WorkerLimits
from caliper.ports.models import ChatModel
from caliper.ports.prompts import PromptPack
from caliper.ports.stages import StageDescription
from caliper.ports.storage import ObjectStore
from caliper.wiring.endpoint_tokens import EndpointTokens
from caliper.wiring.grounds import Ground
from caliper.wiring.models import Access, ModelRoom
from caliper.wiring.prices import Prices, spending
from caliper.wiring.roles import StoredMedia
from caliper.wiring.stages import Checkpoint, ModelStages

_LOG = logging.getLogger(__name__)
_PAUSE = 1.0
"""Seconds between attempts while the store is down."""
_ROLES = ("captioner", "judge", "reader")


@dataclass(frozen=True, slots=True)
class CheckpointModels:
    """The SPECs of a served checkpoint, by benchmark, and its revision. `token` says whether its
    server gets the token.
    """

    specs: Mapping[str, str]
    revision: str
    token: bool


@dataclass(frozen=True, slots=True)
class CheckpointCaptioner:
    """Has checkpoints caption samples whose data and media are in the store. `access` says how to
    reach checkpoints; `pack` has the prompts. `ownership` says whose data and media may be shown.
    """

    ground: Ground
    access: Access
    pack: PromptPack
    decoders: Decoders
    memory_limit: MemoryLimit
    prices: Prices
    ownership: Ownership = field(default_factory=Ownership)

    async def write(
        self,
        request: EvaluationRequest,
        served: CheckpointModels,
        on_captions: OnCaptions,
        pay: Callable[[Spending], None],
    ) -> CheckpointCaptions:
        """The captions that a request needs. `pay` is called with their cost in any case.

        Raises InvalidInput for a server of another revision, BackendError, ModelChanged, DataLoss,
        StoreUnavailable.
        """
        ground = self.ground
        access = self.access if served.token else replace(self.access, tokens=EndpointTokens())
        room = ModelRoom(access, ground.clock, ground.telemetry.stage("captioner"))
        supplies = StoredSupplies(ground.store, DatasetFiles, self.ownership)
        try:
            models = {name: await room.chat_model(spec) for name, spec in served.specs.items()}
            _check_revision(models, served.revision)
            spec = await resolve(_captioned(request, models), supplies, self._stages(models))
            spec = await with_media(spec, ground.store, self.ownership)
            with temporary_folder("caliper-captions-") as folder:
                own = DirectoryStore(folder)
                async with supplies.sources(spec) as sources:
                    summary = await plan(spec, sources, own)
                writing = CaptionPasses(spec, partial(read_plan, own, summary), on_captions)
                await writing.run(request.terms, partial(self._stage, spec, models, own))
            captions = writing.captions
            captions.check()
            captions.charge(spending(room.costs, {}).tokens)
            return captions
        finally:
            cost = spending(room.costs, self.prices)
            # The run's tokens are only counted under a cap: half of a sum would be none.
            pay(cost if request.terms.tokens is not None else Spending(cost.calls))
            await room.close()

    def _stages(self, models: Mapping[str, ChatModel]) -> LocalStages:
        """Stages of which only the captioner's is used. The others stand in for models that are
        called once per question, as calls are counted.
        """
        identities = {f"{name}/captioner": model.identity for name, model in models.items()}
        other = next(iter(identities.values()))
        identities |= dict.fromkeys((*_ROLES, "tagger", "embedder"), other)
        return LocalStages(dict.fromkeys(_ROLES, StageDescription(identities, self.pack.digest)))

    def _stage(
        self,
        spec: RunSpec,
        models: Mapping[str, ChatModel],
        own: ObjectStore,
        writing: CaptionPasses,
    ) -> Stage:
        store, index = self.ground.store, MediaIndex(self.ground.store, self.ground.clock)
        overlay = CaptionOverlay(store, own)

        async def spec_of(_: str, __: str) -> RunSpec:
            return spec

        def media_of(part: BenchmarkSpec) -> StoredMedia:
            inline = InlineMedia(self.decoders, part.preparation or Preparation())
            return StoredMedia(store, index, part.data, inline, part.media)

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


def _captioned(request: EvaluationRequest, models: Mapping[str, ChatModel]) -> EvaluationRequest:
    """The request, reduced to captions."""
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
