"""Makes a cluster of an API server, but for running anything: the controllers, the scheduler, and
nodes and volumes that are on paper only. Pods are made and placed, and then stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from tests.servers.kube_api import ACCOUNTS, KubeApi
from tests.servers.process import ServerProcess, free_ports, serves

_DEFAULT = "paper"
_IS_DEFAULT = "storageclass.kubernetes.io/is-default-class"


@dataclass(frozen=True)
class Node:
    """What a node has to give."""

    name: str
    cpus: int
    gigabytes: int
    gpus: int = 0
    gpu: str = "nvidia.com/gpu"
    # What keeps pods away that do not tolerate it.
    taint: str = ""

    @property
    def resources(self) -> dict[str, str]:
        found = {"cpu": f"{self.cpus}", "memory": f"{self.gigabytes}Gi", "pods": "110"}
        found["ephemeral-storage"] = "500Gi"
        return found | ({self.gpu: f"{self.gpus}"} if self.gpus else {})


@contextmanager
def controlled(api: KubeApi) -> Iterator[None]:
    """Controllers and scheduler work on that API server."""
    accounts = api.kubeconfig.parent / ACCOUNTS
    with ExitStack() as stack:
        for program in (
            _program(
                api,
                "kube-controller-manager",
                f"--service-account-private-key-file={accounts}",
                f"--root-ca-file={api.ca}",
                # Nobody reports from these nodes: it would take them for dead.
                "--controllers=*,-node-lifecycle-controller",
            ),
            _program(api, "kube-scheduler"),
        ):
            program.start()
            stack.callback(program.stop)
        yield


def _program(api: KubeApi, name: str, *flags: str) -> ServerProcess:
    folder = api.kubeconfig.parent
    (port,) = free_ports(1)
    common = [
        f"--kubeconfig={api.kubeconfig}",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={folder / name}",
    ]
    return ServerProcess(
        name,
        [str(api.programs / name), *common, *flags],
        folder / f"{name}.log",
        lambda: serves(port, "/healthz", encrypted=True),
    )


def add_node(api: KubeApi, node: Node) -> None:
    """A node that is ready, in a zone of its own."""
    labels = {"kubernetes.io/hostname": node.name, "topology.kubernetes.io/zone": node.name}
    ready = {"type": "Ready", "status": "True", "reason": "OnPaper"}
    has = {"capacity": node.resources, "allocatable": node.resources, "conditions": [ready]}
    api.call("POST", "api/v1/nodes", {"metadata": _named(node.name, labels), "status": has})
    # A new node is tainted as not ready.
    taint = {"key": node.taint, "value": "present", "effect": "NoSchedule"}
    taints = {"spec": {"taints": [taint] if node.taint else []}}
    api.call("PATCH", f"api/v1/nodes/{node.name}", taints, "merge-patch+json")


def add_class(api: KubeApi, name: str = _DEFAULT, *, default: bool = True) -> None:
    """A class of volumes, which are bound where the pod that claims one finds a place."""
    written = {
        "metadata": {"name": name, "annotations": {_IS_DEFAULT: f"{default}".lower()}},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    api.call("POST", "apis/storage.k8s.io/v1/storageclasses", written)


def add_local_volumes(api: KubeApi, node: str, count: int, storage_class: str = _DEFAULT) -> None:
    """Volumes of 200 GiB on a node, which pods of other nodes cannot mount."""
    here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    for number in range(count):
        spec = {
            "capacity": {"storage": "200Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage_class,
            "local": {"path": f"/paper/{number}"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
        }
        _add_volume(api, f"{node}-{number}", spec)


def add_volumes(api: KubeApi, count: int, gigabytes: int, storage_class: str = _DEFAULT) -> None:
    """Volumes of a class, by default of that which claims have that name none, on any node."""
    add_class(api, storage_class, default=storage_class == _DEFAULT)
    for number in range(count):
        spec = {
            "capacity": {"storage": f"{gigabytes}Gi"},
            "accessModes": ["ReadWriteOnce", "ReadWriteMany"],
            "storageClassName": storage_class,
            "hostPath": {"path": f"/paper/{number}"},
        }
        _add_volume(api, f"{storage_class}-{number}", spec)


def _named(name: str, labels: Mapping[str, str]) -> dict[str, Any]:
    return {"name": name, "labels": dict(labels)}


def _add_volume(api: KubeApi, name: str, spec: Mapping[str, Any]) -> None:
    api.call("POST", "api/v1/persistentvolumes", {"metadata": _named(name, {}), "spec": spec})
