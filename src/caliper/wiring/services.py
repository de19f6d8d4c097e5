"""Assembles each service: its servicer, its stage and its checks."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.media.decoders import Decoders
from caliper.adapters.media.preparation import InlineMedia
from caliper.adapters.packs.files import open_pack
from caliper.adapters.trust import tls_context
from caliper.benchmarks.registry import all_names
from caliper.core.caption import Caption
from caliper.core.errors import InvalidInput, NotFound
from caliper.core.messages import CaptionJob, ExamineJob, MessageValue
from caliper.core.preparation import Preparation
from caliper.core.question import Source
from caliper.core.run import BenchmarkSpec, RunSpec
from caliper.lazy import check_library, lazy_module
from caliper.pipeline.aggregation.looks import Looks
from caliper.pipeline.asking.examiner import Models
from caliper.pipeline.asking.memory_limit import MemoryLimit
from caliper.pipeline.asking.team_budget import TeamBudgets
from caliper.pipeline.asking.token_budget import SharedAllowances
from caliper.pipeline.comparing.comparer import Comparer
from caliper.pipeline.gateway.backlog_meter import BacklogMeter
from caliper.pipeline.gateway.gateway import Gateway
from caliper.pipeline.gateway.lost_starts import LostStarts
from caliper.pipeline.planning.planner import Planner
from caliper.pipeline.planning.publisher import JUDGE_JOBS, PLAN_JOBS, QA_JOBS
from caliper.pipeline.reports.run_reader import RunReader
from caliper.pipeline.store.caption_book import CaptionBook
from caliper.pipeline.store.media_index import MediaIndex
from caliper.pipeline.store.owners import TeamRuns
from caliper.pipeline.store.packer import Packer
from caliper.pipeline.store.plan import Captions
from caliper.pipeline.store.store_supplies import StoredSupplies
from caliper.pipeline.store.supplies import save_caption
from caliper.pipeline.store.team_quotas import TeamQuotas
from caliper.pipeline.suites.administration import Administration
from caliper.pipeline.suites.team_suites import TeamSuites
from caliper.pipeline.work.stage import Stage
from caliper.pipeline.work.worker import Attempt, WorkerLimits
from caliper.ports.stages import ScoreBoard, StageDescription, StageDirectory
from caliper.ports.storage import ReportSink
from caliper.ports.telemetry import SILENT
from caliper.serving import adhoc, captioner, gateway, suites
from caliper.serving.grpc_server import Service
from caliper.serving.lifecycle import ServiceParts, merge_parts, store_check
from caliper.serving.page_sources import PageSources
from caliper.serving.peer_certificates import certificate_parts
from caliper.wiring.endpoint_settings import EndpointSettings, ExaminerSettings
from caliper.wiring.gateway_options import GatewayOptions
from caliper.wiring.grounds import Ground
from caliper.wiring.models import ModelRoom
from caliper.wiring.pictures import StoredPictures
from caliper.wiring.recordings import Recordings
from caliper.wiring.roles import JobFilter, RoleModels, StoredMedia
from caliper.wiring.run_anchors import RunAnchors
from caliper.wiring.service_settings import CaptionerSettings
from caliper.wiring.sinks import sink_of
from caliper.wiring.stages import Checkpoint, ModelStages

if TYPE_CHECKING:
    from caliper.serving import pages
else:
    pages = lazy_module("caliper.serving.pages")

_LOG = logging.getLogger(__name__)
_CONCURRENT_PLANS = 16
_PAUSE = 1.0
"""Seconds between two tries while store or stream are down."""
_TOPICS = {"judge": JUDGE_JOBS, "reader": QA_JOBS}
_STAGES = {"judge": "judge", "reader": "qa_reader"}


async def open_answerer_parts(
    role: str, settings: ExaminerSettings, ground: Ground, language: tuple[str, str] | None = None
) -> tuple[ServiceParts, StageDescription]:
    """A judge (role judge) or a QA reader (role reader), with its description; `language` names
    the tagger and the embedder.

    Raises what `RoleModels.open` raises.
    """
    pack = open_pack(settings.pack)
    telemetry = ground.telemetry.stage(_STAGES[role])
    room = ModelRoom(settings.access(), ground.clock, telemetry)
    try:
        answering = await RoleModels.open(role, settings.model, pack, room, language)
    except BaseException:
        await room.close()
        raise
    parts = answerer_parts(answering, settings, ground)
    checks = {f"{role}'s model": room.check} if room.calls_endpoints else {}
    opened = ServiceParts((), checks=checks, close=(room.close,))
    parts = merge_parts([parts, opened, _model_certificates(room, settings, ground)])
    return parts, StageDescription(answering.identities, pack.digest)


def _model_certificates(
    room: ModelRoom, settings: EndpointSettings, ground: Ground
) -> ServiceParts:
    context = tls_context(settings.model_ca)
    return certificate_parts("model", room.encrypted, context, ground.telemetry, ground.clock)


def answerer_parts(
    role_models: RoleModels, settings: ExaminerSettings, ground: Ground
) -> ServiceParts:
    """A judge or a QA reader with models that are already open; the caller closes them."""
    role, pack = role_models.role, role_models.pack
    gate = JobFilter(role_models.identities, pack.digest, ground.runs, ground.stream, ground.codec)
    # The longest time that a job may take.
    patience = settings.timeout + settings.retry_budget
    choice = None if settings.anchors else False
    anchors = RunAnchors(ground.store, ground.telemetry, patience, choice=choice)
    recordings = Recordings(ground.store)

    async def models_of(spec: RunSpec, job: ExamineJob) -> Models:
        models = role_models(spec.sampling_seed)
        if job.items[0].source is not Source.MEDIA:
            return models
        media = await recordings.answerer(spec, job.benchmark)
        return replace(models, answerers={f"{job.benchmark}/media": media})

    stages = _stages(ground, gate, settings, _STAGES[role])
    stage = stages.examining(_TOPICS[role], models_of, anchors)
    kind = adhoc.JudgeServicer if role == "judge" else adhoc.QaReaderServicer
    servicer = kind(role_models, role_models.identities[role], pack.digest)
    return ServiceParts(
        services=(Service(servicer.contract, servicer),),
        workers=(stage,),
        checks={"store": store_check(ground.store)},
        close=(anchors.close, *ground.close),
    )


async def captioner_parts(
    settings: CaptionerSettings, ground: Ground
) -> tuple[ServiceParts, StageDescription]:
    """The captioner, with its description. Raises what `ModelRoom.chat_model` raises, and
    InvalidInput where the libraries that read media are missing.
    """
    check_library("PIL", "av")
    pack = open_pack(settings.pack)
    telemetry = ground.telemetry.stage("captioner")
    room = ModelRoom(settings.access(), ground.clock, telemetry)
    model = await room.chat_model(settings.model)
    options = settings.decoders()
    decoders, holding = Decoders(options), MemoryLimit(options.held_bytes, options.workers)
    identities = {"captioner": model.identity}
    gate = JobFilter(identities, pack.digest, ground.runs, ground.stream, ground.codec)
    index = MediaIndex(ground.store, ground.clock)

    def media_of(part: BenchmarkSpec) -> StoredMedia:
        inline = InlineMedia(decoders, part.preparation or Preparation())
        return StoredMedia(ground.store, index, part.data, inline, part.media)

    async def keep(job: CaptionJob, caption: Caption) -> Caption:
        return await save_caption(ground.store, job.run, job.benchmark, caption)

    checkpoint = Checkpoint(dict.fromkeys(all_names(), model), pack, media_of, holding)
    stage = _stages(ground, gate, settings, "captioner").captioning(checkpoint, keep)
    media = InlineMedia(decoders, Preparation())
    servicer = captioner.CaptionerServicer(model, pack, ground.store, media)
    parts = ServiceParts(
        services=(Service(servicer.contract, servicer),),
        workers=(stage,),
        checks={"store": store_check(ground.store), "captioner's model": room.check},
        close=(*ground.close, room.close, decoders.close),
    )
    parts = merge_parts([parts, _model_certificates(room, settings, ground)])
    return parts, StageDescription(identities, pack.digest)


def plan_stage(ground: Ground, planner: Planner) -> Stage:
    """The planner's work on plan-jobs, most of which wait for their turns."""

    async def plan(attempt: Attempt) -> None:
        await planner.plan(ground.codec.read_plan_job(attempt.data))

    async def give_up(data: MessageValue, error: BaseException) -> None:
        _LOG.error("a plan job became a dead letter: %s", error)
        with suppress(InvalidInput, NotFound):
            await planner.give_up(ground.codec.read_plan_job(data), error)

    limits = WorkerLimits(_CONCURRENT_PLANS, pause=_PAUSE)
    telemetry = ground.telemetry.stage("gateway")
    return Stage(PLAN_JOBS, (plan, give_up), ground.stream, ground.clock, limits, telemetry)


