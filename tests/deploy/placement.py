"""What became of the pods of an installation on a cluster whose nodes are on paper."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tests.servers.kube_api import KubeApi

WITHIN = 90.0
"""Seconds for controllers and scheduler to do their work."""
_COMPONENT = "app.kubernetes.io/component"


def got(api: KubeApi, kind: str, component: str = "") -> list[dict[str, Any]]:
    """The objects of an installation, or of one of its components."""
    return api.listed(kind, "caliper", f"{_COMPONENT}={component}" if component else "")


def until(found: Callable[[], object], wanted: object) -> None:
    """Wait for it; it fails with what there is instead."""
    deadline = time.monotonic() + WITHIN
    while (there := found()) != wanted and time.monotonic() < deadline:
        time.sleep(0.2)
    assert there == wanted


def wanted(api: KubeApi) -> dict[str, int]:
    found = {}
    for kind, field in (
        ("deployments", "replicas"),
        ("statefulsets", "replicas"),
        ("jobs", "parallelism"),
    ):
        for each in got(api, kind):
            found[each["metadata"]["name"]] = each["spec"][field]
    return found


def placed(api: KubeApi, *, anywhere: bool = False) -> dict[str, int]:
    """How many pods of each workload have a node, or are there at all."""
    found: dict[str, int] = {}
    for pod in got(api, "pods"):
        if anywhere or "nodeName" in pod["spec"]:
            component = pod["metadata"]["labels"][_COMPONENT]
            found[component] = found.get(component, 0) + 1
    return found


def nodes(api: KubeApi) -> dict[str, list[str]]:
    """The nodes of each component's pods, as far as they have one."""
    found: dict[str, list[str]] = {}
    for pod in got(api, "pods"):
        if node := pod["spec"].get("nodeName"):
            found.setdefault(pod["metadata"]["labels"][_COMPONENT], []).append(node)
    return found


def reasons(api: KubeApi, component: str) -> list[str]:
    """Why its pods have no node."""
    return [
        each["message"]
        for pod in got(api, "pods", component)
        for each in pod["status"].get("conditions", ())
        if each["type"] == "PodScheduled" and each["status"] == "False"
    ]
