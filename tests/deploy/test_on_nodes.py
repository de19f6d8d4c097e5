"""On clusters whose nodes are on paper, some of which lack something or have it under another name:
what is applied becomes pods, all of which are let in and find a node.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.deploy.examples import example, kustomization, write
from tests.deploy.placement import WITHIN, got, nodes, placed, reasons, until, wanted
from tests.deploy.rendering import BASE, MANIFESTS, Rendering, build, rendered
from tests.servers import kustomize
from tests.servers.components import KUBE_API
from tests.servers.kube_api import KubeApi
from tests.servers.kube_nodes import Node, add_class, add_local_volumes, add_node, add_volumes
from tests.servers.kube_store import Entries, put_back

pytestmark = pytest.mark.components(KUBE_API.name, kustomize.NAME)

# Three GPUs, on nodes with room for a model's server whatever else was placed there before it.
GPUS = [Node(f"gpu-{number}", cpus=12, gigabytes=64, gpus=1) for number in range(3)]
PLAIN = [Node(f"plain-{number}", cpus=8, gigabytes=16) for number in range(3)]
LOCAL = Rendering("overlays/local")
MODELS = ("tgi-judge", "tgi-reader", "triton")


def until_waiting(cluster: KubeApi, waiting: Mapping[str, int]) -> None:
    """All but so many pods of these components have a node, and these say why they have none."""
    rest = {name: count - waiting.get(name, 0) for name, count in wanted(cluster).items()}
    until(lambda: placed(cluster), {name: count for name, count in rest.items() if count})
    until(lambda: {name: len(reasons(cluster, name)) for name in waiting}, waiting)


def test_pods_wait_for_nodes_and_gpus_and_say_so(cluster: KubeApi) -> None:
    for node in PLAIN[:2]:
        add_node(cluster, node)
    add_volumes(cluster, 6, gigabytes=200)
    cluster.apply(rendered(BASE))
    models = dict.fromkeys(MODELS, 1)
    until_waiting(cluster, {**models, "kafka": 1})
    # Two brokers never share a node.
    assert sorted(nodes(cluster)["kafka"]) == ["plain-0", "plain-1"]
    (reason,) = reasons(cluster, "kafka")
    assert "topology spread constraints" in reason
    add_node(cluster, PLAIN[2])
    until_waiting(cluster, models)
    for component in MODELS:
        (reason,) = reasons(cluster, component)
        assert "Insufficient nvidia.com/gpu" in reason
    for node in GPUS:
        add_node(cluster, node)
    until_waiting(cluster, {})
    found = nodes(cluster)
    for component in MODELS:
        assert set(found[component]) <= {node.name for node in GPUS}, component
    for component in ("kafka", "judge", "qa-reader", "captioner"):
        assert len(set(found[component])) == len(found[component]), component


def test_with_one_gpu_node_the_weights_go_where_the_gpus_are(cluster: KubeApi) -> None:
    gpu = Node("gpu", cpus=16, gigabytes=128, gpus=3, taint="nvidia.com/gpu")
    for node in (gpu, *PLAIN):
        add_node(cluster, node)
    add_class(cluster)
    for node, count in ((gpu, 1), *((each, 3) for each in PLAIN)):
        add_local_volumes(cluster, node.name, count)
    cluster.apply(rendered(Rendering("base", ("one-gpu-node",))))
    until_waiting(cluster, {})
    found = nodes(cluster)
    for component in (*MODELS, "model-download"):
        assert found[component] == ["gpu"], component


def test_volumes_of_named_classes_and_gpus_of_another_name_behind_another_taint(
    cluster: KubeApi, tmp_path: Path
) -> None:
    name = "nvidia.com/mig-3g.40gb"
    gpu = Node("gpu", cpus=16, gigabytes=128, gpus=3, gpu=name, taint="dedicated")
    for node in (gpu, *PLAIN):
        add_node(cluster, node)
    # There is no default class.
    add_class(cluster, "fast", default=False)
    for node in PLAIN:
        add_local_volumes(cluster, node.name, 3, "fast")
    add_volumes(cluster, 1, gigabytes=200, storage_class="shared")
    classes, gpus = (kustomization(example(each)) for each in ("Storage classes", "Other GPUs"))
    both = classes | {"patches": [*classes["patches"], *gpus["patches"]]}
    cluster.apply(build(write(both, tmp_path / "mine")))
    until_waiting(cluster, {})
    assert {each for component in MODELS for each in nodes(cluster)[component]} == {"gpu"}


def test_the_local_overlay_obeys_is_deleted_and_finds_its_place_on_a_laptop(
    cluster: KubeApi,
) -> None:
    cluster.apply(rendered(LOCAL))
    until(lambda: placed(cluster, anywhere=True), wanted(cluster))
    patch = {"spec": {"template": {"spec": {"hostNetwork": True}}}}
    path = "apis/apps/v1/namespaces/caliper/deployments/judge"
    cluster.call("PATCH", path, patch, "merge-patch+json")

    def refused() -> bool:
        (judge,) = got(cluster, "deployments", "judge")
        said = [
            each["message"]
            for each in judge["status"].get("conditions", ())
            if each["type"] == "ReplicaFailure"
        ]
        return any('violates PodSecurity "restricted' in message for message in said)

    # A pod that may do too much is not made.
    until(refused, wanted=True)
    overlay = MANIFESTS / "overlays" / "local"
    cluster.kubectl("delete", "-k", overlay, f"--timeout={WITHIN:.0f}s")
    found = {each["metadata"]["name"] for each in cluster.call("GET", "api/v1/namespaces")["items"]}
    assert "caliper" not in found
    assert "default" in found
    # As kind or minikube have it.
    add_node(cluster, Node("laptop", cpus=4, gigabytes=8))
    add_volumes(cluster, 4, gigabytes=100)
    cluster.apply(rendered(LOCAL))
    until_waiting(cluster, {})


def test_nothing_of_a_test_reaches_the_next(own_kube_api: KubeApi, kept_at_start: Entries) -> None:
    roles, classes = "apis/rbac.authorization.k8s.io/v1/clusterroles", "apis/storage.k8s.io/v1"
    several = ("namespaces", "nodes", "persistentvolumes", "configmaps", "services")
    paths = (*(f"api/v1/{kind}" for kind in several), roles, f"{classes}/storageclasses")

    def there() -> dict[str, object]:
        found = {}
        for path in paths:
            for each in own_kube_api.call("GET", path)["items"] or ():
                del each["metadata"]["resourceVersion"]
                found[f"{path} {each['metadata']['name']}"] = each
        return found

    put_back(own_kube_api, kept_at_start)
    before = there()
    add_node(own_kube_api, PLAIN[0])
    add_volumes(own_kube_api, 1, gigabytes=1)
    own_kube_api.apply(rendered(LOCAL))
    own_kube_api.call("PATCH", f"{roles}/view", {"rules": []}, "merge-patch+json")
    own_kube_api.call("DELETE", f"{roles}/edit")
    assert len(there()) > len(before)
    put_back(own_kube_api, kept_at_start)
    assert there() == before
