"""`caliper suite events`: what was told of a suite's checkpoints, to whom, and telling it again."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer
from rich.table import Table

from caliper.cli.console import OUT, plain, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json
from caliper.core.notices import NoticeDelivery, NoticeRecord
from caliper.core.suites import Suite
from caliper.local.notify import notice_targets
from caliper.local.suite_runs import suite_store
from caliper.pipeline.suites.notice_store import NoticeStore
from caliper.pipeline.suites.outbox import Outbox
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.ports.notices import NoticeTarget
from caliper.wiring.clock import SystemClock

Name = Annotated[str, typer.Argument(metavar="SUITE")]
Replay = Annotated[
    str, typer.Option("--replay", metavar="ID", help="Deliver this one again, to all its targets.")
]


def events(suite: Name, replay: Replay = "", json: Json = False) -> int:
    """List what was told of the checkpoints, and whether it was delivered.

    Exit code with --replay: 1 if a target did not take it.
    """
    if replay:
        return _replay(suite, replay, json=json)
    records = asyncio.run(_records(suite))
    if json:
        write_json([record.to_json() for record in records])
        return Exit.DONE
    table = Table(box=None, pad_edge=False)
    for column in ("event", "time", "what", "deliveries"):
        table.add_column(column, overflow="fold")
    for record in records:
        notice = record.notice
        told = "; ".join(f"{name} {_about(each)}" for name, each in record.deliveries.items())
        table.add_row(notice.id, notice.time[:19], plain(notice.headline), plain(told))
    OUT.print(table)
    return Exit.DONE


async def _suite(name: str) -> Suite:
    return (await SuiteRegistry(suite_store(), SystemClock()).record(name)).suite


async def _records(name: str) -> list[NoticeRecord]:
    await _suite(name)
    notices = NoticeStore(suite_store())
    return await notices.records(name, await notices.ids(name))


async def undelivered(suite: Suite) -> int:
    """How many notices some target of the suite has not taken."""
    records, targets = await _records(suite.name), suite_targets(suite)
    return sum(bool(record.undelivered(targets)) for record in records)


def suite_targets(suite: Suite) -> dict[str, NoticeTarget]:
    """Those that the suite tells, by name."""
    return notice_targets(suite, SystemClock())


def _replay(name: str, text: str, *, json: bool) -> int:
    deliveries = asyncio.run(_replayed(name, text))
    if json:
        write_json({target: _as_json(each) for target, each in deliveries.items()})
    for target, each in deliveries.items() if not json else ():
        OUT.print(plain(f"{target}  {_about(each)}"), soft_wrap=True, highlight=False)
    return Exit.DONE if all(each.delivered for each in deliveries.values()) else Exit.NO


async def _replayed(name: str, text: str) -> dict[str, NoticeDelivery]:
    suite, store = await _suite(name), suite_store()
    record = await NoticeStore(store).find(name, text)
    return await Outbox(store, SystemClock(), suite_targets).replay(suite, record)


def _as_json(delivery: NoticeDelivery) -> dict[str, Any]:
    return {"delivered": delivery.delivered, "error": delivery.error}


def _about(delivery: NoticeDelivery) -> str:
    if delivery.delivered:
        return f"delivered {delivery.delivered[:19]}"
    if not delivery.attempts:
        return "waiting"
    end = "tried again" if delivery.is_open else "given up"
    return f"attempt {delivery.attempts}: {delivery.error} ({end})"
