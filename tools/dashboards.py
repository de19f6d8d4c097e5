# ruff: noqa: INP001 - a script beside the package, imported by nobody
"""Write Grafana's dashboards and docs/dashboards.md from deploy/grafana/panels, or with --check
say whether they are up to date.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from generated import ROOT, written
from grafana import as_json
from panels import DASHBOARDS, Dashboard, Panel, read

FOLDER = ROOT / "deploy" / "grafana" / "dashboards"
PAGE = ROOT / "docs" / "dashboards.md"
_INTRODUCTION = """# Dashboards

<!-- Written by tools/dashboards.py from deploy/grafana/panels. Do not edit: run `make docs`. -->

Three dashboards for Grafana 11 or newer, built on [these metrics](metrics.md). The pictures show
a run on the examples with stand-in models: its scores mean nothing. A panel without data is empty:
model panels with the lexical judge, the anchor panel with anchors turned off.

**Install:** let Prometheus scrape the services (`deploy/prometheus` has a sample configuration and
the rules). Then import the files of `deploy/grafana/dashboards` into Grafana, or mount that folder
and `deploy/grafana/provisioning`. Alerts: [alerts.md](alerts.md).

**Change a panel:** edit `deploy/grafana/panels` (with the queries, in display
order), then run `make docs`."""


def page(dashboards: dict[str, Dashboard]) -> str:
    """docs/dashboards.md."""
    return "\n\n".join(
        (_INTRODUCTION, *("\n\n".join(_chapter(*each)) for each in dashboards.items()), "")
    ).replace("\n\n\n", "\n\n")


def _chapter(name: str, dashboard: Dashboard) -> Iterator[str]:
    yield f"## {dashboard.title}"
    chosen = ", ".join(f"`{variable.name}`" for variable in dashboard.variables)
    file = f"`deploy/grafana/dashboards/{name}.json`"
    yield f"{dashboard.description} Variables: {chosen}. File: {file}."
    yield f"![Every panel of {dashboard.title}](images/dashboard-{name}.svg)"
    lines = ["| panel | shows |", "|---|---|"]
    lines += [_line(panel) for row in dashboard.rows for panel in row.panels]
    yield "\n".join(lines)


def _line(panel: Panel) -> str:
    return f"| {panel.title.replace('$', 'each ')} | {panel.description} |"


def files() -> dict[Path, str]:
    """What is written, by its place."""
    dashboards = {name: read(name) for name in DASHBOARDS}
    return {
        PAGE: page(dashboards),
        **{
            FOLDER / f"{name}.json": json.dumps(as_json(each), indent=2, ensure_ascii=False) + "\n"
            for name, each in dashboards.items()
        },
    }


if __name__ == "__main__":
    sys.exit(written(files(), sys.argv[1:]))
