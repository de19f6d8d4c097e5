"""The dashboards as Grafana gets them: read from the JSON, knowing nothing of what wrote it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "deploy" / "grafana" / "dashboards").glob("*.json"))
RULES = sorted((ROOT / "deploy" / "prometheus" / "rules").glob("*.yaml"))
NAMES = re.compile(r"\bcaliper_\w+")
_TEXTS = re.compile(r'"[^"]*"')


class Asked(NamedTuple):
    """One query of a dashboard, and where it stands."""

    place: str
    expr: str
    over_time: bool


def load(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


def panels(file: Path) -> list[Any]:
    """All panels that are no headings, those within collapsed rows too."""
    top = load(file)["panels"]
    inside = [panel for row in top for panel in row.get("panels", [])]
    return [panel for panel in (*top, *inside) if panel["type"] != "row"]


def queries() -> Iterator[Asked]:
    for file in FILES:
        for panel in panels(file):
            for target in panel["targets"]:
                place = f"{file.stem}: {panel['title']} {target['refId']}"
                yield Asked(place, target["expr"], target["range"])


def variables() -> Iterator[Asked]:
    """Those whose values come from Prometheus."""
    for file in FILES:
        for variable in load(file)["templating"]["list"]:
            if variable["type"] == "query":
                place = f"{file.stem}: ${variable['name']}"
                yield Asked(place, variable["query"]["query"], over_time=False)


def rules() -> Iterator[Any]:
    for file in RULES:
        for group in yaml.safe_load(file.read_text("utf-8"))["groups"]:
            yield from group["rules"]


def metrics(expr: str) -> set[str]:
    """The metrics that an expression uses, without what the client adds to a histogram's name."""
    found = NAMES.findall(_TEXTS.sub("", expr))
    histograms = ("caliper_job_seconds", "caliper_backend_seconds", "caliper_freshness_seconds")
    whole = set()
    for name in found:
        stem = re.sub(r"_(bucket|sum|count)$", "", name)
        whole.add(stem if stem in histograms else name)
    return whole
