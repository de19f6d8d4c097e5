"""`caliper suite`: what is evaluated of every checkpoint, and the loop that does it."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Sequence
from json import loads
from pathlib import Path
from typing import Annotated, Any

import typer
import uvloop
import yaml
from rich.table import Table

from caliper.cli.console import ERR, OUT, plain, write_json, write_out
from caliper.cli.exits import Exit
from caliper.cli.flags import Json
from caliper.cli.progress import WarningWatcher
from caliper.core.checkpoints import CheckpointEntry, EntryState
from caliper.core.errors import InvalidInput
from caliper.core.keys import canonical_json, fields_of
from caliper.core.suites import SuiteCause, SuiteRecord, SuiteState
from caliper.local.serving_config import suite_serving
from caliper.local.sources import WatchedFolder
from caliper.local.suite_config import read_suite, without_revision
from caliper.local.suite_runs import LocalEvaluator, suite_store
from caliper.pipeline.suites.loop import SuiteEvent, SuiteLoop
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.pipeline.suites.slots import slot_states
from caliper.wiring.clock import SystemClock

File = Annotated[Path, typer.Argument(metavar="FILE")]
Name = Annotated[str, typer.Argument(metavar="SUITE")]
Names = Annotated[list[str], typer.Argument(metavar="SUITE...", help="Names, or files to apply.")]
SomeName = Annotated[str, typer.Argument(metavar="[SUITE]")]
Watch = Annotated[
    Path | None,
    typer.Option("--watch", metavar="DIR", help="Register what appears in this folder."),
]
Once = Annotated[bool, typer.Option("--once", help="End when nothing is left to evaluate.")]

app = typer.Typer(help="Evaluate every checkpoint as a suite says.", no_args_is_help=True)


def registry() -> SuiteRegistry:
    """The registry of this folder."""
    return SuiteRegistry(suite_store(), SystemClock())


@app.command("apply")
def apply(file: File, json: Json = False) -> int:
    """Create a suite, or give it a new version (docs/continuous.md)."""
    record, is_new = asyncio.run(_apply(file))
    if json:
        write_json({**_as_json(record), "new": is_new})
    else:
        suite = record.suite
        what = "new version" if is_new else "unchanged"
        OUT.print(f"{suite.name}  {suite.version}  {what}", soft_wrap=True, highlight=False)
    return Exit.DONE


async def _apply(file: Path) -> tuple[SuiteRecord, bool]:
    suite = read_suite(file)
    for spec in without_revision(suite):
        ERR.print(
            f"[yellow]Note:[/yellow] {plain(spec)} names no revision. Unless its server reports "
            "one, no verdict is reused between checkpoints.",
            soft_wrap=True,
        )
    return await registry().apply(suite)


@app.command("list")
def list_suites(json: Json = False) -> int:
    """List the suites."""
    records = asyncio.run(suite_records())
    if json:
        write_json([_as_json(record) for record in records])
        return Exit.DONE
    for record in records:
        line = f"{record.suite.name}  {record.state}  {record.suite.version}"
        OUT.print(f"{line}  applied {record.applied}", soft_wrap=True, highlight=False)
    return Exit.DONE


async def suite_records(names: Sequence[str] = ()) -> list[SuiteRecord]:
    """The suites of these names, or all. Of all, a damaged one is named on standard error."""
    whole = registry()
    if names:
        return [await whole.record(name) for name in names]
    records = []
    for each in await whole.names():
        try:
            records.append(await whole.record(each))
        except InvalidInput as error:
            ERR.print(f"[yellow]Unreadable:[/yellow] {plain(str(error))}", soft_wrap=True)
    return records


@app.command("show")
def show(name: Name, json: Json = False) -> int:
    """Show a suite, resolved."""
    (record,) = asyncio.run(suite_records([name]))
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
def pause(name: Name, json: Json = False) -> int:
    """Only register checkpoints from now on."""
    return _change(name, SuiteCause.PAUSE, json=json)


@app.command("resume")
def resume(name: Name, json: Json = False) -> int:
    """Evaluate again, also after `retire`."""
    return _change(name, SuiteCause.RESUMPTION, json=json)


@app.command("retire")
def retire(name: Name, json: Json = False) -> int:
    """Take no more checkpoints."""
    return _change(name, SuiteCause.RETIREMENT, json=json)


def _change(name: str, cause: SuiteCause, *, json: bool) -> int:
    record = asyncio.run(registry().change(name, cause))
    if json:
        write_json(_as_json(record))
    else:
        OUT.print(f"{record.suite.name}  {record.state}", highlight=False)
    return Exit.DONE


@app.command("status")
def status(name: SomeName = "", json: Json = False) -> int:
    """Show what waits, is evaluated, was decided, and what it cost."""
    shown = asyncio.run(_status(name))
    if json:
        write_json(shown)
        return Exit.DONE
    table = Table(box=None, pad_edge=False)
    for column in ("suite", "state", "version", "checkpoints", "calls", "tokens", "last"):
        table.add_column(column, overflow="fold")
    for each in shown:
        counts = ", ".join(f"{count} {state}" for state, count in each["checkpoints"].items())
        costs = (f"{each['calls']:,}", f"{each['tokens']:,}")
        last = plain(each["last"])
        table.add_row(each["suite"], each["state"], each["version"], counts, *costs, last)
    OUT.print(table)
    for slot in {each["slot"]["name"]: each["slot"] for each in shown if each["slot"]}.values():
        queue = "".join(f"; then {label}" for label in slot["queue"])
        line = f"slot {slot['name']}: {slot['served'] or 'free'}{queue}"
        OUT.print(plain(line), soft_wrap=True, highlight=False)
    return Exit.DONE


async def _status(name: str) -> list[dict[str, Any]]:
    shown = []
    slots = {each.name: fields_of(each) for each in await slot_states(suite_store())}
    for record in await suite_records([name] if name else ()):
        suite = record.suite
        stored, unreadable = await registry().entries(suite.name, suite.version)
        entries = [each.entry for each in stored]
        counts = Counter(str(entry.state) for entry in entries)
        if unreadable:
            counts["unreadable"] = len(unreadable)
        ended = [entry for entry in entries if not entry.is_open]
        last = max(ended, key=lambda entry: entry.since, default=None)
        plan = suite_serving(suite.values)
        shown.append(
            {
                **_as_json(record),
                "checkpoints": dict(counts),
                "evaluating": [
                    entry.checkpoint.label
                    for entry in entries
                    if entry.state is EntryState.EVALUATING
                ],
                "calls": sum(entry.calls for entry in entries),
                "tokens": sum(entry.tokens for entry in entries),
                "slot": None if plan is None else slots.get(plan.place),
                "last": "" if last is None else f"{last.checkpoint.name} {last.state}",
            }
        )
    return shown


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


@app.command("run")
def run(suites: Names, watch: Watch = None, once: Once = False, json: Json = False) -> int:
    """Evaluate the checkpoints of suites, and print a line per event.

    After an interruption, the same command goes on. Exit code with --once: 1 if one regressed or
    failed, 3 if one is inconclusive, 4 if one is left for an endpoint.
    """
    decided: list[CheckpointEntry] = []
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run(suites, watch, once=once, shown=_Events(decided, json=json)))
    return _code(decided)


async def _run(suites: list[str], watch: Path | None, *, once: bool, shown: _Events) -> None:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - a coroutine that runs has a task
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    names = []
    for each in suites:
        is_file = each.endswith((".yaml", ".yml"))
        record = (await _apply(Path(each)))[0] if is_file else await registry().record(each)
        if record.state is SuiteState.RETIRED:
            raise InvalidInput("the suite is retired; resume it first", field=record.suite.name)
        names.append(record.suite.name)
    watcher, clock = WarningWatcher(), SystemClock()
    evaluator = LocalEvaluator(watcher, clock)
    folder = None if watch is None else WatchedFolder(watch, watcher.on_warning, once)
    arrivals = None if folder is None else folder.arrivals
    loop = SuiteLoop(suite_store(), clock, evaluator, shown, arrivals)
    await loop.run(list(dict.fromkeys(names)), once=once)


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
