"""Assembles the service that evaluates the checkpoints of an installation's suites."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import lru_cache, partial

from caliper.adapters.media.decoders import Decoders
from caliper.adapters.notices.topic import TopicTarget
from caliper.adapters.packs.files import open_pack
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.source_bucket import SourceBucket
from caliper.adapters.streams import kafka_topics
from caliper.core.errors import InvalidInput, StoreUnavailable, StreamUnavailable
from caliper.core.suites import Suite
from caliper.local.bucket_captions import BucketCaptions
from caliper.local.checkpoint_captioner import CheckpointCaptioner
from caliper.local.checkpoint_requests import CheckpointRequests, SlotCaptioner
from caliper.local.checkpoint_sources import BucketSources
from caliper.local.gateway_evaluator import GatewayEvaluator
from caliper.local.notify import TOPIC_NAME, permitted_targets
from caliper.local.patient_gateway import PatientGateway
from caliper.local.run_costs import RunCosts
from caliper.pipeline.asking.memory_limit import MemoryLimit
from caliper.pipeline.comparing.comparer import Comparer
from caliper.pipeline.store.owners import Ownership
from caliper.pipeline.suites.administration import Administration
from caliper.pipeline.suites.arrivals import Arrivals
from caliper.pipeline.suites.evaluation import CheckpointEvaluator
from caliper.pipeline.suites.latest import LatestScores
from caliper.pipeline.suites.loop import SuiteEvent, SuiteLoop
from caliper.pipeline.suites.notifications import BucketNotifications, BucketPlace
from caliper.pipeline.suites.outbox import Outbox, Targets
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.pipeline.suites.source_leases import SourceLeases
from caliper.pipeline.suites.webhooks import SENDERS
from caliper.ports.notices import NoticeTarget
from caliper.ports.sources import CheckpointSources
from caliper.serving.lifecycle import ServiceParts, store_check
from caliper.serving.webhooks import WebhookReceiver
from caliper.wiring.grounds import Ground, ground_of, kafka_access
from caliper.wiring.hosts import HostRoom
from caliper.wiring.prices import Prices, parse_prices
from caliper.wiring.settings import variable
from caliper.wiring.startup import with_metrics
from caliper.wiring.store_access import store_access
from caliper.wiring.suites_settings import SuitesSettings

_LOG = logging.getLogger(__name__)
_BUCKETS = 16
"""The maximum number of buckets kept open to watch checkpoints in them."""
_PAUSE = 5.0
"""Seconds between attempts while store or stream are down."""


class SuiteController:
    """Registers and evaluates the checkpoints of all suites in a store, and sends notices."""

    def __init__(
        self,
        ground: Ground,
        evaluator: CheckpointEvaluator,
        targets: Targets,
        open_arrivals: Callable[[AsyncExitStack], Awaitable[Arrivals]],
        sources: CheckpointSources,
    ) -> None:
        self._ground, self._evaluator = ground, evaluator
        assert ground.whole is not None  # noqa: S101 - the store of an installation is
        self._store = ground.whole
        self._outbox = Outbox(self._store, ground.clock, targets)
        self._latest = LatestScores(ground.telemetry)
        self._open_arrivals = open_arrivals
        self._sources = SourceLeases(self._store, ground.clock, sources, _LOG.warning)

    async def run(self) -> None:
        """Run until cancelled; the next turn resumes work that an outage interrupted."""
        while True:
            try:
                await self._turn()
            except (StoreUnavailable, StreamUnavailable) as error:
                _LOG.warning("%s", error)
            await self._ground.clock.sleep(_PAUSE)

    async def _turn(self) -> None:
        store, clock = self._store, self._ground.clock
        registry = SuiteRegistry(store, clock)
        for name in await registry.names():
            try:
                await self._latest.read(registry, [name])
            except InvalidInput as error:
                _LOG.warning("%s", error)
        async with AsyncExitStack() as stack:
            arrivals = await self._open_arrivals(stack)
            sources = self._sources
            loop = SuiteLoop(store, clock, self._evaluator, self._on_event, arrivals, sources)
            await self._outbox.run_beside((), loop.run((), once=False))

    def _on_event(self, event: SuiteEvent) -> None:
        label = event.entry.checkpoint.label if event.entry else ""
        _LOG.info("%s", "  ".join(filter(None, (event.suite, label, event.event, event.detail))))
        self._outbox.wake()
        self._latest.on_event(event)


async def suites(settings: SuitesSettings) -> ServiceParts:
    """The service that evaluates checkpoints by suites, in its own process."""
    ground = ground_of(settings, settings)
    gateway = RemoteGateway(settings.peer("gateway", settings.gateway))
    comparer = Comparer(ground.store, ground.runs, lambda _: lambda _, __: None)
    captions = BucketCaptions(lambda bucket: _bucket(settings, bucket), settings.store_bucket)
    decoders = Decoders(settings.decoders())
    patient = PatientGateway(gateway, ground.clock, _LOG.warning)
    requests = CheckpointRequests(patient, captions, _serving(settings, ground, decoders))
    costs = RunCosts(ground.store, _prices(settings))
    evaluator = GatewayEvaluator(
        gateway, ground.store, comparer, requests, ground.clock, _LOG.warning, costs
    )
    topic, folder = TopicTarget(ground.stream), settings.notify_files
    place = _place(settings)
    sources = BucketSources(lru_cache(maxsize=_BUCKETS)(partial(_bucket, settings)))

    warned = set[str]()

    def targets(suite: Suite) -> Mapping[str, NoticeTarget]:
        try:
            own = permitted_targets(suite, ground.clock, folder)
        except (TypeError, ValueError, AttributeError) as error:
            # A broken suite must not stop notices of others.
            own = {}
            if suite.version not in warned:
                warned.add(suite.version)
                _LOG.warning("suite %s: notify: %r", suite.name, error)
        return {**own, TOPIC_NAME: topic}

    async def open_arrivals(stack: AsyncExitStack) -> Arrivals:
        access = kafka_access(settings.kafka, settings, variable(type(settings), "kafka"))
        await asyncio.to_thread(kafka_topics.apply_topics, access, (kafka_topics.EVENTS,))
        if place is None:
            return _no_arrivals
        objects = _bucket(settings, place.bucket)
        stack.push_async_callback(objects.close)
        log = (ground.logs, settings.topic)
        notifications = BucketNotifications(log, place, objects, ground.store, _LOG.warning)
        return (await stack.enter_async_context(notifications)).arrivals

    controller = SuiteController(ground, evaluator, targets, open_arrivals, sources)
    parts = ServiceParts(
        (),
        tasks=(controller.run, *_receiving(settings, ground)),
        checks={"store": store_check(ground.store)},
        close=(comparer.close, gateway.close, decoders.close, *ground.close),
    )
    return with_metrics(parts, ground, settings)


def _receiving(settings: SuitesSettings, ground: Ground) -> Sequence[Callable[[], Awaitable[None]]]:
    """The task that receives webhooks, if any. Raises InvalidInput naming the wrong variable."""
    place = settings.webhooks()
    if place is None:
        return ()
    assert ground.whole is not None  # noqa: S101 - the store of an installation is
    book = Administration(SuiteRegistry(ground.whole, ground.clock))
    receiver = WebhookReceiver(book, (), settings.webhook_secret)
    address, tls = place

    async def receive() -> None:
        field = variable(type(settings), "webhooks_address")
        async with receiver.listening(address, field, tls) as actual:
            known = ", ".join(filter(settings.webhook_secret, SENDERS)) or "nobody: no secrets"
            scheme = "https" if tls else "http"
            _LOG.info("webhooks of %s on %s://%s/webhooks/", known, scheme, actual)
            await asyncio.Event().wait()

    return (receive,)


def _serving(settings: SuitesSettings, ground: Ground, decoders: Decoders) -> SlotCaptioner:
    """The captioner of served checkpoints. Raises InvalidInput naming the wrong variable."""
    access, options = settings.access(), settings.decoders()
    pack = open_pack(settings.pack)
    limit = MemoryLimit(options.held_bytes, options.workers)
    ownership = Ownership(sharing=settings.sharing)
    assert ground.whole is not None  # noqa: S101 - the store of an installation is
    return SlotCaptioner(
        ground.whole,
        ground.clock,
        HostRoom(access, settings.hosts()),
        CheckpointCaptioner(ground, access, pack, decoders, limit, _prices(settings), ownership),
        _LOG.warning,
    )


def _prices(settings: SuitesSettings) -> Prices:
    """The prices of models. Raises InvalidInput naming the variable."""
    return parse_prices(settings.prices, variable(type(settings), "prices"))


def _place(settings: SuitesSettings) -> BucketPlace | None:
    """The place of announced checkpoints, if any. Raises InvalidInput naming the variable."""
    field = variable(type(settings), "bucket")
    return BucketPlace.parse(settings.bucket, settings.objects, field) if settings.bucket else None


async def _no_arrivals() -> tuple[()]:
    return ()


def _bucket(settings: SuitesSettings, bucket: str) -> SourceBucket:
    """A bucket at the store's endpoint. Raises InvalidInput if the store is a directory."""
    if not settings.store.startswith(("http://", "https://")):
        field = variable(type(settings), "store")
        message = f"must be an S3 endpoint to read the bucket {bucket}"
        raise InvalidInput(message, file="environment", field=field)
    return SourceBucket(replace(store_access(settings), bucket=bucket))
