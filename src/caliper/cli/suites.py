"""`caliper suite`: the evaluations of every checkpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import yaml

from caliper.cli.console import ERR, OUT, plain, write_json, write_out
from caliper.cli.exits import Exit
from caliper.cli.flags import Json
from caliper.cli.installation import InstalledServer
from caliper.cli.suite_status import budget_lines, status_lines, suite_status
from caliper.cli.tables import text_table
from caliper.core.errors import InvalidInput
from caliper.core.keys import canonical_json, fields_of
from caliper.core.suites import Suite, SuiteCause, SuiteRecord
from caliper.lazy import lazy_module
from caliper.local.installation import ask_gateway
from caliper.local.registration import administration
from caliper.local.suite_config import read_suite, without_revision
from caliper.local.suite_runs import suite_store
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.wiring.clock import SystemClock
from caliper.wiring.references import check_absolute
from caliper.wiring.strict import line_of
from caliper.wiring.yaml_text import read_document

if TYPE_CHECKING:
    from caliper.local import submission as sending
else:
    sending = lazy_module("caliper.local.submission")

File = Annotated[Path, typer.Argument(metavar="FILE")]
Name = Annotated[str, typer.Argument(metavar="SUITE")]
SomeName = Annotated[str, typer.Argument(metavar="[SUITE]")]

app = typer.Typer(help="Evaluate every checkpoint as a suite defines.", no_args_is_help=True)


def registry() -> SuiteRegistry:
    """The registry of this folder."""
    return SuiteRegistry(suite_store(), SystemClock())


@app.command("apply")
def apply(file: File, server: InstalledServer = None, json: Json = False) -> int:
    """Create a suite, or give it a new version (docs/continuous.md)."""
    record, is_new = asyncio.run(applied(file, server))
    if json:
        write_json({**_as_json(record), "new": is_new})
    else:
        suite = record.suite
        change = "new version" if is_new else "unchanged"
        OUT.print(f"{suite.name}  {suite.version}  {change}", soft_wrap=True, highlight=False)
    return Exit.DONE


async def applied(file: Path, server: str | None = None) -> tuple[SuiteRecord, bool]:
    """Apply the suite in a file; returns its record, and whether it is a new version."""
    suite = read_suite(file, installed=server is not None)
    for spec in without_revision(suite):
        ERR.print(
            f"[yellow]Note:[/yellow] {plain(spec)} names no revision. Unless its server reports "
            "one, no verdict is reused between checkpoints.",
            soft_wrap=True,
        )
    if server is not None:
        suite = await _installed(suite, file, server)
    async with administration(server) as suites:
        return await suites.apply(suite)


async def _installed(suite: Suite, file: Path, server: str) -> Suite:
    """The suite of a file as an installation keeps it. Errors name file and line."""
    root, values = read_document(file)
    try:
        for name, target in values.get("notify", {}).items():
            for field in ("url", "secret"):
                check_absolute(target.get(field, ""), f"notify.{name}.{field}")
        _check_installable(values)
        return await ask_gateway(server, lambda gateway: sending.push_suite(suite, gateway.push))
    except InvalidInput as error:
        if error.file not in ("", f"suite {suite.name}"):
            raise
        line = line_of(root, error.field.split("."))
        raise InvalidInput(error.message, file=str(file), line=line, field=error.field) from error


def _check_installable(values: Mapping[str, Any]) -> None:
    """Raise InvalidInput for settings that an installation does not support."""
    if "export" in values:
        message = "an installation does not export; use `caliper export --server`"
        raise InvalidInput(message, field="export")


@app.command("list")
def list_suites(server: InstalledServer = None, json: Json = False) -> int:
    """List the suites."""
    records = asyncio.run(_records(server))
    if json:
        write_json([_as_json(record) for record in records])
        return Exit.DONE
    for record in records:
        line = f"{record.suite.name}  {record.state}  {record.suite.version}"
        OUT.print(f"{line}  applied {record.applied}", soft_wrap=True, highlight=False)
    return Exit.DONE


async def _records(server: str | None, names: Sequence[str] = ()) -> Sequence[SuiteRecord]:
    """The suites of these names, or all. Of all, a damaged one is named on standard error."""
    async with administration(server) as suites:
        listing = await suites.suites(names)
    show_unreadable(listing.unreadable)
    return listing.records


def show_unreadable(errors: Sequence[str]) -> None:
    """Name unreadable suites and entries on standard error."""
    for error in errors:
        ERR.print(f"[yellow]Unreadable:[/yellow] {plain(error)}", soft_wrap=True)


@app.command("show")
def show(name: Name, server: InstalledServer = None, json: Json = False) -> int:
    """Show a suite, resolved."""
    (record,) = asyncio.run(_records(server, [name]))
    show_values({**_as_json(record), "values": record.suite.values}, json=json)
    return Exit.DONE


def show_values(values: Any, *, json: bool) -> None:
    """Print nested values as JSON, or as YAML for people."""
    if json:
        write_json(values)
    else:
        plain_values = loads(canonical_json(values))
        write_out(yaml.safe_dump(plain_values, sort_keys=False, allow_unicode=True))


@app.command("pause")
def pause(name: Name, server: InstalledServer = None, json: Json = False) -> int:
    """Register checkpoints, but do not evaluate them."""
    return _change(name, SuiteCause.PAUSE, server, json=json)


@app.command("resume")
def resume(name: Name, server: InstalledServer = None, json: Json = False) -> int:
    """Resume evaluation, also after `retire`."""
    return _change(name, SuiteCause.RESUMPTION, server, json=json)


@app.command("retire")
def retire(name: Name, server: InstalledServer = None, json: Json = False) -> int:
    """Take no more checkpoints."""
    return _change(name, SuiteCause.RETIREMENT, server, json=json)


def _change(name: str, cause: SuiteCause, server: str | None, *, json: bool) -> int:
    async def change() -> SuiteRecord:
        async with administration(server) as suites:
            return await suites.change(name, cause)

    record = asyncio.run(change())
    if json:
        write_json(_as_json(record))
    else:
        OUT.print(f"{record.suite.name}  {record.state}", highlight=False)
    return Exit.DONE


@app.command("status")
def status(name: SomeName = "", server: InstalledServer = None, json: Json = False) -> int:
    """Show waiting, running and decided checkpoints, and their cost."""
    statuses = asyncio.run(_status(name, server))
    if json:
        write_json(statuses)
        return Exit.DONE
    columns = ("suite", "state", "version", "checkpoints", "calls", "tokens", "saved", "reused")
    table = text_table((*columns, "last", "undelivered"))
    for each in statuses:
        counts = ", ".join(f"{count} {state}" for state, count in each["checkpoints"].items())
        costs = tuple(f"{each[name]:,}" for name in ("calls", "tokens", "saved", "reused"))
        ends = (plain(each["last"]), str(each["undelivered"] or ""))
        table.add_row(each["suite"], each["state"], each["version"], counts, *costs, *ends)
    OUT.print(table)
    for line in (line for each in statuses for line in status_lines(each)):
        OUT.print(plain(line), soft_wrap=True, highlight=False)
    for slot in {each["slot"]["name"]: each["slot"] for each in statuses if each["slot"]}.values():
        queue = "".join(f"; then {label}" for label in slot["queue"])
        line = f"slot {slot['name']}: {slot['served'] or 'free'}{queue}"
        OUT.print(plain(line), soft_wrap=True, highlight=False)
    for line in (line for each in statuses for line in budget_lines(each)):
        OUT.print(plain(line), soft_wrap=True, highlight=False)
    return Exit.DONE


async def _status(name: str, server: str | None) -> list[dict[str, Any]]:
    async with administration(server) as suites:
        slots = {each.name: fields_of(each) for each in await suites.slots()}
        listing = await suites.suites([name] if name else ())
        show_unreadable(listing.unreadable)
        return [
            {**_as_json(each), **await suite_status(suites, each.suite, slots)}
            for each in listing.records
        ]


def _as_json(record: SuiteRecord) -> dict[str, Any]:
    suite = record.suite
    return {
        "suite": suite.name,
        "state": record.state,
        "version": suite.version,
        "applied": record.applied,
        "baseline": str(suite.baseline),
        "priority": suite.priority,
        "keep": suite.keep,
    }
