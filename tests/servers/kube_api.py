"""An API server of Kubernetes with its etcd, for tests. No controller and no node is there: what
is applied is checked and kept as a cluster would, with RBAC and the default admission plugins,
and nothing comes of it (kube_nodes.py adds both).
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import urllib3
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.servers import fetch
from tests.servers.process import ServerProcess, free_ports, serves

KINDS = {
    "deployments": "apis/apps/v1",
    "jobs": "apis/batch/v1",
    "pods": "api/v1",
    "secrets": "api/v1",
    "statefulsets": "apis/apps/v1",
}
"""Where the API has the kinds that tests list."""
ACCOUNTS = "accounts.key"
"""The key that signs the tokens of ServiceAccounts, beside the kubeconfig."""
STORE = "etcd.url"
"""The file of the address of its etcd, beside the kubeconfig."""
_WITHIN = 120.0


@dataclass(frozen=True)
class KubeApi:
    """Who administrates the server: `kubeconfig` lets them in."""

    kubeconfig: Path

    @property
    def programs(self) -> Path:
        """The folder of kubectl, of the server's version."""
        return fetch.kubernetes()

    @property
    def url(self) -> str:
        """https://127.0.0.1:PORT."""
        return str(self._cluster["server"])

    @property
    def ca(self) -> Path:
        """PEM file of the certificate to trust."""
        return Path(self._cluster["certificate-authority"])

    @property
    def environment(self) -> dict[str, str]:
        """What makes kubectl talk to it."""
        # Collecting garbage seldom takes a third off the CPU time of applying the platform again.
        common = {"KUBECONFIG": str(self.kubeconfig), "GOGC": "400"}
        return common | {"KUBECACHEDIR": str(self.discovered)}

    @property
    def discovered(self) -> Path:
        """The folder of what kubectl has learnt of the server."""
        return self.kubeconfig.parent / "discovered"

    @property
    def _cluster(self) -> dict[str, str]:
        return dict(self._config["clusters"][0]["cluster"])

    @property
    def _config(self) -> dict[str, Any]:
        # JSON is YAML.
        return dict(json.loads(self.kubeconfig.read_text("utf-8")))

    def call(self, method: str, path: str, body: object = None, kind: str = "json") -> Any:
        """What the server answers to the administrator, without a process of kubectl.

        Fails unless it does as it is told.
        """
        answer = self._asked(method, path, body, kind)
        assert answer.status < 300, answer.data.decode()
        return answer.json()

    def _asked(self, method: str, path: str, body: object, kind: str) -> urllib3.BaseHTTPResponse:
        token = self._config["users"][0]["user"]["token"]
        headers = {"Authorization": f"Bearer {token}", "Content-Type": f"application/{kind}"}
        return _pool(self.ca).request(method, f"{self.url}/{path}", json=body, headers=headers)

    def apply(self, items: Iterable[Mapping[str, Any]]) -> list[Any]:
        """The objects as the server has them then, applied as `kubectl apply --server-side` does.

        Fails unless it takes all of them, and warns of none.
        """
        found = []
        for each in items:
            answer = self._applied(each, "")
            assert answer.status < 300, answer.data.decode()
            assert "Warning" not in answer.headers, answer.headers["Warning"]
            found.append(answer.json())
        return found

    def refusal(self, item: Mapping[str, Any]) -> str:
        """Why the server would not take an object; empty if it would."""
        answer = self._applied(item, "&dryRun=All")
        return "" if answer.status < 300 else str(answer.json()["message"])

    def _applied(self, item: Mapping[str, Any], how: str) -> urllib3.BaseHTTPResponse:
        asked = f"fieldManager=tests&force=true&fieldValidation=Strict{how}"
        return self._asked("PATCH", f"{_place(item)}?{asked}", item, "apply-patch+yaml")

    def listed(self, kind: str, namespace: str, selector: str = "") -> list[dict[str, Any]]:
        """The objects of one of KINDS."""
        path = f"{KINDS[kind]}/namespaces/{namespace}/{kind}?labelSelector={selector}"
        return list(self.call("GET", path)["items"])

    def kubectl(
        self, *arguments: str | Path, given: str | None = None, code: int | None = 0
    ) -> subprocess.CompletedProcess[str]:
        """Run kubectl as administrator, `given` on its standard input.

        Fails unless it ends with `code`; with None, it may end as it will.
        """
        done = subprocess.run(
            [self.programs / "kubectl", *map(str, arguments)],
            env=os.environ | self.environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=_WITHIN,
            check=False,
        )
        assert code is None or done.returncode == code, done.stdout + done.stderr
        return done

    def namespace(self) -> str:
        """A new namespace with a ServiceAccount `default`, which a controller would make."""
        name = f"caliper-{secrets.token_hex(4)}"
        self.call("POST", "api/v1/namespaces", {"metadata": {"name": name}})
        account = {"metadata": {"name": "default"}}
        self.call("POST", f"api/v1/namespaces/{name}/serviceaccounts", account)
        return name

    def account(self, folder: Path, namespace: str, name: str) -> Path:
        """A folder as it is mounted in pods of that ServiceAccount, under `folder`."""
        found = folder / f"account-{namespace}-{name}"
        found.mkdir()
        path = f"api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        token = self.call("POST", path, {"spec": {}})["status"]["token"]
        (found / "token").write_text(token, "ascii")
        shutil.copy(self.ca, found / "ca.crt")
        (found / "namespace").write_text(namespace, "ascii")
        return found


