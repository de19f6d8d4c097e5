"""On clusters that lack something, or have it under another name, what the READMEs say helps."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.deploy.examples import example, kustomization, write
from tests.deploy.objects import Object, called
from tests.deploy.placement import nodes, placed, reasons, until, wanted
from tests.deploy.rendering import BASE, MANIFESTS, build, rendered
from tests.servers import kustomize
from tests.servers.components import KUBE_API
from tests.servers.kube_api import KubeApi
from tests.servers.kube_nodes import Node, add_class, add_local_volumes, add_node, add_volumes

pytestmark = pytest.mark.components(KUBE_API.name, kustomize.NAME)

PLAIN = [Node(f"plain-{number}", cpus=8, gigabytes=16) for number in range(3)]
MODELS = ("tgi-judge", "tgi-reader", "triton")


def _applied(api: KubeApi, text: str, folder: Path) -> None:
    api.kubectl("apply", "-k", write(kustomization(text), folder))


def test_with_one_gpu_node_the_weights_go_where_the_gpus_are(
    cluster: KubeApi, tmp_path: Path
) -> None:
    gpu = Node("gpu", cpus=16, gigabytes=128, gpus=3, taint="nvidia.com/gpu")
    for node in (gpu, *PLAIN):
        add_node(cluster, node)
    add_class(cluster)
    for node, count in ((gpu, 1), *((each, 3) for each in PLAIN)):
        add_local_volumes(cluster, node.name, count)
    _applied(cluster, "components: [../components/one-gpu-node]", tmp_path / "mine")
    until(lambda: placed(cluster), wanted(cluster))
    found = nodes(cluster)
    for component in (*MODELS, "model-download"):
        assert found[component] == ["gpu"], component


def test_two_brokers_never_share_a_node(cluster: KubeApi) -> None:
    for node in PLAIN[:2]:
        add_node(cluster, node)
    add_volumes(cluster, 6, gigabytes=200)
    cluster.apply(rendered(BASE))
    waiting = dict.fromkeys((*MODELS, "kafka"), 1)
    rest = {name: count - waiting.get(name, 0) for name, count in wanted(cluster).items()}
    until(lambda: placed(cluster), {name: count for name, count in rest.items() if count})
    assert sorted(nodes(cluster)["kafka"]) == ["plain-0", "plain-1"]
    (reason,) = reasons(cluster, "kafka")
    assert "topology spread constraints" in reason


def test_without_a_default_class_volumes_are_of_the_classes_that_are_named(
    cluster: KubeApi, tmp_path: Path
) -> None:
    gpu = Node("gpu", cpus=16, gigabytes=128, gpus=3)
    for node in (gpu, *PLAIN):
        add_node(cluster, node)
    add_class(cluster, "fast", default=False)
    for node in PLAIN:
        add_local_volumes(cluster, node.name, 3, "fast")
    add_volumes(cluster, 1, gigabytes=200, storage_class="shared")
    _applied(cluster, example("Storage classes"), tmp_path / "mine")
    until(lambda: placed(cluster), wanted(cluster))


def test_gpus_of_another_name_behind_another_taint(cluster: KubeApi, tmp_path: Path) -> None:
    name = "nvidia.com/mig-3g.40gb"
    gpu = Node("gpu", cpus=16, gigabytes=128, gpus=3, gpu=name, taint="dedicated")
    for node in (gpu, *PLAIN):
        add_node(cluster, node)
    add_volumes(cluster, 6, gigabytes=200)
    _applied(cluster, example("Other GPUs"), tmp_path / "mine")
    until(lambda: placed(cluster), wanted(cluster))
    assert {each for component in MODELS for each in nodes(cluster)[component]} == {"gpu"}


def test_a_second_installation_leaves_the_first_as_it_is(cluster: KubeApi, tmp_path: Path) -> None:
    cluster.kubectl("apply", "-k", MANIFESTS)
    kinds = "deployments,statefulsets,configmaps,networkpolicies,roles,rolebindings,services"

    def there(namespace: str) -> dict[str, str]:
        asked = ("get", kinds, "--namespace", namespace, "--output", "json")
        found = json.loads(cluster.kubectl(*asked).stdout)["items"]
        # What every namespace is given.
        mine = (each for each in found if each["metadata"]["name"] != "kube-root-ca.crt")
        return {f"{each['kind']} {each['metadata']['name']}": _specified(each) for each in mine}

    before = there("caliper")
    _applied(cluster, example("A second installation"), tmp_path / "mine")
    assert there("caliper") == before
    # But for the hashes of the ConfigMaps that name the namespace.
    assert len(there("caliper-staging")) == len(before)


def _specified(item: Object) -> str:
    return json.dumps([item.get(part) for part in ("spec", "data", "rules", "subjects")])


def test_two_installations_have_no_object_in_common(tmp_path: Path) -> None:
    wanted = kustomization(example("A second installation"))
    second = build(write(wanted | {"components": ["../components/keda-gpus"]}, tmp_path / "mine"))
    names = [
        {(called(each), each["metadata"].get("namespace")) for each in objects}
        for objects in (rendered(BASE), second)
    ]
    assert names[0].isdisjoint(names[1])
    # Nor does anything of the second one call the first.
    assert not re.search(r"\bcaliper\.svc\b", json.dumps(second))
