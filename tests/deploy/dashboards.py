"""The dashboards as Grafana gets them: read from the JSON, knowing nothing of what wrote it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from tests.fakes.sources import ROOT

from caliper.adapters.metrics.catalogue import METRICS, MetricType

FILES = sorted((ROOT / "deploy" / "grafana" / "dashboards").glob("*.json"))
RULES = sorted((ROOT / "deploy" / "prometheus" / "rules").glob("*.yaml"))
NAMES = re.compile(r"\bcaliper_\w+")
CATALOGUE = {metric.name: metric for metric in METRICS}
_RECORDED = re.compile(r"\b\w+:[\w:]+")
_SELECTOR = re.compile(r"(?<![:\w])(caliper_\w+)\{([^}]*)\}")
_TEXTS = re.compile(r'"[^"]*"')


class DashboardQuery(NamedTuple):
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


def queries() -> Iterator[DashboardQuery]:
    for file in FILES:
        for panel in panels(file):
            for target in panel["targets"]:
                place = f"{file.stem}: {panel['title']} {target['refId']}"
                yield DashboardQuery(place, target["expr"], target["range"])


def annotations() -> Iterator[DashboardQuery]:
    for file in FILES:
        for each in load(file)["annotations"]["list"]:
            yield DashboardQuery(f"{file.stem}: {each['name']}", each["expr"], over_time=True)


def variables() -> Iterator[DashboardQuery]:
    """Those whose values come from Prometheus."""
    for file in FILES:
        for variable in load(file)["templating"]["list"]:
            if variable["type"] == "query":
                place = f"{file.stem}: ${variable['name']}"
                yield DashboardQuery(place, variable["query"]["query"], over_time=False)


def rules() -> Iterator[Any]:
    for file in RULES:
        for group in yaml.safe_load(file.read_text("utf-8"))["groups"]:
            yield from group["rules"]


def metrics(expr: str) -> set[str]:
    """The metrics of the catalogue that an expression uses, by the names that they have there."""
    return {whole(name) for name in NAMES.findall(_RECORDED.sub("", _TEXTS.sub("", expr)))}


def whole(name: str) -> str:
    """A histogram's name without what the client adds to it."""
    stem = re.sub(r"_(bucket|sum|count)$", "", name)
    kind = CATALOGUE.get(stem)
    return stem if kind is not None and kind.type is MetricType.HISTOGRAM else name


def matched_labels(expr: str) -> Iterator[tuple[str, str]]:
    """Each label that a metric is chosen by, with that metric."""
    for name, inside in _SELECTOR.findall(expr):
        for label in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", _TEXTS.sub("", inside)):
            yield whole(name), label


def grouping_labels(expr: str) -> set[str]:
    groups = re.findall(r"\b(?:by|on) \(([^)]*)\)", expr)
    return {label.strip() for group in groups for label in group.split(",") if label.strip()}
