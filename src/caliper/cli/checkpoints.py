"""`caliper checkpoint`: the checkpoints of suites."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.table import Table

from caliper.adapters.phrases import number
from caliper.cli.console import ERR, OUT, plain, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json
from caliper.cli.options import command_taking
from caliper.cli.suites import registry, show_values, suite_records
from caliper.core.checkpoints import CheckpointEntry, EntryCause
from caliper.core.errors import InvalidInput
from caliper.core.suites import SuiteState
from caliper.local.sources import Delivery
from caliper.pipeline.suites.registry import StoredEntry, find_entries

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
    json: Json = False


def add(options: DeliveryOptions) -> int:
    """Register the checkpoint, and show its entries."""
    tags = tuple(options.tags or ())
    delivery = Delivery(options.source, options.revision, options.name, options.step, tags)
    _show(asyncio.run(_add(delivery, options.suites or [])), json=options.json)
    return Exit.DONE


_ADD_HELP = "Register a checkpoint. One that is known is answered with what there is."
app.command("add")(command_taking(add, DeliveryOptions, help_text=_ADD_HELP))


async def _add(delivery: Delivery, suites: list[str]) -> list[CheckpointEntry]:
    whole, records = registry(), await suite_records(suites)
    takers = [record.suite for record in records if record.state is not SuiteState.RETIRED]
    if not takers:
        raise InvalidInput("no suite takes checkpoints: apply one, or resume it")
    checkpoint = delivery.read()
    return [(await whole.register(suite, checkpoint))[0] for suite in takers]


@app.command("list")
def list_checkpoints(suites: InSuite = None, json: Json = False) -> int:
    """List the checkpoints by training step."""
    _show([each.entry for each in asyncio.run(_stored(suites))], json=json)
    return Exit.DONE


@app.command("show")
def show(checkpoint: Named, suites: InSuite = None, json: Json = False) -> int:
    """Show all about a checkpoint. CHECKPOINT is its name, or the start of its revision."""
    entries = [each.entry.to_json() for each in _found(checkpoint, suites)]
    show_values(entries, json=json)
    return Exit.DONE


@app.command("retry")
def retry(checkpoint: Named, suites: InSuite = None, json: Json = False) -> int:
    """Evaluate a checkpoint again that has ended."""
    return _change(checkpoint, suites, EntryCause.RETRY, json=json)


@app.command("skip")
def skip(checkpoint: Named, suites: InSuite = None, json: Json = False) -> int:
    """Do not evaluate a checkpoint."""
    return _change(checkpoint, suites, EntryCause.SKIP, json=json)


def _change(checkpoint: str, suites: list[str] | None, cause: EntryCause, *, json: bool) -> int:
    found = [each for each in _found(checkpoint, suites) if each.entry.after(cause, "")]
    if not found:
        raise InvalidInput(f"it cannot be {cause} as it is", field=checkpoint)

    async def change() -> list[CheckpointEntry]:
        whole = registry()
        return [await whole.change_entry(each.key, cause, attempts=0, crashes=0) for each in found]

    _show(asyncio.run(change()), json=json)
    return Exit.DONE


def _found(checkpoint: str, suites: list[str] | None) -> list[StoredEntry]:
    return find_entries(asyncio.run(_stored(suites)), checkpoint)


async def _stored(suites: list[str] | None) -> list[StoredEntry]:
    """The entries of the present versions of suites, of all by default."""
    whole = registry()
    stored: list[StoredEntry] = []
    for record in await suite_records(suites or ()):
        entries, unreadable = await whole.entries(record.suite.name, record.suite.version)
        stored += entries
        for lost in unreadable:
            ERR.print(f"[yellow]Unreadable:[/yellow] {plain(lost.error)}", soft_wrap=True)
    return stored


def _show(entries: list[CheckpointEntry], *, json: bool) -> None:
    if json:
        write_json([_as_json(entry) for entry in entries])
        return
    table = Table(box=None, pad_edge=False)
    for column in ("suite", "step", "checkpoint", "state", "score", "about"):
        table.add_column(column, overflow="fold")
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
