"""Starting services: each in a process of its own, or all of them in one."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

import uvloop

from caliper.adapters.remote.stages import RemoteScores, RemoteStages
from caliper.core.errors import CaliperError, InvalidInput
from caliper.pipeline.planning.resolution import LocalStages
from caliper.pipeline.work.idle_stages import SleepingStages
from caliper.ports.stages import StageDirectory
from caliper.serving.addresses import Address
from caliper.serving.calls import remaining_of_call
from caliper.serving.grpc_server import ServerOptions
from caliper.serving.lifecycle import ServiceParts, ServiceRun, together, until_told
from caliper.serving.metrics import metrics_parts
from caliper.wiring.grounds import Ground, ground_of
from caliper.wiring.memory import give_back
from caliper.wiring.service_settings import (
    AggregatorSettings,
    CaptionerSettings,
    GatewaySettings,
    JudgeSettings,
    QaReaderSettings,
    ServerSettings,
)
from caliper.wiring.services import (
    aggregator_parts,
    captioner_parts,
    examining_parts,
    gateway_parts,
)
from caliper.wiring.settings import read_settings

_LOG = logging.getLogger(__name__)
BAD_INPUT, SURROUNDINGS = 2, 4
# Seconds between two looks at stages that may fall asleep.
_AWAKE = 30.0
Chosen = TypeVar("Chosen", bound=ServerSettings)


async def judge(settings: JudgeSettings) -> ServiceParts:
    """A judge in a process of its own."""
    ground = ground_of(settings, settings)
    language = (settings.tagger, settings.embedder)
    parts, _ = await examining_parts("judge", settings, ground, language)
    return measured(parts, ground, settings)


async def qa_reader(settings: QaReaderSettings) -> ServiceParts:
    """A QA reader in a process of its own."""
    ground = ground_of(settings, settings)
    parts, _ = await examining_parts("reader", settings, ground)
    return measured(parts, ground, settings)


async def captioner(settings: CaptionerSettings) -> ServiceParts:
    """A captioner in a process of its own."""
    ground = ground_of(settings, settings)
    parts, _ = await captioner_parts(settings, ground)
    return measured(parts, ground, settings)


async def aggregator(settings: AggregatorSettings) -> ServiceParts:
    """The aggregator in a process of its own."""
    ground = ground_of(settings, settings)
    parts, _ = aggregator_parts(ground)
    return measured(parts, ground, settings)


async def gateway(settings: GatewaySettings) -> ServiceParts:
    """The gateway in a process of its own."""
    given = {
        "captioner": ("captioner", settings.captioner),
        "judge": ("judge", settings.judge),
        "reader": ("qa_reader", settings.qa_reader),
    }
    targets = {
        role: settings.peer(service, place)
        for role, (service, place) in given.items()
        if place is not None
    }
    stages = RemoteStages(targets, remaining_of_call)
    scores = RemoteScores(settings.peer("aggregator", settings.aggregator), remaining_of_call)
    ground = ground_of(settings, settings)
    closing = ServiceParts((), close=(stages.close, scores.close))
    directory: StageDirectory = stages
    if settings.stages_sleep:
        directory = sleeping = SleepingStages(stages, ground.store)
        closing = replace(closing, tasks=(lambda: sleeping.follow(targets, _AWAKE),))
    parts = gateway_parts(ground, directory, scores, settings.page())
    return measured(together([parts, closing]), ground, settings)


def measured(parts: ServiceParts, ground: Ground, settings: ServerSettings) -> ServiceParts:
    """A service that serves its metrics too, where its settings say."""
    metrics = metrics_parts(ground.telemetry, settings.metrics(), settings.tls_certificate)
    return together([parts, metrics])


def start(kind: type[Chosen], build: Callable[[Chosen], Awaitable[ServiceParts]]) -> int:
    """Run a service with settings from the environment until SIGTERM. Returns its exit code."""
    log("%(asctime)s %(levelname)s %(name)s %(message)s")
    give_back()

    async def run() -> None:
        settings = read_settings(kind)
        await serve(settings.server(), await build(settings), _tell)

    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run())
    except CaliperError as error:
        sys.stderr.write(f"Error: {error}\n")
        return BAD_INPUT if isinstance(error, InvalidInput) else SURROUNDINGS
    _LOG.info("stopped cleanly")
    return 0


def _tell(running: ServiceRun) -> None:
    _LOG.info("serving on %s", running.server.address)


def log(form: str) -> None:
    """Log to standard error: what services do, and of their libraries only what goes wrong."""
    logging.basicConfig(level=logging.INFO, format=form)
    for chatty in ("kafka", "httpx", "httpx2"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    # It warns of every step longer than 0.1 s, which a busy machine is full of.
    logging.getLogger("kafka.net.selector").setLevel(logging.ERROR)
    # A connection that is lost is told by kafka.net.connection; this one adds a traceback for one
    # that was closed here while it was read.
    logging.getLogger("kafka.net.transport").setLevel(logging.CRITICAL)
    # Nor is a question that was given up because the service leaves an error.
    logging.getLogger("kafka.cluster").addFilter(lambda told: "Cancelled" not in told.getMessage())


async def everything(
    ground: Ground,
    judging: JudgeSettings,
    reading: QaReaderSettings,
    captioning: CaptionerSettings | None,
    page: Address | None = None,
) -> ServiceParts:
    """All services in one process, behind one port, and their pages at `page`, if anywhere.

    Raises what opening their models raises.
    """
    language = (judging.tagger, judging.embedder)
    judge_parts, judge_described = await examining_parts("judge", judging, ground, language)
    reader_parts, reader_described = await examining_parts("reader", reading, ground)
    described = {"judge": judge_described, "reader": reader_described}
    parts = [judge_parts, reader_parts]
    if captioning is not None:
        found, described["captioner"] = await captioner_parts(captioning, ground)
        parts.append(found)
    scores_parts, board = aggregator_parts(ground)
    front = gateway_parts(ground, LocalStages(described), board, page)
    return together([*parts, scores_parts, front])


async def serve(
    options: ServerOptions, parts: ServiceParts, started: Callable[[ServiceRun], None]
) -> None:
    """Run services of one process until SIGTERM or Ctrl-C; `started` is told once they listen."""
    running = ServiceRun(options, parts)

    async def tell() -> None:
        await running.started.wait()
        started(running)

    telling = asyncio.ensure_future(tell())
    try:
        await until_told([running])
    finally:
        telling.cancel()
