"""`caliper checkpoint`: the checkpoints of suites."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from caliper.adapters.phrases import number
from caliper.cli.console import OUT, plain, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json
from caliper.cli.installation import InstalledServer
from caliper.cli.options import command_taking
from caliper.cli.suites import show_unreadable, show_values
from caliper.cli.tables import text_table
from caliper.core.checkpoints import CheckpointEntry
from caliper.core.entry_states import EntryCause
from caliper.core.keys import fields_of
from caliper.core.notices import Notice, NoticeRecord
from caliper.local.registration import administration, register
from caliper.local.sources import NamedSource
from caliper.pipeline.suites.administration import EntryListing
from caliper.pipeline.suites.time_line import time_line

Source = Annotated[
    str, typer.Argument(metavar="SOURCE", help="A captions file, a folder, or a URI.")
]
Named = Annotated[str, typer.Argument(metavar="CHECKPOINT")]
InSuite = Annotated[
    list[str] | None,
    typer.Option("--suite", metavar="NAME", help="Only in this suite; repeatable."),
]
Revision = Annotated[
    str,
    typer.Option("--revision", help="A commit that never changes. Default: the files' digest."),
]
Label = Annotated[str, typer.Option("--name", help="Default: the source's name.")]
Step = Annotated[
    int | None,
    typer.Option("--step", min=0, help="Training step. Default: the number at the name's end."),
]
Tags = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", help="Add a tag; repeatable.")
]

app = typer.Typer(help="The checkpoints of suites.", no_args_is_help=True)


@dataclass(frozen=True, slots=True)
class DeliveryOptions:
    """The arguments and options of `add`."""

    source: Source
    suites: InSuite = None
    revision: Revision = ""
    name: Label = ""
    step: Step = None
    tags: Tags = None
    server: InstalledServer = None
    json: Json = False


def add(options: DeliveryOptions) -> int:
    """Register the checkpoint, and show its entries."""
    tags = tuple(options.tags or ())
    delivery = NamedSource(options.source, options.revision, options.name, options.step, tags)
    entries = asyncio.run(register(delivery, options.suites or (), options.server))
    _show(entries, json=options.json)
    return Exit.DONE


_ADD_HELP = "Register a checkpoint, or show the entries of a known one."
app.command("add")(command_taking(add, DeliveryOptions, help_text=_ADD_HELP))


@app.command("list")
def list_checkpoints(
    suites: InSuite = None, server: InstalledServer = None, json: Json = False
) -> int:
    """List the checkpoints by training step."""

    async def entries() -> EntryListing:
        async with administration(server) as book:
            return await book.entries(suites or ())

    listing = asyncio.run(entries())
    show_unreadable(listing.unreadable)
    _show(listing.entries, json=json)
    return Exit.DONE


@app.command("show")
def show(
    checkpoint: Named, suites: InSuite = None, server: InstalledServer = None, json: Json = False
) -> int:
    """Show everything about a checkpoint, with its timeline. CHECKPOINT is its name, or the start
    of its revision.
    """

    async def find() -> list[dict[str, Any]]:
        async with administration(server) as book:
            entries = []
            for entry in await book.find(checkpoint, suites or ()):
                ids = [Notice.of(entry, mark).id for mark in entry.notices]
                records = await book.notices(entry.suite, ids)
                line = list(map(fields_of, time_line(entry, records)))
                deliveries = [each for record in records for each in _deliveries(record)]
                entries.append({**entry.to_json(), "timeline": line, "deliveries": deliveries})
            return entries

    show_values(asyncio.run(find()), json=json)
    return Exit.DONE


def _deliveries(record: NoticeRecord) -> Iterator[dict[str, Any]]:
    event = {"event": record.notice.id, "kind": record.notice.kind}
    for target, each in record.deliveries.items():
        ends = {"attempts": each.attempts, "delivered": each.delivered, "error": each.error}
        yield {**event, "target": target, **ends}


@app.command("retry")
def retry(
    checkpoint: Named, suites: InSuite = None, server: InstalledServer = None, json: Json = False
) -> int:
    """Evaluate an ended checkpoint again."""
    _show(_changed(checkpoint, suites, EntryCause.RETRY, server), json=json)
    return Exit.DONE


@app.command("skip")
def skip(
    checkpoint: Named, suites: InSuite = None, server: InstalledServer = None, json: Json = False
) -> int:
    """Do not evaluate a checkpoint."""
    _show(_changed(checkpoint, suites, EntryCause.SKIP, server), json=json)
    return Exit.DONE


def _changed(
    checkpoint: str, suites: list[str] | None, cause: EntryCause, server: str | None
) -> list[CheckpointEntry]:
    async def change() -> list[CheckpointEntry]:
        async with administration(server) as book:
            return await book.change_entries(checkpoint, suites or (), cause)

    return asyncio.run(change())


def _show(entries: Sequence[CheckpointEntry], *, json: bool) -> None:
    if json:
        write_json([_as_json(entry) for entry in entries])
        return
    table = text_table(("suite", "step", "checkpoint", "state", "score", "about"))
    for entry in entries:
        step = "" if entry.checkpoint.step is None else f"{entry.checkpoint.step:,}"
        score = "" if entry.headline is None else number(entry.headline.value)
        label, reason = plain(entry.checkpoint.label), plain(entry.reason)
        table.add_row(entry.suite, step, label, str(entry.state), score, reason)
    OUT.print(table)


def _as_json(entry: CheckpointEntry) -> dict[str, Any]:
    """An entry without its figures and findings."""
    fields = entry.to_json()
    return {name: fields[name] for name in fields if name not in ("figures", "findings")}
