"""Starts services: each in its own process, or all in one."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import uvloop

from caliper.adapters.media.bounds import MediaLimits
from caliper.adapters.remote.stages import RemoteScores, RemoteStages
from caliper.core.errors import CaliperError, InvalidInput
from caliper.pipeline.planning.resolution import LocalStages
from caliper.pipeline.work import worker
from caliper.pipeline.work.idle_stages import SleepingStages
from caliper.ports.stages import StageDirectory
from caliper.serving.addresses import Address
from caliper.serving.calls import remaining_seconds
from caliper.serving.grpc_server import ServerOptions
from caliper.serving.lifecycle import ServiceParts, ServiceRun, merge_parts, run_until_signal
from caliper.serving.metrics import metrics_parts
from caliper.wiring.grounds import Ground, ground_of
from caliper.wiring.memory import limit_arenas
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
    gateway_parts,
    open_answerer_parts,
)
from caliper.wiring.settings import read_settings

_LOG = logging.getLogger(__name__)
BAD_INPUT, SURROUNDINGS = 2, 4
# Seconds between two checks of stages that may be scaled to zero.
_AWAKE = 30.0
_MINUTE = 60.0
Chosen = TypeVar("Chosen", bound=ServerSettings)


async def judge(settings: JudgeSettings) -> ServiceParts:
    """A judge in its own process."""
    ground = ground_of(settings, settings)
    language = (settings.tagger, settings.embedder)
    parts, _ = await open_answerer_parts("judge", settings, ground, language)
    return with_metrics(parts, ground, settings)


async def qa_reader(settings: QaReaderSettings) -> ServiceParts:
    """A QA reader in its own process."""
    ground = ground_of(settings, settings)
    parts, _ = await open_answerer_parts("reader", settings, ground)
    return with_metrics(parts, ground, settings)


async def captioner(settings: CaptionerSettings) -> ServiceParts:
    """A captioner in its own process."""
    ground = ground_of(settings, settings)
    parts, _ = await captioner_parts(settings, ground)
    return with_metrics(parts, ground, settings)


async def aggregator(settings: AggregatorSettings) -> ServiceParts:
    """The aggregator in its own process."""
    ground = ground_of(settings, settings)
    parts, _ = aggregator_parts(ground, settings.media_limits())
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
        directory = sleeping = SleepingStages(stages, ground.store)
        closing = replace(closing, tasks=(lambda: sleeping.follow(targets, _AWAKE),))
    parts = gateway_parts(ground, directory, scores, settings.page(), settings.media_limits())
    return with_metrics(merge_parts([parts, closing]), ground, settings)


def with_metrics(parts: ServiceParts, ground: Ground, settings: ServerSettings) -> ServiceParts:
    """The service, with its metrics served at the address in its settings."""
    metrics = metrics_parts(ground.telemetry, settings.metrics(), settings.tls_certificate)
    return merge_parts([parts, metrics])


def start(kind: type[Chosen], build: Callable[[Chosen], Awaitable[ServiceParts]]) -> int:
    """Run a service with settings from the environment until SIGTERM. Returns its exit code."""
    log("%(asctime)s %(levelname)s %(name)s %(message)s")
    limit_arenas()

    async def run() -> None:
        settings = read_settings(kind)
        await serve(settings.server(), await build(settings), _log_address)

    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run())
    except CaliperError as error:
        sys.stderr.write(f"Error: {error}\n")
        return BAD_INPUT if isinstance(error, InvalidInput) else SURROUNDINGS
    _LOG.info("stopped cleanly")
    return 0


def _log_address(running: ServiceRun) -> None:
    _LOG.info("serving on %s", running.server.address)


class LineLimit(logging.Filter):
    """Passes one line of each group of loggers per minute, with the number of those left out.

    A group is named by the logger above all of its own.
    """

    def __init__(self, groups: Sequence[str]) -> None:
        super().__init__()
        self._groups = groups
        # By group: the time of the last line, and the number of lines left out since.
        self._lines: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is logged."""
        for group in self._groups:
            if f"{record.name}.".startswith(f"{group}."):
                return self._is_due(record, group)
        return True

    def _is_due(self, record: logging.LogRecord, group: str) -> bool:
        last, left_out = self._lines.get(group, (-_MINUTE, 0))
        if 0 <= record.created - last < _MINUTE:
            self._lines[group] = last, left_out + 1
            return False
        self._lines[group] = record.created, 0
        if left_out:
            record.msg, record.args = f"{record.getMessage()} ({left_out} more lines since)", None
        return True


def log(form: str) -> None:
    """Log to standard error: all messages of services, only warnings of chatty libraries.

    While a broker is away, its clients repeat themselves many times per second, and so does each
    job that waits for it.
    """
    handler = logging.StreamHandler()
    handler.addFilter(LineLimit(("kafka", worker.__name__)))
    logging.basicConfig(level=logging.INFO, format=form, handlers=[handler])
    for chatty in ("kafka", "httpx", "httpx2"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    # It warns of every step longer than 0.1 s, and a busy machine has many.
    logging.getLogger("kafka.net.selector").setLevel(logging.ERROR)
    # kafka.net.connection already logs lost connections; this one adds a traceback for connections
    # that were closed here while being read.
    logging.getLogger("kafka.net.transport").setLevel(logging.CRITICAL)
    # Requests that were cancelled because the service is stopping are no errors.
    logging.getLogger("kafka.cluster").addFilter(
        lambda entry: "Cancelled" not in entry.getMessage()
    )


async def all_services(
    ground: Ground,
    judge: JudgeSettings,
    qa_reader: QaReaderSettings,
    captioner: CaptionerSettings | None,
    page: Address | None = None,
    media_limits: MediaLimits | None = None,
) -> ServiceParts:
    """All services in one process, behind one port, with web pages at `page` if given.
    `media_limits` are those of the media in reports and pages.

    Raises what opening their models raises.
    """
    language = (judge.tagger, judge.embedder)
    judge_parts, judge_description = await open_answerer_parts("judge", judge, ground, language)
    reader_parts, reader_description = await open_answerer_parts("reader", qa_reader, ground)
    descriptions = {"judge": judge_description, "reader": reader_description}
    parts = [judge_parts, reader_parts]
    if captioner is not None:
        captioner_part, descriptions["captioner"] = await captioner_parts(captioner, ground)
        parts.append(captioner_part)
    aggregator_part, board = aggregator_parts(ground, media_limits)
    gateway_part = gateway_parts(ground, LocalStages(descriptions), board, page, media_limits)
    return merge_parts([*parts, aggregator_part, gateway_part])


async def serve(
    options: ServerOptions, parts: ServiceParts, started: Callable[[ServiceRun], None]
) -> None:
    """Run services in one process until SIGTERM or Ctrl-C; call `started` once they listen."""
    running = ServiceRun(options, parts)

    async def announce() -> None:
        await running.started.wait()
        started(running)

    announcement = asyncio.ensure_future(announce())
    try:
        await run_until_signal([running])
    finally:
        announcement.cancel()