def _place(item: Mapping[str, Any]) -> str:
    """Where the API has an object."""
    version, kind, metadata = item["apiVersion"], item["kind"].lower(), item["metadata"]
    root = "apis" if "/" in version else "api"
    space = f"namespaces/{metadata['namespace']}/" if "namespace" in metadata else ""
    kinds = f"{kind.removesuffix('y')}ies" if kind.endswith("y") else f"{kind}s"
    return f"{root}/{version}/{space}{kinds}/{metadata['name']}"


@cache
def _pool(ca: Path) -> urllib3.PoolManager:
    # To agree on a key costs more than most calls.
    return urllib3.PoolManager(ca_certs=str(ca))


@dataclass
class _ApiServer(ServerProcess):
    """The API server, and the etcd that is stopped after it."""

    store: ServerProcess | None = None

    def stop(self) -> int | None:
        code = super().stop()
        if self.store is not None:
            self.store.stop()
        return code


def start(folder: Path) -> tuple[ServerProcess, str]:
    """A server with data and logs in `folder`, and the path of its administrator's kubeconfig.

    Raises fetch.Missing.
    """
    fetch.declared("Kube API")
    programs = fetch.kubernetes()
    store, place = _etcd(programs, folder)
    (port,) = free_ports(1)
    # Kubernetes writes a certificate of its own there.
    certificates = folder / "certificates"
    (folder / STORE).write_text(place, "ascii")
    token = secrets.token_hex(16)
    server = _ApiServer(
        "Kubernetes' API server",
        [str(programs / "kube-apiserver"), *_flags(folder, certificates, place, port, token)],
        folder / "kube-apiserver.log",
        lambda: serves(port, "/readyz", encrypted=True),
        store=store,
    )
    try:
        server.start()
    except RuntimeError:
        store.stop()
        raise
    cluster = {
        "server": f"https://127.0.0.1:{port}",
        "certificate-authority": str(certificates / "apiserver.crt"),
    }
    return server, str(_kubeconfig(folder / "kubeconfig", cluster, token))


def _etcd(programs: Path, folder: Path) -> tuple[ServerProcess, str]:
    ours, peers = (f"http://127.0.0.1:{port}" for port in free_ports(2))
    port = int(ours.rpartition(":")[2])
    store = ServerProcess(
        "etcd",
        [
            str(programs / "etcd"),
            f"--data-dir={folder / 'etcd'}",
            f"--listen-client-urls={ours}",
            f"--advertise-client-urls={ours}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
            # Nothing has to outlive this machine.
            "--unsafe-no-fsync",
            "--log-level=warn",
        ],
        folder / "etcd.log",
        lambda: serves(port, "/health"),
    )
    store.start()
    return store, ours


def _flags(folder: Path, certificates: Path, store: str, port: int, token: str) -> list[str]:
    users = folder / "tokens.csv"
    users.write_text(f"{token},admin,admin,system:masters\n", "ascii")
    accounts = folder / ACCOUNTS
    accounts.write_bytes(
        ec.generate_private_key(ec.SECP256R1()).private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
    return [
        f"--etcd-servers={store}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={certificates}",
        # Loopback is no address for the Service `kubernetes`: it gets none.
        "--endpoint-reconciler-type=none",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--authorization-mode=RBAC",
        f"--token-auth-file={users}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-signing-key-file={accounts}",
        f"--service-account-key-file={accounts}",
    ]


def _kubeconfig(file: Path, cluster: dict[str, str], token: str) -> Path:
    written = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "tests", "cluster": cluster}],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "admin"}}],
        "current-context": "tests",
    }
    file.write_text(json.dumps(written), "utf-8")
    return file
