"""What the component alertmanager is told fits the rules, and what it mounts."""

from __future__ import annotations

from typing import Any

import yaml
from tests.deploy.mounts import BY_PEOPLE
from tests.deploy.objects import of_kind, pods
from tests.deploy.rendering import MANIFESTS, Rendering, rendered
from tests.fakes.sources import ROOT

OBJECTS = rendered(Rendering("base", ("alertmanager",)))
TOLD: Any = yaml.safe_load(
    (MANIFESTS / "components" / "alertmanager" / "alertmanager.yml").read_text("utf-8")
)


def test_its_routes_are_of_severities_that_alerts_have() -> None:
    rules = yaml.safe_load((ROOT / "deploy/prometheus/rules/alerts.yaml").read_text("utf-8"))
    severities = {rule["labels"]["severity"] for each in rules["groups"] for rule in each["rules"]}
    matched = {one for route in TOLD["route"]["routes"] for one in route["matchers"]}
    assert severities == {"page", "ticket"}
    assert matched == {'severity="page"'}


def test_its_receiver_reads_the_address_from_the_secret() -> None:
    (receiver,) = TOLD["receivers"]
    assert TOLD["route"]["receiver"] == receiver["name"]
    (pod,) = (each for each in pods(OBJECTS) if each.component == "alertmanager")
    (container,) = pod.containers
    mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    (volume,) = (each for each in pod.spec["volumes"] if "secret" in each)
    (key,) = BY_PEOPLE[volume["secret"]["secretName"]]
    (webhook,) = receiver["webhook_configs"]
    assert webhook["url_file"] == f"{mounts[volume['name']]}/{key}"


def test_prometheus_finds_it_by_its_service() -> None:
    (service,) = (
        each for each in of_kind(OBJECTS, "Service") if each["metadata"]["name"] == "alertmanager"
    )
    (given,) = (
        yaml.safe_load(each["data"]["prometheus.yml"])
        for each in of_kind(OBJECTS, "ConfigMap")
        if "prometheus.yml" in each.get("data", {})
    )
    (manager,) = given["alerting"]["alertmanagers"]
    (found,) = manager["dns_sd_configs"]
    assert found["names"] == [service["metadata"]["name"]]
    assert found["port"] == service["spec"]["ports"][0]["port"]
