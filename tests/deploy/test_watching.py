"""Prometheus finds every service, under the name that alerts and dashboards look for, and Grafana
finds Prometheus and the dashboards.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.deploy.dashboards import FILES, RULES, rules
from tests.deploy.mounts import start
from tests.deploy.objects import Object, Pod, environment, matches, of_kind, pods
from tests.deploy.policies.cluster import SERVICES
from tests.deploy.rendering import RENDERINGS, Rendering, rendered

_OPERATED = [each for each in RENDERINGS if "prometheus-operator" in each.components]
_BUNDLED = [each for each in RENDERINGS if each not in _OPERATED and "external" not in each.parts]
_JOBS = {name for rule in rules() for name in re.findall(r'\bjob="(\w+)"', rule["expr"])}


def _pod(objects: Sequence[Object], component: str) -> Pod:
    (found,) = (pod for pod in pods(objects) if pod.component == component)
    return found


def _watched(objects: Sequence[Object]) -> set[str]:
    return {pod.component for pod in pods(objects) if pod.component in SERVICES}


@pytest.fixture
def config(rendering: Rendering, made: Path, tmp_path: Path) -> Any:
    objects = rendered(rendering)
    pod = _pod(objects, "prometheus")
    start(pod, pod.spec["containers"][0], objects, made, tmp_path)
    (argument,) = (
        each for each in pod.spec["containers"][0]["args"] if each.startswith("--config.file=")
    )
    file = tmp_path / argument.partition("=")[2].lstrip("/")
    return yaml.safe_load(file.read_text("utf-8"))


@pytest.mark.parametrize("rendering", _BUNDLED, ids=str)
def test_every_service_is_found_by_dns(rendering: Rendering, config: Any) -> None:
    objects = rendered(rendering)
    headless = {
        (each["metadata"]["name"], port["port"])
        for each in of_kind(objects, "Service")
        if each["spec"].get("clusterIP") == "None"
        # One that is not ready is the one to be looked at.
        and each["spec"].get("publishNotReadyAddresses")
        for port in each["spec"]["ports"]
        if port["targetPort"] == "metrics"
    }
    asked = {
        (name, found["port"])
        for job in config["scrape_configs"]
        for found in job["dns_sd_configs"]
        for name in found["names"]
        if found["type"] == "A"
    }
    assert {f"{name}-metrics" for name in _watched(objects)} <= {name for name, _ in headless}
    assert headless <= asked
    names = {job["job_name"]: job for job in config["scrape_configs"]}
    assert set(names) >= _JOBS
    # Nothing but services is a part of what alerts are about.
    (ours,) = names["caliper"]["dns_sd_configs"]
    assert set(ours["names"]) == {f"{name}-metrics" for name in SERVICES}


@pytest.mark.parametrize("rendering", _BUNDLED, ids=str)
def test_no_job_needs_a_token(rendering: Rendering, config: Any) -> None:
    for job in config["scrape_configs"]:
        assert not {"authorization", "basic_auth", "bearer_token_file"} & set(job)


@pytest.mark.parametrize("rendering", _BUNDLED, ids=str)
def test_the_rules_are_loaded(rendering: Rendering, config: Any, tmp_path: Path) -> None:
    loaded = {
        file.name: file.read_bytes()
        for pattern in config["rule_files"]
        for file in tmp_path.glob(pattern.lstrip("/"))
    }
    assert loaded == {file.name: file.read_bytes() for file in RULES}


@pytest.mark.parametrize("rendering", _OPERATED, ids=str)
def test_an_operator_is_told_the_same(rendering: Rendering) -> None:
    objects = rendered(rendering)
    by_job = {
        relabeling["replacement"]: item["spec"]["selector"]
        for item in of_kind(objects, "PodMonitor")
        for endpoint in item["spec"]["podMetricsEndpoints"]
        for relabeling in endpoint["relabelings"]
        if relabeling.get("targetLabel") == "job"
    }
    assert set(by_job) >= _JOBS
    chosen = {pod.component for pod in pods(objects) if matches(by_job["caliper"], pod.labels)}
    assert chosen == _watched(objects)
    told = [
        group for item in of_kind(objects, "PrometheusRule") for group in item["spec"]["groups"]
    ]
    said = [group for file in RULES for group in yaml.safe_load(file.read_text("utf-8"))["groups"]]
    assert told == said


@pytest.mark.parametrize("rendering", RENDERINGS, ids=str)
def test_grafana_has_the_dashboards_and_asks_prometheus(
    rendering: Rendering, made: Path, tmp_path: Path
) -> None:
    objects = rendered(rendering)
    pod = _pod(objects, "grafana")
    (container,) = pod.spec["containers"]
    start(pod, container, objects, made, tmp_path)
    given = environment(container, objects)
    provisioned = tmp_path / given["GF_PATHS_PROVISIONING"].lstrip("/")
    (provider,) = yaml.safe_load((provisioned / "dashboards/caliper.yaml").read_text("utf-8"))[
        "providers"
    ]
    folder = tmp_path / provider["options"]["path"].lstrip("/")
    assert {each.name: each.read_bytes() for each in folder.iterdir()} == {
        each.name: each.read_bytes() for each in FILES
    }
    (source,) = yaml.safe_load((provisioned / "datasources/prometheus.yaml").read_text("utf-8"))[
        "datasources"
    ]
    assert source["url"] == "${PROMETHEUS_URL}"
    if rendering in _BUNDLED:
        (service,) = (
            each for each in of_kind(objects, "Service") if each["metadata"]["name"] == "prometheus"
        )
        host, port = "prometheus.caliper.svc.cluster.local", service["spec"]["ports"][0]["port"]
        assert given["PROMETHEUS_URL"] == f"http://{host}:{port}"
