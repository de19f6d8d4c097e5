"""`caliper plugins`: lists what other packages add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from rich.table import Table

from caliper.benchmarks import registry
from caliper.cli.console import OUT, plain, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json
from caliper.cli.tables import text_table
from caliper.plugins import Declaration
from caliper.wiring.data_sources import DATASETS
from caliper.wiring.export_sinks import SINKS
from caliper.wiring.specs import BACKENDS


def plugins(json: Json = False) -> int:
    """List the plug-ins of other packages.

    Exit code 1: one cannot be used.
    """
    groups = (registry.PLUGINS, BACKENDS, DATASETS, SINKS)
    declarations = [declaration for group in groups for declaration in group.declarations()]
    if json:
        write_json([asdict(each) for each in declarations])
    elif declarations:
        OUT.print(_table(declarations))
    else:
        OUT.print("No plug-ins are installed.")
    return Exit.NO if any(each.problem for each in declarations) else Exit.DONE


def _table(declarations: Sequence[Declaration]) -> Table:
    table = text_table(["group", "name", "package", "version", "declared in", "state"])
    for each in declarations:
        cells = (each.group, each.name, each.package, each.version, each.place)
        state = f"[red]{plain(each.problem)}[/red]" if each.problem else "ok"
        table.add_row(*map(plain, cells), state)
    return table
