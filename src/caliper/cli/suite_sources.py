"""Where `caliper suite run` looks for checkpoints: a folder, a bucket, and webhooks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from caliper.cli.console import ERR
from caliper.cli.suite_events import Kafka
from caliper.cli.warning_watcher import WarningWatcher
from caliper.core.checkpoints import CheckpointRevision, SourceLoss
from caliper.core.errors import InvalidInput
from caliper.lazy import lazy_module
from caliper.local.checkpoint_sources import LocalSources
from caliper.local.sources import WatchedFolder
from caliper.local.suite_runs import LossOf, suite_store
from caliper.pipeline.suites.administration import Administration
from caliper.pipeline.suites.arrivals import Arrivals
from caliper.pipeline.suites.notifications import BucketNotifications, BucketPlace
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.serving.addresses import Address
from caliper.wiring.clock import SystemClock

if TYPE_CHECKING:
    from caliper.adapters.stores import source_bucket
    from caliper.adapters.streams import kafka_log
    from caliper.cli import installation_setup
    from caliper.serving import webhooks
    from caliper.wiring import client_settings, settings, store_access
else:
    installation_setup = lazy_module("caliper.cli.installation_setup")
    webhooks = lazy_module("caliper.serving.webhooks")
    source_bucket = lazy_module("caliper.adapters.stores.source_bucket")
    kafka_log = lazy_module("caliper.adapters.streams.kafka_log")
    client_settings = lazy_module("caliper.wiring.client_settings")
    settings = lazy_module("caliper.wiring.settings")
    store_access = lazy_module("caliper.wiring.store_access")

Watch = Annotated[
    Path | None,
    typer.Option("--watch", metavar="DIR", help="Register checkpoints that appear in this folder."),
]
Bucket = Annotated[
    str,
    typer.Option(
        "--bucket",
        metavar="BUCKET/PREFIX",
        help="Register checkpoints that MinIO announces here (endpoint, keys: CALIPER_STORE etc.).",
    ),
]
Objects = Annotated[
    str,
    typer.Option(
        "--objects",
        metavar="GLOB",
        help="The objects in --bucket that are checkpoints, or a manifest.json that names one.",
    ),
]
TopicName = Annotated[
    str, typer.Option("--topic", metavar="TOPIC", help="The topic of these announcements.")
]
Listen = Annotated[
    str,
    typer.Option(
        "--listen",
        metavar="HOST:PORT",
        help="Register checkpoints that MLflow, Hugging Face and W&B announce here.",
    ),
]
Once = Annotated[bool, typer.Option("--once", help="End when nothing is left to evaluate.")]


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The options of `run` about where checkpoints come from."""

    watch: Watch = None
    bucket: Bucket = ""
    objects: Objects = "*"
    kafka: Kafka = ""
    topic: TopicName = "checkpoints"
    listen: Listen = ""
    once: Once = False


async def open_sources(
    options: SourceOptions, watcher: WarningWatcher, stack: AsyncExitStack
) -> tuple[Arrivals, LossOf, LocalSources]:
    """The arrivals in folder and bucket, the losses in the bucket, and the local sources; the stack
    closes them.
    """
    sources: list[Arrivals] = []
    buckets: dict[str, source_bucket.SourceBucket] = {}
    loss_of: LossOf = _nothing_lost
    if options.watch is not None:
        folder = WatchedFolder(options.watch, watcher.on_warning, options.once)
        sources.append(folder.arrivals)
    if options.bucket:
        notifications = _notifications(options, watcher, stack, buckets)
        sources.append((await stack.enter_async_context(notifications)).arrivals)
        loss_of = notifications.loss_of

    async def arrivals() -> Sequence[CheckpointRevision | SourceLoss]:
        return [arrival for source in sources for arrival in await source()]

    return arrivals, loss_of, LocalSources(buckets.get)


async def _nothing_lost(_: CheckpointRevision) -> str:
    return ""


def _notifications(
    options: SourceOptions,
    watcher: WarningWatcher,
    stack: AsyncExitStack,
    buckets: dict[str, source_bucket.SourceBucket],
) -> BucketNotifications:
    if not options.kafka:
        raise InvalidInput("needed with --bucket", field="--kafka")
    place = BucketPlace.parse(options.bucket, options.objects)
    client = settings.read_settings(client_settings.ClientSettings)
    if not client.store.startswith(("http://", "https://")):
        field = settings.variable(type(client), "store")
        message = "must be an S3 endpoint, http(s)://HOST:PORT, for --bucket"
        raise InvalidInput(message, file="environment", field=field)
    access = replace(store_access.store_access(client), bucket=place.bucket)
    objects = buckets[place.bucket] = source_bucket.SourceBucket(access)
    stack.push_async_callback(objects.close)
    log = kafka_log.KafkaLog(installation_setup.brokers(options.kafka))
    return BucketNotifications(
        (log, options.topic), place, objects, suite_store(), watcher.on_warning, once=options.once
    )


async def open_receiver(
    options: SourceOptions, suites: Sequence[str], stack: AsyncExitStack
) -> None:
    """Receive webhooks until the stack is closed, if --listen is given. Raises InvalidInput."""
    if not options.listen:
        return
    secrets = settings.read_settings(client_settings.ClientSettings).webhook_secrets()
    if not secrets:
        field = f"{settings.PREFIX}WEBHOOK_SECRET_..."
        message = "not set; set that of each sender: MLFLOW, HUGGINGFACE or WANDB"
        raise InvalidInput(message, file="environment", field=field)
    book = Administration(SuiteRegistry(suite_store(), SystemClock()))
    receiver = webhooks.WebhookReceiver(book, suites, secrets.get)
    address = Address.parse(options.listen, "--listen")
    port = await stack.enter_async_context(receiver.listening(address, "--listen"))
    ERR.print(f"Webhooks on http://{port}/webhooks/", soft_wrap=True, highlight=False)
