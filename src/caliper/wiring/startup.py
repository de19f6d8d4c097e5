"""Starts services: each in its own process, or all in one."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TypeVar
from urllib.parse import urlsplit

import uvloop

from caliper.adapters.models.retries import RETRYABLE
from caliper.adapters.remote.stages import RemoteScores, RemoteStages
from caliper.adapters.trust import tls_context
from caliper.core.errors import CaliperError, InvalidInput
from caliper.pipeline.gateway.retention import purge_daily
from caliper.pipeline.planning.resolution import LocalStages
from caliper.pipeline.suites.kept_runs import runs_of_suites
from caliper.pipeline.work.idle_stages import IdleStages
from caliper.ports.stages import StageDescription, StageDirectory
from caliper.serving.addresses import Address
from caliper.serving.calls import remaining_seconds
from caliper.serving.grpc_server import ServerOptions
from caliper.serving.lifecycle import ServiceParts, ServiceRun, merge_parts
from caliper.serving.metrics import metrics_parts
from caliper.serving.peer_certificates import certificate_parts
from caliper.wiring.aggregators import aggregator_parts
from caliper.wiring.gateway_options import GatewayOptions
from caliper.wiring.grounds import Ground, ground_of
from caliper.wiring.kafka_settings import StreamSettings
from caliper.wiring.memory import collect_seldom, limit_arenas
from caliper.wiring.service_settings import (
    AggregatorSettings,
    CaptionerSettings,
    GatewaySettings,
    JudgeSettings,
    QaReaderSettings,
    ServerSettings,
    StoreSettings,
)
from caliper.wiring.services import (
    captioner_parts,
    gateway_parts,
    open_answerer_parts,
)
from caliper.wiring.settings import read_settings

_LOG = logging.getLogger(__name__)
DEFECT, BAD_INPUT, SURROUNDINGS = 1, 2, 4
# Seconds between two checks of stages that may be scaled to zero.
_AWAKE = 30.0
# Seconds between attempts to open a model; each attempt has its own retries.
_PAUSE = 5.0
AnySettings = TypeVar("AnySettings", bound=ServerSettings)


async def judge(settings: JudgeSettings) -> ServiceParts:
    """A judge in its own process."""
    ground = ground_of(settings, settings)
    language = (settings.tagger, settings.embedder)
    parts = loaded_later(lambda: open_answerer_parts("judge", settings, ground, language))
    return with_metrics(parts, ground, settings)


async def qa_reader(settings: QaReaderSettings) -> ServiceParts:
    """A QA reader in its own process."""
    ground = ground_of(settings, settings)
    parts = loaded_later(lambda: open_answerer_parts("reader", settings, ground))
    return with_metrics(parts, ground, settings)


async def captioner(settings: CaptionerSettings) -> ServiceParts:
    """A captioner in its own process."""
    ground = ground_of(settings, settings)
    parts = loaded_later(lambda: captioner_parts(settings, ground))
    return with_metrics(parts, ground, settings)


def loaded_later(
    opening: Callable[[], Awaitable[tuple[ServiceParts, StageDescription]]], pause: float = _PAUSE
) -> ServiceParts:
    """Parts that open once their model answers; retried every `pause` seconds. A model server may
    take half an hour to load: until then the service is up but not ready.
    """

    async def opened() -> ServiceParts:
        reason = ""
        while True:
            try:
                parts, _ = await opening()
            except RETRYABLE as error:
                last, reason = reason, f"{type(error).__name__}: {error}"
                if reason != last:
                    _LOG.warning("waiting for the model: %s", reason)
                await asyncio.sleep(pause)
            else:
                return parts

    return ServiceParts((), later=(opened,))


async def aggregator(settings: AggregatorSettings) -> ServiceParts:
    """The aggregator in its own process."""
    ground = ground_of(settings, settings)
    parts, _ = aggregator_parts(ground, settings.media_limits(), signatures=settings.signatures())
    return with_metrics(parts, ground, settings)


async def gateway(settings: GatewaySettings) -> ServiceParts:
    """The gateway in its own process."""
    addresses = {
        "captioner": ("captioner", settings.captioner),
        "judge": ("judge", settings.judge),
        "reader": ("qa_reader", settings.qa_reader),
    }
    targets = {
        role: settings.peer(service, address)
        for role, (service, address) in addresses.items()
        if address is not None
    }
    stages = RemoteStages(targets, remaining_seconds)
    scores = RemoteScores(settings.peer("aggregator", settings.aggregator), remaining_seconds)
    ground = ground_of(settings, settings)
    closing = ServiceParts((), close=(stages.close, scores.close))
    directory: StageDirectory = stages
    if settings.stages_sleep:
        directory = idle = IdleStages(stages, ground.store)
        closing = replace(closing, tasks=(lambda: idle.follow(targets, _AWAKE),))
    parts = [gateway_parts(ground, directory, scores, GatewayOptions.of(settings))]
    if (days := settings.retention_days) is not None and ground.whole is not None:
        cleaning = partial(purge_daily, ground.whole, days, ground.clock, runs_of_suites)
        parts.append(ServiceParts((), tasks=(cleaning,)))
    return with_metrics(merge_parts([*parts, closing]), ground, settings)


def with_metrics(parts: ServiceParts, ground: Ground, settings: ServerSettings) -> ServiceParts:
    """The service, with its metrics served at the address in its settings."""
    metrics = metrics_parts(ground.telemetry, settings.metrics(), settings.tls_certificate)
    metrics = replace(metrics, telemetry=ground.telemetry)
    return merge_parts([parts, metrics, *peer_parts(settings, ground)])


def peer_parts(settings: ServerSettings, ground: Ground) -> Iterator[ServiceParts]:
    """Parts that read the certificates of the brokers and the store."""
    observers = ground.telemetry, ground.clock
    if isinstance(settings, StreamSettings) and settings.kafka:
        brokers = [Address.parse(server) for server in settings.kafka.split(",")]
        if tls := settings.security(brokers).tls:
            yield certificate_parts("kafka", brokers, tls.context(), *observers)
    if isinstance(settings, StoreSettings) and settings.store.startswith("https://"):
        url = urlsplit(settings.store)
        store = Address(url.hostname or "", url.port or 443)
        yield certificate_parts("store", [store], tls_context(settings.store_ca), *observers)


def start(kind: type[AnySettings], build: Callable[[AnySettings], Awaitable[ServiceParts]]) -> int:
    """Run a service with settings from the environment until SIGTERM. Returns its exit code."""
    limit_arenas()
    collect_seldom()

    async def run(settings: AnySettings) -> None:
        await serve(settings.server(), await build(settings), partial(_LOG.info, "serving on %s"))

    try:
        settings = read_settings(kind)
        settings.configure_log()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run(settings))
    except CaliperError as error:
        _LOG.critical("%s", error)
        return BAD_INPUT if isinstance(error, InvalidInput) else SURROUNDINGS
    except Exception:  # noqa: BLE001 - a defect's traceback is a record as well
        _LOG.critical("the service ended in an internal error", exc_info=True)
        return DEFECT
    _LOG.info("stopped cleanly")
    return 0


async def all_services(
    ground: Ground,
    judge: JudgeSettings,
    qa_reader: QaReaderSettings,
    captioner: CaptionerSettings | None,
    options: GatewayOptions | None = None,
) -> ServiceParts:
    """All services in one process, behind one port, with the options of the gateway.

    Raises what opening their models raises.
    """
    options = options or GatewayOptions()
    language = (judge.tagger, judge.embedder)
    judge_parts, judge_description = await open_answerer_parts("judge", judge, ground, language)
    reader_parts, reader_description = await open_answerer_parts("reader", qa_reader, ground)
    descriptions = {"judge": judge_description, "reader": reader_description}
    parts = [judge_parts, reader_parts]
    if captioner is not None:
        captioner_part, descriptions["captioner"] = await captioner_parts(captioner, ground)
        parts.append(captioner_part)
    aggregator_part, board = aggregator_parts(ground, options.media_limits, options.ownership)
    gateway_part = gateway_parts(ground, LocalStages(descriptions), board, options)
    return merge_parts([*parts, aggregator_part, gateway_part])


async def serve(
    options: ServerOptions, parts: ServiceParts, started: Callable[[Address], None]
) -> None:
    """Run services in one process until SIGTERM or Ctrl-C; call `started` once they listen, with
    their address.
    """
    running, loop = ServiceRun(options, parts), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, running.stopping.set)

    async def announce() -> None:
        await running.started.wait()
        started(running.server.address)

    announcement = asyncio.ensure_future(announce())
    try:
        await running.run()
    finally:
        announcement.cancel()
