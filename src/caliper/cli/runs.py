"""`caliper runs`: lists the runs of an installation, and removes old ones from its store."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any

import typer

from caliper.cli.audit_lines import audit_line
from caliper.cli.console import OUT, plain, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json
from caliper.cli.installation import InstalledServer, InstalledStore
from caliper.cli.remote import as_json, run_line
from caliper.core.errors import InvalidInput
from caliper.local.installation import open_gateway, store_at
from caliper.pipeline.gateway.purge import OldRun, Retention, delete_run, old_runs
from caliper.pipeline.store.pack_store import PackStore
from caliper.pipeline.store.run_record import Evaluation
from caliper.pipeline.suites.kept_runs import runs_of_suites
from caliper.wiring.clock import SystemClock

Name = Annotated[str, typer.Option("--name", help="Only runs of the checkpoint with this label.")]
Days = Annotated[
    float | None,
    typer.Option(
        "--older-than", metavar="DAYS", min=0, help="Runs that ended at least this many days ago."
    ),
]
Keep = Annotated[
    int | None,
    typer.Option(
        "--keep",
        metavar="N",
        min=1,
        help="All but the N that ended last; with --older-than, both must apply.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Remove them; otherwise they are only listed.")]

app = typer.Typer(help="List the runs of an installation, newest first, or remove old ones.")


@app.callback(invoke_without_command=True)
def list_runs(
    context: typer.Context, server: InstalledServer = None, name: Name = "", json: Json = False
) -> int:
    """List the runs of an installation, newest first, or remove old ones."""
    if context.invoked_subcommand is not None:
        return Exit.DONE
    if server is None:
        raise InvalidInput("--server HOST:PORT is needed: the gateway whose runs are listed")
    evaluations = asyncio.run(_all_runs(server, name))
    if json:
        write_json([as_json(evaluation) for evaluation in evaluations])
        return Exit.DONE
    for evaluation in evaluations:
        started = f"{evaluation.started:%Y-%m-%d %H:%M}"
        OUT.print(f"{started}  {run_line(evaluation)}", soft_wrap=True, highlight=False)
    return Exit.DONE


async def _all_runs(server: str, name: str) -> list[Evaluation]:
    listed: list[Evaluation] = []
    token = ""
    async with open_gateway(server) as gateway:
        while True:
            page = await gateway.list(token=token, name=name)
            listed += page.evaluations
            token = page.next
            if not token:
                return listed


@app.command("purge")
def purge(
    store: InstalledStore = None,
    older_than: Days = None,
    keep: Keep = None,
    yes: Yes = False,
    json: Json = False,
) -> int:
    """Remove old runs from the store, with the replies that no other run uses.

    Without --yes, only lists them, with their objects and bytes. A run stays if it is not over,
    ended within the last hour, cannot be read, or is kept by a suite. Datasets, media, uploaded
    captions and replies of captioners stay. After an interruption, the same command completes the
    removal.
    """
    if older_than is None and keep is None:
        raise InvalidInput("say which runs: --older-than DAYS, --keep N, or both")
    age = None if older_than is None else timedelta(days=older_than)
    old = asyncio.run(_purge(store, Retention(keep, age), yes=yes, quiet=json))
    objects, size = sum(each.objects for each in old), sum(each.size for each in old)
    if json:
        totals = {"removed": yes, "objects": objects, "bytes": size}
        write_json(totals | {"runs": [_as_json(each) for each in old]})
    else:
        total = f"{len(old):,} runs, {objects:,} objects, {size:,} bytes"
        end = "removed" if yes else "to remove; nothing was changed, add --yes to remove them"
        OUT.print(f"{total} {end}.", soft_wrap=True, highlight=False)
    return Exit.DONE


async def _purge(
    place: str | None, retention: Retention, *, yes: bool, quiet: bool
) -> list[OldRun]:
    clock, old = SystemClock(), list[OldRun]()
    store = PackStore(store_at(place), clock)
    retention = replace(retention, kept=await runs_of_suites(store, clock))
    async for each in old_runs(store, retention, clock.now()):
        if yes and not await _remove(store, each):
            continue
        old.append(each)
        if not quiet:
            OUT.print(_line(each), soft_wrap=True, highlight=False)
    return old


async def _remove(store: PackStore, old: OldRun) -> bool:
    with audit_line("runs purge", old.run) as record:
        removed = await delete_run(store, old)
        if not removed:
            # Started again: it stays.
            record.outcome = "ABORTED"
    return removed


def _line(old: OldRun) -> str:
    about = "rest of an interrupted purge"
    if old.spec is not None and old.ended is not None:
        about = f"{old.ended:%Y-%m-%d %H:%M}  {plain(old.spec.name)} {old.state}"
    return f"{old.run}  {about}  {old.objects:,} objects, {old.size:,} bytes"


def _as_json(old: OldRun) -> dict[str, Any]:
    return {
        "run": old.run,
        "name": old.spec and old.spec.name,
        "state": old.state,
        "ended": old.ended and old.ended.isoformat(),
        "objects": old.objects,
        "bytes": old.size,
    }
