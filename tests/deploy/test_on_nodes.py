"""On a cluster whose nodes are on paper: what is applied becomes pods, all of which are let in
and find a node.
"""

import pytest
from tests.deploy.placement import WITHIN, got, nodes, placed, until, wanted
from tests.deploy.rendering import BASE, MANIFESTS, Rendering, rendered
from tests.servers.components import KUBE_API
from tests.servers.kube_api import KubeApi
from tests.servers.kube_nodes import Node, add_node, add_volumes
from tests.servers.kube_store import Entries, put_back

pytestmark = pytest.mark.components(KUBE_API.name)

# Three GPUs, on nodes with room for a model's server whatever else was placed there before it.
GPUS = [Node(f"gpu-{number}", cpus=12, gigabytes=64, gpus=1) for number in range(3)]
LOCAL = Rendering("overlays/local")
PLAIN = [Node(f"plain-{number}", cpus=4, gigabytes=8) for number in range(3)]


def test_on_nodes_with_gpus_everything_finds_its_place(cluster: KubeApi) -> None:
    for node in (*GPUS, *PLAIN):
        add_node(cluster, node)
    add_volumes(cluster, 6, gigabytes=200)
    cluster.kubectl("apply", "-k", MANIFESTS)
    until(lambda: placed(cluster), wanted(cluster))
    found = nodes(cluster)
    for component in ("tgi-judge", "tgi-reader", "triton"):
        assert set(found[component]) <= {node.name for node in GPUS}, component
    for component in ("kafka", "judge", "qa-reader", "captioner"):
        assert len(set(found[component])) == len(found[component]), component


def test_without_gpus_models_alone_wait_and_say_for_what(cluster: KubeApi) -> None:
    for node in PLAIN:
        add_node(cluster, node)
    add_volumes(cluster, 6, gigabytes=200)
    cluster.apply(rendered(BASE))
    models = {"tgi-judge", "tgi-reader", "triton"}
    rest = {name: count for name, count in wanted(cluster).items() if name not in models}
    until(lambda: placed(cluster), rest)
    assert set(placed(cluster, anywhere=True)) - set(rest) == models
    for component in models:
        (pod,) = got(cluster, "pods", component)
        (condition,) = (
            each for each in pod["status"]["conditions"] if each["type"] == "PodScheduled"
        )
        assert "Insufficient nvidia.com/gpu" in condition["message"]


def test_on_a_laptop_the_local_overlay_finds_its_place(cluster: KubeApi) -> None:
    # As kind or minikube have it.
    add_node(cluster, Node("laptop", cpus=4, gigabytes=8))
    add_volumes(cluster, 4, gigabytes=100)
    cluster.kubectl("apply", "-k", MANIFESTS / "overlays" / "local")
    until(lambda: placed(cluster), wanted(cluster))


def test_a_pod_that_may_too_much_is_not_made(cluster: KubeApi) -> None:
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

    until(refused, wanted=True)


def test_deleting_it_leaves_nothing(cluster: KubeApi) -> None:
    cluster.apply(rendered(LOCAL))
    until(lambda: placed(cluster, anywhere=True), wanted(cluster))
    cluster.kubectl("delete", "-k", MANIFESTS / "overlays" / "local", f"--timeout={WITHIN:.0f}s")
    found = {each["metadata"]["name"] for each in cluster.call("GET", "api/v1/namespaces")["items"]}
    assert "caliper" not in found
    assert "default" in found


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
