"""Every query of every dashboard and rule, asked of a real Prometheus, finds something."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from urllib.request import urlopen

import pytest
from tests.deploy.dashboards import DashboardQuery, annotations, queries, rules, variables
from tests.deploy.prometheus import Prometheus, substituted
from tests.fakes.exporter import exporter
from tests.servers import metrics_server
from tests.servers.process import ServerProcess

ALL = dict.fromkeys(("team", "model", "benchmark", "dimension", "endpoint"), ".*") | {
    "namespace": "caliper"
}
CHOSEN = {
    "namespace": "caliper",
    "team": "vision",
    "model": "step-2000",
    "benchmark": "captionqa|comprecap|capability",
    "dimension": "average|overall|OCR",
    "endpoint": "judge-8b|reader-72b",
}
WAITS = 60.0


@pytest.fixture(scope="module")
def prometheus(own_prometheus: tuple[ServerProcess, str]) -> Iterator[Prometheus]:
    """A Prometheus that has scraped an installation several times."""
    server, url = own_prometheus
    with exporter() as address:
        metrics_server.scrape(server.log.parent, [address], namespace="caliper")
        found = Prometheus(url)
        until(found, "min(count_over_time(caliper_build_info[1m])) >= 5")
        until(found, "count(stage:caliper_jobs_busy:rate5m)")
        yield found


def until(prometheus: Prometheus, expr: str) -> None:
    deadline = time.monotonic() + WAITS
    while not prometheus.instant(expr):
        assert time.monotonic() < deadline, f"{expr} found nothing in {WAITS} s"
        time.sleep(0.2)


@pytest.mark.parametrize("values", [ALL, CHOSEN], ids=["all", "chosen"])
@pytest.mark.parametrize("asked", list(queries()), ids=lambda asked: asked.place)
def test_a_panel_has_data(
    prometheus: Prometheus, asked: DashboardQuery, values: dict[str, str]
) -> None:
    expr = substituted(asked.expr, values)
    assert "$" not in expr
    if asked.over_time:
        now = time.time()
        found = prometheus.over(expr, now - 5, now, 1)
    else:
        found = prometheus.instant(expr)
    assert found, expr
    assert any(math.isfinite(value) for series in found for _, value in series.points), expr


def test_starts_of_runs_and_versions_are_marked(prometheus: Prometheus) -> None:
    marked = list(annotations())
    assert len(marked) == 2 * 3
    for asked in marked:
        expr, now = substituted(asked.expr, ALL), time.time()
        found = prometheus.over(expr, now - 5, now, 1)
        if "started" in expr:
            # Milliseconds, at which Grafana draws the mark.
            assert {now - 3600 < point[1] / 1000 < now for each in found for point in each.points}
            assert {each.labels["model"] for each in found} == {"step-1000", "step-2000"}
        else:
            # A new version is one for its first minute.
            before = prometheus.over(expr.partition(" unless ")[0], now - 5, now, 1)
            assert {each.labels["version"] for each in before} == {"0.1.0"}


@pytest.mark.parametrize("asked", list(variables()), ids=lambda asked: asked.place)
def test_a_variable_has_values(prometheus: Prometheus, asked: DashboardQuery) -> None:
    assert prometheus.values(substituted(asked.expr, ALL))


def test_every_rule_is_evaluated_without_an_error(
    prometheus: Prometheus, own_prometheus: tuple[ServerProcess, str]
) -> None:
    address = f"{own_prometheus[1]}/api/v1/rules"
    with urlopen(address, timeout=30) as answer:  # noqa: S310 - a server of our own
        groups = json.load(answer)["data"]["groups"]
    told = {
        rule["name"]: (rule["health"], rule.get("lastError")) for g in groups for rule in g["rules"]
    }
    assert len(told) == len(list(rules()))
    assert set(told.values()) == {("ok", None)}, told


@pytest.mark.parametrize(
    "rule", [rule for rule in rules() if "record" in rule], ids=lambda rule: rule["record"]
)
def test_a_recording_rule_records(prometheus: Prometheus, rule: dict[str, str]) -> None:
    until(prometheus, rule["record"])
