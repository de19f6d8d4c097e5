"""What the READMEs of deploy/k8s say of sizes and of settings of one's own is so."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.deploy import schemas
from tests.deploy.examples import EXAMPLES, README, example, kustomization, write
from tests.deploy.objects import Object, Pod, called, of_kind, pods
from tests.deploy.rendering import BASE, OF_GPUS, RENDERINGS, Rendering, build, rendered
from tests.servers import kustomize

_UNITS = {"m": 0.001, "": 1.0, "Mi": 2.0**-10, "Gi": 1.0}
_MODELS = ("tgi-judge", "tgi-reader", "triton")


def _amount(written: str) -> float:
    """CPUs, or GiB."""
    number = str(written).rstrip("GMim")
    return float(number) * _UNITS[str(written).removeprefix(number)]


def _requested(pod: Pod, what: str) -> float:
    """By all pods of a workload: of its containers together, or of one that goes before them."""
    replicas: int = pod.owner["spec"].get("replicas", 1)
    asked = {
        each["name"]: _amount(each["resources"]["requests"].get(what, 0)) for each in pod.containers
    }
    return replicas * max(sum(asked[each["name"]] for each in pod.running), *asked.values())


def _every() -> Iterator[Pod]:
    return pods(rendered(BASE))


def test_requests_are_added_up() -> None:
    told = re.search(
        r"all pods together: (\d+) CPUs and (\d+) GiB, of which model servers have (\d+) and (\d+)",
        README,
    )
    assert told is not None
    every = [sum(_requested(pod, what) for pod in _every()) for what in ("cpu", "memory")]
    models = [
        sum(_requested(pod, what) for pod in _every() if pod.component in _MODELS)
        for what in ("cpu", "memory")
    ]
    assert [round(each) for each in (*every, *models)] == [int(each) for each in told.groups()]


def test_gpus_are_counted() -> None:
    assert "- Three GPUs" in README
    assert sum(_requested(pod, "nvidia.com/gpu") for pod in _every()) == 3


def test_volumes_are_told() -> None:
    sizes = {
        pod.component: (pod.owner["spec"]["replicas"], _amount(_storage(claim)))
        for pod in _every()
        for claim in pod.owner["spec"].get("volumeClaimTemplates", [])
    }
    (weights,) = of_kind(rendered(BASE), "PersistentVolumeClaim")
    told = re.search(
        r"(\d+) x (\d+) GiB for Kafka, (\d+) for MinIO, (\d+) for Prometheus; and (\d+) for w",
        README,
    )
    assert told is not None
    brokers, kafka, minio, prometheus, models = map(int, told.groups())
    assert sizes == {"kafka": (brokers, kafka), "minio": (1, minio), "prometheus": (1, prometheus)}
    assert _amount(_storage(weights)) == models


def _storage(claim: Any) -> str:
    found: str = claim["spec"]["resources"]["requests"]["storage"]
    return found


def test_the_oldest_kubernetes_is_told() -> None:
    assert f"- Kubernetes {schemas.VERSIONS[0]} or newer" in README


def _built(wanted: Object, folder: Path) -> list[Object]:
    """What kustomize makes of it, or made of the same before."""
    components = tuple(Path(each).name for each in wanted.get("components", []))
    same = Rendering(wanted["resources"][0].removeprefix("../"), components)
    if not wanted.keys() - {"resources", "components"} and same in RENDERINGS:
        return list(rendered(same))
    return build(write(wanted, folder))


def _chosen(objects: Iterable[Object], target: Object) -> list[Object]:
    """The objects that a patch is for."""
    return [
        each
        for each in objects
        if re.fullmatch(target["kind"], each["kind"])
        and re.fullmatch(target.get("name", ".*"), each["metadata"]["name"])
    ]


@pytest.mark.components(kustomize.NAME)
@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in EXAMPLES])
def test_settings_of_ones_own_render(text: str, tmp_path: Path) -> None:
    wanted = kustomization(text)
    made = _built(wanted, tmp_path / "whole")
    assert list(rendered(BASE)) != made
    assert [fault for each in made for fault in schemas.faults(each, schemas.VERSIONS[-1])] == []
    if patches := wanted.pop("patches", []):
        before = _built(wanted, tmp_path / "without")
        for target in (patch["target"] for patch in patches):
            # A patch whose target is not there does nothing, without a word.
            assert _chosen(made, target) != _chosen(before, target)


@pytest.mark.components(kustomize.NAME)
def test_settings_of_workloads_go_with_several_judges(tmp_path: Path) -> None:
    storage, gpus = (
        kustomization(example(each))["patches"] for each in ("Storage classes", "Other GPUs")
    )
    several = {"resources": ["../base"], "components": ["../components/judge-replicas"]}
    made = build(write(several | {"patches": [*storage, *gpus]}, tmp_path / "mine"))
    (judge,) = (each for each in pods(made) if each.name == "StatefulSet/tgi-judge")
    assert "nvidia.com/mig-3g.40gb" in judge.spec["containers"][0]["resources"]["requests"]


@pytest.mark.components(kustomize.NAME)
def test_a_second_installation_has_no_object_in_common_with_the_first(tmp_path: Path) -> None:
    wanted = kustomization(example("A second installation"))
    first = rendered(Rendering("base", OF_GPUS))
    second = build(write(wanted | {"components": ["../components/keda-gpus"]}, tmp_path / "mine"))
    names = [
        {(called(each), each["metadata"].get("namespace")) for each in objects}
        for objects in (first, second)
    ]
    assert names[0].isdisjoint(names[1])
    assert len(names[0]) == len(names[1])
    # Nor does anything of the second one call the first.
    assert not re.search(r"\bcaliper\.svc\b", json.dumps(second))
