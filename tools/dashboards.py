# ruff: noqa: INP001 - a standalone script
"""Write Grafana's dashboards from deploy/grafana/panels; with --check, compare them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from generation import ROOT, written
from grafana import as_json
from panels import DASHBOARDS, read

FOLDER = ROOT / "deploy" / "grafana" / "dashboards"


def files() -> dict[Path, str]:
    """The text of each file, by path."""
    return {
        FOLDER / f"{name}.json": json.dumps(as_json(read(name)), indent=2, ensure_ascii=False)
        + "\n"
        for name in DASHBOARDS
    }


if __name__ == "__main__":
    sys.exit(written(files(), sys.argv[1:]))