def gateway_parts(
    ground: Ground,
    stages: StageDirectory,
    scores: ScoreBoard,
    options: GatewayOptions | None = None,
) -> ServiceParts:
    """The gateway with the planner, and with web pages if the options give them an address."""
    options = options or GatewayOptions()
    ownership = options.ownership
    runs = TeamRuns(ground.store, ground.clock, ownership)
    supplies = StoredSupplies(ground.store, DatasetFiles, ownership)
    quotas = TeamQuotas(ground.store, ground.clock, ownership, options.quotas)
    shared = (ground.store, ground.stream, ground.codec, ground.clock)
    core = Gateway(*shared, supplies, stages, scores, runs, ownership, quotas)
    stage = plan_stage(ground, Planner(ground.store, ground.stream, ground.codec, runs, supplies))
    index = MediaIndex(ground.store, ground.clock)
    pictures = StoredPictures(ground.store, index, options.media_limits)

    def file_of(spec: RunSpec, texts: Captions, file: str) -> Sequence[ReportSink]:
        return sink_of(file, texts, pictures(spec))

    reader = RunReader(ground.store, runs, ground.clock, file_of)
    comparer = Comparer(ground.store, runs, pictures)
    looks = Looks(ground.store, runs, ModelRoom.rules())
    servicer = gateway.GatewayServicer(
        core, reader, comparer, looks, ground.store, ownership, quotas, ground.telemetry
    )
    administration = Administration(TeamSuites(ground.store, ground.clock, ownership))
    parts = ServiceParts(
        services=(Service(servicer.contract, servicer), *suites.services(administration)),
        workers=(stage,),
        tasks=_gateway_tasks(ground, core),
        checks={"store": store_check(ground.store)},
        close=(comparer.close, *ground.close),
    )
    if options.page is None:
        return parts
    captions = CaptionBook(ground.store)
    sources = PageSources(
        *(core, reader, comparer, runs, ground.store, captions, index.has, pictures),
        suites=administration,
    )
    return merge_parts([parts, pages.page_parts(options.page, sources)])


def _gateway_tasks(ground: Ground, core: Gateway) -> tuple[Callable[[], Awaitable[None]], ...]:
    tasks = [LostStarts(core, ground.stream, ground.codec, ground.clock).run]
    if ground.whole is not None:
        tasks.append(Packer(ground.whole, ground.clock).run)
    if ground.telemetry is not SILENT:
        tasks.append(BacklogMeter(ground.stream, ground.clock, ground.telemetry).run)
    return tuple(tasks)


def _stages(ground: Ground, gate: JobFilter, settings: EndpointSettings, name: str) -> ModelStages:
    # The budgets of capped runs, and of teams, are shared with all other workers.
    process = secrets.token_hex(8)
    teams = TeamBudgets(ground.store, ground.clock, process)
    allowances = SharedAllowances(ground.store, process, _LOG.warning, teams)
    # More jobs than calls keep the model busy while others are read, saved or published. The limit
    # of concurrent calls stays as set.
    jobs = settings.in_flight + settings.in_flight // 2
    limits = WorkerLimits(in_flight=jobs, budget=settings.retry_budget, pause=_PAUSE)
    telemetry = ground.telemetry.stage(name)
    return ModelStages(ground, gate.spec, allowances, limits, telemetry, gate.fail)
