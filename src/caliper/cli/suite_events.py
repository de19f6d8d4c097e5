"""`caliper suite events`: lists and resends notices about a suite's checkpoints."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from caliper.adapters.notices.topic import TopicTarget
from caliper.cli.console import OUT, plain, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json
from caliper.cli.installation import InstalledServer
from caliper.cli.installation_setup import brokers
from caliper.cli.tables import text_table
from caliper.core.notices import NoticeDelivery, NoticeRecord
from caliper.core.suites import Suite
from caliper.lazy import lazy_module
from caliper.local.notify import TOPIC_NAME, notice_targets
from caliper.local.registration import administration
from caliper.local.suite_runs import suite_store
from caliper.pipeline.suites.notice_store import NoticeStore
from caliper.pipeline.suites.outbox import Outbox
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.ports.notices import NoticeTarget
from caliper.wiring.clock import SystemClock

if TYPE_CHECKING:
    from caliper.adapters.streams import kafka as streams
    from caliper.adapters.streams import kafka_topics
else:
    streams = lazy_module("caliper.adapters.streams.kafka")
    kafka_topics = lazy_module("caliper.adapters.streams.kafka_topics")

Name = Annotated[str, typer.Argument(metavar="SUITE")]
Replay = Annotated[
    str,
    typer.Option("--replay", metavar="ID", help="Deliver this notice to all its targets again."),
]
Kafka = Annotated[
    str,
    typer.Option(
        "--kafka",
        metavar="HOST:PORT,...",
        help="Also publish to the topic suite-events of these brokers; "
        "with --bucket, where MinIO announces objects.",
    ),
]


def events(
    suite: Name,
    replay: Replay = "",
    kafka: Kafka = "",
    server: InstalledServer = None,
    json: Json = False,
) -> int:
    """List notices about checkpoints, and whether they were delivered.

    Exit code with --replay: 1 if a target did not take it. An installation delivers later.
    """
    if replay:
        return _replay(suite, replay, kafka, server, json=json)
    records = asyncio.run(_records(suite, server))
    if json:
        write_json([record.to_json() for record in records])
        return Exit.DONE
    table = text_table(("event", "time", "what", "deliveries"))
    for record in records:
        notice = record.notice
        ends = "; ".join(f"{name} {_about(each)}" for name, each in record.deliveries.items())
        table.add_row(notice.id, notice.time[:19], plain(notice.headline), plain(ends))
    OUT.print(table)
    return Exit.DONE


async def _suite(name: str) -> Suite:
    return (await SuiteRegistry(suite_store(), SystemClock()).record(name)).suite


async def _records(name: str, server: str | None) -> list[NoticeRecord]:
    async with administration(server) as book:
        return await book.notices(name)


def _targets(suite: Suite) -> dict[str, NoticeTarget]:
    return notice_targets(suite, SystemClock())


@asynccontextmanager
async def suite_outbox(kafka: str) -> AsyncIterator[Outbox]:
    """The outbox of this folder's suites, which also publishes to a topic of the brokers, if any
    are given. Raises StreamUnavailable.
    """
    if not kafka:
        yield Outbox(suite_store(), SystemClock(), _targets)
        return
    access = brokers(kafka)
    await asyncio.to_thread(kafka_topics.apply_topics, access, (kafka_topics.EVENTS,))
    stream = streams.KafkaStream(access)
    topic = {TOPIC_NAME: TopicTarget(stream)}
    try:
        yield Outbox(suite_store(), SystemClock(), lambda suite: {**_targets(suite), **topic})
    finally:
        await stream.close()


def _replay(name: str, text: str, kafka: str, server: str | None, *, json: bool) -> int:
    work = _replayed(name, text, kafka) if server is None else _reopened(name, text, server)
    deliveries = asyncio.run(work)
    if json:
        write_json({target: _as_json(each) for target, each in deliveries.items()})
    for target, each in deliveries.items() if not json else ():
        OUT.print(plain(f"{target}  {_about(each)}"), soft_wrap=True, highlight=False)
    failed = server is None and not all(each.delivered for each in deliveries.values())
    return Exit.NO if failed else Exit.DONE


async def _replayed(name: str, text: str, kafka: str) -> Mapping[str, NoticeDelivery]:
    suite = await _suite(name)
    record = await NoticeStore(suite_store()).find(name, text)
    async with suite_outbox(kafka) as outbox:
        return await outbox.replay(suite, record)


async def _reopened(name: str, text: str, server: str) -> Mapping[str, NoticeDelivery]:
    async with administration(server) as book:
        return (await book.replay(name, text)).deliveries


def _as_json(delivery: NoticeDelivery) -> dict[str, Any]:
    return {"delivered": delivery.delivered, "error": delivery.error}


def _about(delivery: NoticeDelivery) -> str:
    if delivery.delivered:
        return f"delivered {delivery.delivered[:19]}"
    if not delivery.attempts:
        return "waiting"
    end = "tried again" if delivery.is_open else "given up"
    return f"attempt {delivery.attempts}: {delivery.error} ({end})"
