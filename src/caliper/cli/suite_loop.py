"""`caliper suite run`: the loop that evaluates checkpoints, and where they come from."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
import uvloop

from caliper.cli.console import ERR, OUT, plain, write_out
from caliper.cli.exits import Exit
from caliper.cli.flags import Json
from caliper.cli.progress import WarningWatcher
from caliper.core.checkpoints import CheckpointEntry, CheckpointRevision, EntryState, SourceLoss
from caliper.core.errors import InvalidInput
from caliper.core.keys import canonical_json
from caliper.core.suites import SuiteRecord, SuiteState
from caliper.lazy import lazy_module
from caliper.local.sources import WatchedFolder
from caliper.local.suite_runs import LocalEvaluator, suite_store
from caliper.pipeline.suites.administration import Administration
from caliper.pipeline.suites.arrivals import Arrivals
from caliper.pipeline.suites.loop import SuiteEvent, SuiteLoop
from caliper.pipeline.suites.notifications import BucketNotifications, BucketPlace
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.serving.addresses import Address
from caliper.wiring.clock import SystemClock

if TYPE_CHECKING:
    from caliper.adapters.stores import source_bucket
    from caliper.adapters.streams import kafka_log
    from caliper.cli import installation_setup
    from caliper.serving import webhooks
    from caliper.wiring import grounds, service_settings, settings
else:
    installation_setup = lazy_module("caliper.cli.installation_setup")
    webhooks = lazy_module("caliper.serving.webhooks")
    source_bucket = lazy_module("caliper.adapters.stores.source_bucket")
    kafka_log = lazy_module("caliper.adapters.streams.kafka_log")
    service_settings = lazy_module("caliper.wiring.service_settings")
    settings = lazy_module("caliper.wiring.settings")
    grounds = lazy_module("caliper.wiring.grounds")

Names = Annotated[list[str], typer.Argument(metavar="SUITE...", help="Names, or files to apply.")]
Watch = Annotated[
    Path | None,
    typer.Option("--watch", metavar="DIR", help="Register what appears in this folder."),
]
Bucket = Annotated[
    str,
    typer.Option(
        "--bucket",
        metavar="BUCKET/PREFIX",
        help="Register what MinIO announces here (endpoint and keys: CALIPER_STORE and its like).",
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
Kafka = Annotated[
    str, typer.Option("--kafka", metavar="SERVERS", help="Where MinIO announces objects.")
]
TopicName = Annotated[
    str, typer.Option("--topic", metavar="TOPIC", help="The topic of these announcements.")
]
Listen = Annotated[
    str,
    typer.Option(
        "--listen",
        metavar="HOST:PORT",
        help="Register what webhooks of MLflow, Hugging Face and W&B announce here.",
    ),
]
Once = Annotated[bool, typer.Option("--once", help="End when nothing is left to evaluate.")]


@dataclass(frozen=True, slots=True)
class LoopOptions:
    """The arguments and options of `run`."""

    suites: Names
    watch: Watch = None
    bucket: Bucket = ""
    objects: Objects = "*"
    kafka: Kafka = ""
    topic: TopicName = "checkpoints"
    listen: Listen = ""
    once: Once = False
    json: Json = False


HELP = """Evaluate the checkpoints of suites, and print a line per event.

