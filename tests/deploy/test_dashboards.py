"""The dashboards are whole: what Grafana would only tell when somebody opens them."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.deploy.dashboards import (
    CATALOGUE,
    FILES,
    DashboardQuery,
    annotations,
    grouping_labels,
    load,
    matched_labels,
    metrics,
    panels,
    queries,
    rules,
    variables,
    whole,
)
from tests.fakes.exporter import samples
from tests.fakes.sources import ROOT

# Identifiers of Grafana's units that are used here.
UNITS = {"none", "short", "percentunit", "s", "dtdurations", "cps", "ops", "reqps"}
_TEXTS = re.compile(r'"[^"]*"')
TYPES = {"timeseries", "bargauge", "barchart", "stat", "table"}
PROMETHEUS = {"type": "prometheus", "uid": "${datasource}"}

(THROUGHPUT,) = (file for file in FILES if file.stem == "throughput")

each_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


def test_there_are_the_three() -> None:
    assert [file.stem for file in FILES] == ["evaluation", "health", "throughput"]
    loaded = [load(file) for file in FILES]
    assert len({each["uid"] for each in loaded}) == len({each["title"] for each in loaded}) == 3


def test_they_are_what_the_panels_say() -> None:
    script = ROOT / "tools" / "dashboards.py"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@each_file
def test_numbers_are_unique_and_nothing_overlaps(file: Path) -> None:
    placed = load(file)["panels"]
    numbers = [panel["id"] for panel in placed]
    assert len(set(numbers)) == len(numbers)
    for panel in placed:
        place = panel["gridPos"]
        assert place["x"] >= 0
        assert place["x"] + place["w"] <= 24, panel["title"]
        assert min(place["w"], place["h"]) >= 1
    for one, other in combinations(placed, 2):
        assert not overlap(one["gridPos"], other["gridPos"]), (one["title"], other["title"])


def overlap(one: dict[str, int], other: dict[str, int]) -> bool:
    return (
        one["x"] < other["x"] + other["w"]
        and other["x"] < one["x"] + one["w"]
        and one["y"] < other["y"] + other["h"]
        and other["y"] < one["y"] + one["h"]
    )


@each_file
def test_every_panel_says_what_it_shows_in_which_unit(file: Path) -> None:
    found = panels(file)
    assert len({panel["title"] for panel in found}) == len(found)
    for panel in found:
        assert panel["type"] in TYPES
        assert panel["title"].strip()
        assert panel["description"].endswith("."), panel["title"]
        assert len(panel["description"]) > 30, panel["title"]
        assert panel["fieldConfig"]["defaults"]["unit"] in UNITS, panel["title"]


@each_file
def test_every_query_goes_to_the_chosen_prometheus(file: Path) -> None:
    listed = load(file)["templating"]["list"]
    assert listed[0]["name"] == "datasource"
    assert (listed[0]["type"], listed[0]["query"]) == ("datasource", "prometheus")
    for panel in panels(file):
        assert panel["datasource"] == PROMETHEUS
        assert panel["targets"], panel["title"]
        references = [target["refId"] for target in panel["targets"]]
        assert len(set(references)) == len(references)
        assert all(target["datasource"] == PROMETHEUS for target in panel["targets"])
        assert all(target["instant"] is not target["range"] for target in panel["targets"])
    asked = [each for each in listed[1:] if each["type"] != "textbox"]
    assert all(each["datasource"] == PROMETHEUS for each in asked)


@each_file
def test_variables_are_used_and_those_that_are_used_are_there(file: Path) -> None:
    listed = {
        kind: [each["name"] for each in load(file)["templating"]["list"] if each["type"] == kind]
        for kind in ("query", "textbox")
    }
    text = " ".join(
        asked.expr for asked in (*queries(), *variables()) if asked.place.startswith(file.stem)
    )
    for name in listed["query"]:
        assert f'=~"${name}"' in text, name
    # Several values reach a query as a regular expression: equality would find none of them.
    assert '="$' not in text.replace('=~"$', "")
    known = {f"${name}" for names in listed.values() for name in names} | {"$__rate_interval"}
    used = set(re.findall(r"\$\w+", text))
    assert {f"${name}" for name in listed["textbox"]} <= used <= known


def test_grafana_is_told_of_the_same_interval_as_prometheus() -> None:
    provisioning = ROOT / "deploy" / "grafana" / "provisioning"
    (source,) = yaml.safe_load((provisioning / "datasources" / "prometheus.yaml").read_text())[
        "datasources"
    ]
    scraping = yaml.safe_load((ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text())
    assert source["jsonData"]["timeInterval"] == scraping["global"]["scrape_interval"]
    assert source["type"] == "prometheus"
    (provider,) = yaml.safe_load((provisioning / "dashboards" / "caliper.yaml").read_text())[
        "providers"
    ]
    assert (provider["type"], provider["allowUiUpdates"]) == ("file", False)


EXPRESSIONS = [
    *((asked.place, asked.expr) for asked in (*queries(), *annotations(), *variables())),
    *((rule.get("alert") or rule["record"], rule["expr"]) for rule in rules()),
]


@pytest.mark.parametrize(("place", "expr"), EXPRESSIONS, ids=[place for place, _ in EXPRESSIONS])
def test_metrics_and_labels_are_those_of_the_catalogue(place: str, expr: str) -> None:
    used = metrics(expr)
    assert used <= CATALOGUE.keys()
    for metric, label in matched_labels(expr):
        assert label in (*CATALOGUE[metric].labels, "job", "namespace"), (metric, label)
    if used:
        known = {label for metric in used for label in CATALOGUE[metric].labels} | {
            "le",
            "namespace",
            "instance",
        }
        assert grouping_labels(expr) <= known


@pytest.mark.parametrize(
    "rule", list(rules()), ids=lambda rule: rule.get("alert") or rule["record"]
)
def test_a_rule_keeps_installations_apart(rule: dict[str, Any]) -> None:
    mixed = re.findall(
        r"(?<!:)\b(?:sum|max|min|avg|count|topk)\b(?! by \(namespace\b)", rule["expr"]
    )
    assert mixed == []
    assert re.findall(r"\bon \((?!namespace\b)", rule["expr"]) == []


@pytest.mark.parametrize("asked", [*queries(), *annotations()], ids=lambda asked: asked.place)
def test_a_panel_shows_the_chosen_installations(asked: DashboardQuery) -> None:
    chosen = len(re.findall(r'\{[^}]*\bnamespace=~"\$namespace"', asked.expr))
    assert chosen == len(
        re.findall(r"\b(?:(?:caliper|minio)_\w+|up\b|__name__)", _TEXTS.sub("", asked.expr))
    )


def test_throughput_is_on_one_screen() -> None:
    top = [panel["title"] for panel in panels(THROUGHPUT) if panel["gridPos"]["y"] == 1]
    wanted = ["Verdicts", "Queue", "Time to drain", "Occupancy", "Tokens", "Cost"]
    assert top[: len(wanted)] == wanted


def test_work_is_shown_by_process() -> None:
    shown = {
        metric for each in queries() if "instance" in each.expr for metric in metrics(each.expr)
    }
    assert shown >= {"caliper_job_seconds", "caliper_jobs_in_flight", "caliper_gate_in_flight"}


def test_every_metric_that_is_used_is_documented() -> None:
    page = (ROOT / "docs" / "metrics.md").read_text("utf-8")
    documented = set(
        re.findall(r"^\| `(caliper_\w+)` \| (?:gauge|counter|histogram)", page, re.MULTILINE)
    )
    assert {name for _, expr in EXPRESSIONS for name in metrics(expr)} <= documented


def test_every_metric_is_looked_at() -> None:
    assert {name for _, expr in EXPRESSIONS for name in metrics(expr)} == CATALOGUE.keys()


def test_cost_is_money_at_the_prices_that_the_viewer_types() -> None:
    (cost,) = (panel for panel in panels(THROUGHPUT) if panel["title"] == "Cost")
    prices = {"prompt": "$prompt_price", "completion": "$completion_price"}
    (expr,) = (target["expr"] for target in cost["targets"])
    for kind, price in prices.items():
        assert re.search(rf'kind="{kind}"}}\[5m\]\)\) \* \{price}\b', expr), kind
    typed = [each for each in load(THROUGHPUT)["templating"]["list"] if each["type"] == "textbox"]
    assert [f"${each['name']}" for each in typed] == list(prices.values())
    # A price is a number from the start: without one no query would be valid.
    assert {each["query"] for each in typed} == {"1"}


def test_the_exporter_of_the_tests_shows_what_the_catalogue_has() -> None:
    shown = {(whole(name), *sorted(set(labels) - {"le"})) for name, labels, _ in samples(9, 99)}
    assert shown == {(metric.name, *sorted(metric.labels)) for metric in CATALOGUE.values()}


def test_the_evaluation_is_chosen_by_team_model_benchmark_and_dimension() -> None:
    by_name: dict[str, list[Any]] = {file.stem: load(file)["templating"]["list"] for file in FILES}
    names = {stem: [each["name"] for each in listed] for stem, listed in by_name.items()}
    assert names["evaluation"] == [
        "datasource",
        "namespace",
        "team",
        "model",
        "benchmark",
        "dimension",
    ]
    assert all({"team", "model", "benchmark"} <= set(listed) for listed in names.values())
