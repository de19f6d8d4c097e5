"""Where pods are made in tests, on an API server without nodes: the test is the node."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes.clock import PATIENCE
from tests.servers.kube_api import KubeApi

from caliper.adapters.hosts.pod import PodPlan, PodServer

MANIFEST = {
    "metadata": {"labels": {"team": "ours"}, "finalizers": ["ours.test/never"]},
    "spec": {
        "containers": [
            {"name": "server", "image": "server:{step}", "args": ["--model", "{path}", '{"a": 1}']}
        ]
    },
}
READY = {"type": "Ready", "status": "True"}


@dataclass
class PodNamespace:
    """A namespace, and an account that may make pods in it."""

    api: KubeApi
    namespace: str
    account: Path

    def keys(self, port: int = 1) -> dict[str, Any]:
        where = {"api": self.api.url, "namespace": self.namespace, "account": str(self.account)}
        return {**where, "port": port, "health": "/v1/models", "model": "{revision}"}

    def server(self, port: int = 1, **more: Any) -> PodServer:
        limits = {"start": 60, "silence": 60}
        return PodServer(PodPlan(**{"manifest": MANIFEST, **self.keys(port), **limits, **more}))

    async def pods(self) -> list[dict[str, Any]]:
        return await asyncio.to_thread(self.api.listed, "pods", self.namespace)

    async def remove(self) -> None:
        """Remove all pods, as somebody else may, at once."""
        path = f"api/v1/namespaces/{self.namespace}/pods?gracePeriodSeconds=0"
        await asyncio.to_thread(self.api.call, "DELETE", path)

    async def set_status(self, **status: Any) -> None:
        """Wait for a pod, and set its status as its node does."""
        async with asyncio.timeout(PATIENCE):
            while not (found := await self.pods()):  # noqa: ASYNC110 - of a server
                await asyncio.sleep(0.05)
        path = f"api/v1/namespaces/{self.namespace}/pods/{found[0]['metadata']['name']}/status"
        told = ("PATCH", path, {"status": status}, "merge-patch+json")
        await asyncio.to_thread(self.api.call, *told)

    async def make_ready(self) -> None:
        await self.set_status(phase="Running", podIP="127.0.0.1", conditions=[READY])


def place_in(kube_api: KubeApi, folder: Path) -> PodNamespace:
    """A namespace of one's own, with the account's credentials below a folder."""
    namespace = kube_api.namespace()
    named = {"name": "loop", "namespace": namespace}
    rights = {"apiGroups": [""], "resources": ["pods", "pods/log"]}
    bound = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "loop"}
    rbac = "rbac.authorization.k8s.io/v1"
    kube_api.apply(
        (
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": named},
            {
                "apiVersion": rbac,
                "kind": "Role",
                "metadata": named,
                "rules": [{**rights, "verbs": ["create", "get", "delete"]}],
            },
            {
                "apiVersion": rbac,
                "kind": "RoleBinding",
                "metadata": named,
                "roleRef": bound,
                "subjects": [{"kind": "ServiceAccount", **named}],
            },
        )
    )
    return PodNamespace(kube_api, namespace, kube_api.account(folder, namespace, "loop"))