After an interruption, the same command goes on. Exit code with --once: 1 if one regressed or
failed, 3 if one is inconclusive, 4 if one is left for an endpoint.
"""
Apply = Callable[[Path], Awaitable[tuple[SuiteRecord, bool]]]


def run_loop(options: LoopOptions, apply: Apply) -> int:
    """Evaluate; `apply` makes a suite of a file."""
    decided: list[CheckpointEntry] = []
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run(options, apply, _Events(decided, json=options.json)))
    return _code(decided)


async def _run(options: LoopOptions, apply: Apply, shown: _Events) -> None:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - a coroutine that runs has a task
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    clock, store = SystemClock(), suite_store()
    names = []
    for each in options.suites:
        is_file = each.endswith((".yaml", ".yml"))
        registry = SuiteRegistry(store, clock)
        record = (await apply(Path(each)))[0] if is_file else await registry.record(each)
        if record.state is SuiteState.RETIRED:
            raise InvalidInput("the suite is retired; resume it first", field=record.suite.name)
        names.append(record.suite.name)
    watcher = WarningWatcher()
    async with AsyncExitStack() as stack:
        arrivals = await _arrivals(options, watcher, stack)
        if options.listen:
            address = Address.parse(options.listen, "--listen")
            receiver = _receiver(Administration(SuiteRegistry(store, clock)), names)
            port = await stack.enter_async_context(receiver.listening(address, "--listen"))
            ERR.print(f"Webhooks on http://{port}/webhooks/", soft_wrap=True, highlight=False)
        loop = SuiteLoop(store, clock, LocalEvaluator(watcher, clock), shown, arrivals)
        await loop.run(list(dict.fromkeys(names)), once=options.once)


async def _arrivals(
    options: LoopOptions, watcher: WarningWatcher, stack: AsyncExitStack
) -> Arrivals:
    """What arrives in the folder and the bucket; the stack closes what is open."""
    sources: list[Arrivals] = []
    if options.watch is not None:
        folder = WatchedFolder(options.watch, watcher.on_warning, options.once)
        sources.append(folder.arrivals)
    if options.bucket:
        notifications = _notifications(options, watcher, stack)
        sources.append((await stack.enter_async_context(notifications)).arrivals)

    async def arrivals() -> Sequence[CheckpointRevision | SourceLoss]:
        return [arrival for source in sources for arrival in await source()]

    return arrivals


def _notifications(
    options: LoopOptions, watcher: WarningWatcher, stack: AsyncExitStack
) -> BucketNotifications:
    if not options.kafka:
        raise InvalidInput("needed with --bucket", field="--kafka")
    place = BucketPlace.parse(options.bucket, options.objects)
    client = settings.read_settings(service_settings.ClientSettings)
    if not client.store.startswith(("http://", "https://")):
        field = settings.variable(type(client), "store")
        raise InvalidInput("an S3 endpoint", file="environment", field=field)
    access = replace(grounds.store_access(client), bucket=place.bucket)
    objects = source_bucket.SourceBucket(access)
    stack.push_async_callback(objects.close)
    log = kafka_log.KafkaLog(installation_setup.brokers(options.kafka))
    return BucketNotifications(
        (log, options.topic), place, objects, suite_store(), watcher.on_warning, once=options.once
    )


def _receiver(book: Administration, suites: Sequence[str]) -> webhooks.WebhookReceiver:
    secrets = settings.read_settings(service_settings.ClientSettings).webhook_secrets()
    if not secrets:
        field = f"{settings.PREFIX}WEBHOOK_SECRET_"
        raise InvalidInput("the secret of a sender", file="environment", field=field)
    return webhooks.WebhookReceiver(book, suites, secrets)


class _Events:
    """Prints events as they come, and notes what was decided."""

    def __init__(self, decided: list[CheckpointEntry], *, json: bool) -> None:
        self._decided, self._json = decided, json

    def __call__(self, event: SuiteEvent) -> None:
        entry = event.entry
        if entry is not None and event.event == entry.state:
            self._decided.append(entry)
        if self._json:
            fields = {"suite": event.suite, "event": event.event, "detail": event.detail}
            entry_json = None if entry is None else entry.to_json()
            write_out(canonical_json({**fields, "entry": entry_json}).decode() + "\n")
            return
        about = [event.suite, event.event]
        if entry is not None:
            step = entry.checkpoint.step
            about.insert(1, entry.checkpoint.label if step is None else f"step {step:,}")
        at = SystemClock().now()
        line = "  ".join((f"{at:%H:%M:%S} UTC", *about, *filter(None, (event.detail,))))
        OUT.print(plain(line), soft_wrap=True, highlight=False)
        OUT.file.flush()


def _code(decided: list[CheckpointEntry]) -> Exit:
    states = {entry.state for entry in decided}
    if states & {EntryState.REGRESSED, EntryState.FAILED, EntryState.SOURCE_GONE}:
        return Exit.NO
    if EntryState.WAITING in states:
        return Exit.SURROUNDINGS
    return Exit.INCONCLUSIVE if EntryState.INCONCLUSIVE in states else Exit.DONE
