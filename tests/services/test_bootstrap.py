"""The bootstrap program on a real API server, with the account and the Role of the manifests."""

import base64
import json
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import urllib3
from tests.fakes.bootstrap_process import RECIPES, run, settings, start
from tests.fakes.sources import ROOT
from tests.servers.kube_api import KubeApi

from caliper.adapters.cluster.kubernetes import ClusterAccess, ClusterSecrets

MANIFESTS = ROOT / "deploy" / "k8s" / "base" / "bootstrap"
NAMES = {recipe.name for recipe in RECIPES}


@dataclass(frozen=True)
class BootstrapNamespace:
    """A namespace with what the manifests put there for the Job."""

    api: KubeApi
    namespace: str
    account: Path

    @property
    def settings(self) -> dict[str, str]:
        return settings(self.api, self.namespace, self.account)

    def kubectl(self, *arguments: str, given: str | None = None) -> str:
        return self.api.kubectl(*arguments, "--namespace", self.namespace, given=given).stdout

    def secrets(self) -> dict[str, dict[str, Any]]:
        found = self.api.listed("secrets", self.namespace)
        return {each["metadata"]["name"]: each for each in found}

    def call(self, method: str, path: str, body: object = None, kind: str = "json") -> int:
        token = (self.account / "token").read_text("ascii")
        with urllib3.PoolManager(ca_certs=str(self.api.ca)) as pool:
            answer = pool.request(
                method,
                self.api.url + path.format(here=self.namespace),
                json=body,
                headers={
                    "Authorization": f"Bearer {token}",
                    "Content-Type": f"application/{kind}",
                },
            )
            return answer.status


def rendered(api: KubeApi, folder: Path, namespace: str) -> str:
    folder.mkdir()
    written = {"namespace": namespace, "resources": [os.path.relpath(MANIFESTS, folder.resolve())]}
    (folder / "kustomization.yaml").write_text(json.dumps(written), "utf-8")
    return api.kubectl("kustomize", folder).stdout


def prepared(api: KubeApi, folder: Path) -> BootstrapNamespace:
    namespace = api.namespace()
    enforced = "pod-security.kubernetes.io/enforce=restricted"
    api.kubectl("label", "namespace", namespace, enforced)
    api.kubectl("apply", "-f", "-", given=rendered(api, folder / "rendered", namespace))
    return BootstrapNamespace(api, namespace, api.account(folder, namespace, "bootstrap"))


@pytest.fixture
def place(kube_api: KubeApi, tmp_path: Path) -> BootstrapNamespace:
    return prepared(kube_api, tmp_path)


@pytest.fixture(scope="module")
def empty(kube_api: KubeApi, tmp_path_factory: pytest.TempPathFactory) -> BootstrapNamespace:
    """One in which nobody makes anything."""
    return prepared(kube_api, tmp_path_factory.mktemp("empty"))


def words(secrets: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """What no log may show: all values but names of users and certificates."""
    texts = {
        base64.b64decode(text).decode("ascii")
        for secret in secrets.values()
        for text in secret["data"].values()
    }
    return {line for text in texts for line in text.splitlines() if len(line) > 20}


def test_every_secret_is_made_once(place: BootstrapNamespace) -> None:
    first = run(place.settings)
    assert first.code == 0, first.err
    made = place.secrets()
    assert set(made) == NAMES
    serving = {name for name in made if name.startswith("caliper-tls-")}
    kinds = {name: each["type"] for name, each in made.items()}
    assert {name for name in kinds if kinds[name] == "kubernetes.io/tls"} == serving
    assert set(kinds.values()) == {"kubernetes.io/tls", "Opaque"}
    again = run(place.settings)
    assert again.code == 0, again.err
    # Their uid and resourceVersion, too.
    assert place.secrets() == made
    said = first.out + first.err + again.out + again.err
    assert all(f"created {name}\n" in first.err for name in NAMES)
    assert all(f"{name} exists\n" in again.err for name in NAMES)
    secret = words(made)
    assert len(secret) > 50
    assert [word for word in secret if word in said] == []


def test_one_that_was_killed_is_made_whole_by_the_next(place: BootstrapNamespace) -> None:
    with start(place.settings) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.endswith("created caliper-token-gateway\n"):
                process.send_signal(signal.SIGKILL)
                break
        else:
            pytest.fail("it ended before it could be killed")
    before = place.secrets()
    assert {"caliper-ca", "caliper-token-gateway"} <= set(before)
    ended = run(place.settings)
    assert ended.code == 0, ended.err
    after = place.secrets()
    assert set(after) == NAMES
    assert {name: after[name] for name in before} == before
    # It looks at all parts, and they fit.
    assert run(place.settings).code == 0


def test_what_was_deleted_is_made_anew(place: BootstrapNamespace) -> None:
    assert run(place.settings).code == 0
    before = place.secrets()
    renewed = {"caliper-token-evaluate", "caliper-tokens", "caliper-tls-judge"}
    place.kubectl("delete", "secret", *renewed)
    assert run(place.settings).code == 0
    after = place.secrets()
    assert {name for name in before if after[name] != before[name]} == renewed


def test_what_does_not_fit_is_named_and_left_alone(place: BootstrapNamespace) -> None:
    assert run(place.settings).code == 0
    place.kubectl("delete", "secret", "caliper-ca", "caliper-token-admin")
    ended = run(place.settings)
    assert ended.code == 1
    told = [line for line in ended.err.splitlines() if line.startswith("Error: ")]
    assert len(told) == 14
    assert "Error: Secret caliper-tls-kafka: the authority did not sign the certificate" in told
    added = "it lacks the token of caliper-token-admin: add the line `admin admin "
    assert any(line.startswith(f"Error: Secret caliper-tokens: {added}") for line in told)
    assert not any(word in ended.err for word in words(place.secrets()) if " " not in word)


POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
SECRETS = "/api/v1/namespaces/{here}/secrets"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", SECRETS, None),
        ("GET", f"{SECRETS}?watch=true", None),
        ("GET", f"{SECRETS}/hub-token", None),
        ("DELETE", f"{SECRETS}/caliper-ca", None),
        ("DELETE", SECRETS, None),
        ("PUT", f"{SECRETS}/caliper-ca", {"metadata": {"name": "caliper-ca"}}),
        ("POST", SECRETS, {"metadata": {"name": "caliper-ca"}}),
        ("POST", SECRETS, {"metadata": {"name": "x"}}),
        ("POST", SECRETS, {"metadata": {"generateName": "caliper-ca"}}),
        ("GET", "/api/v1/namespaces/default/secrets/caliper-ca", None),
        ("POST", "/api/v1/namespaces/default/secrets", {"metadata": {"name": "x"}}),
        ("GET", "/api/v1/secrets", None),
        ("GET", "/api/v1/namespaces/{here}/pods", None),
        ("POST", "/api/v1/namespaces/{here}/pods", POD),
        ("GET", "/api/v1/namespaces/{here}/configmaps", None),
        ("GET", "/api/v1/namespaces", None),
        ("POST", "/apis/batch/v1/namespaces/{here}/jobs", {"metadata": {"name": "x"}}),
        ("GET", "/apis/rbac.authorization.k8s.io/v1/namespaces/{here}/roles", None),
        ("POST", "/api/v1/namespaces/{here}/serviceaccounts/bootstrap/token", {}),
    ],
)
def test_the_account_may_nothing_else(
    empty: BootstrapNamespace, method: str, path: str, body: object
) -> None:
    assert empty.call("GET", f"{SECRETS}/caliper-ca") == 404
    assert empty.call(method, path, body) == 403


def secret(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}


@pytest.mark.parametrize(
    "name", ["hub-token", "caliper-tls-x", "default-token", "bootstrap.node.token"]
)
def test_the_account_may_make_no_other_secret(place: BootstrapNamespace, name: str) -> None:
    """An account's token, for example, is a Secret that a controller fills."""
    manager = "?fieldManager=x&force=true"
    apply = "apply-patch+yaml"
    path = f"{SECRETS}/{name}{manager}"
    assert place.call("PATCH", path, secret(name), apply) == 403
    other = f"{SECRETS}/caliper-ca{manager}"
    assert place.call("PATCH", other, secret(name), apply) in (400, 422)
    assert place.secrets() == {}
    assert place.call("PATCH", other, secret("caliper-ca"), apply) == 201


def test_the_role_names_the_secrets_that_are_made(empty: BootstrapNamespace) -> None:
    role = json.loads(empty.kubectl("get", "role", "bootstrap", "--output", "json"))
    (rule,) = role["rules"]
    assert rule["verbs"] == ["create", "get", "patch"]
    assert sorted(rule["resourceNames"]) == sorted(NAMES)


def test_certificates_that_end_soon_are_renewed_alone(place: BootstrapNamespace) -> None:
    # Within 45 days.
    assert run({**place.settings, "CERTIFICATE_DAYS": "44"}).code == 0
    before = place.secrets()
    ended = run(place.settings)
    assert ended.code == 0, ended.err
    after = place.secrets()
    assert {name for name in before if after[name] != before[name]} == {
        name for name in NAMES if name.startswith("caliper-tls-")
    }
    for name in before:
        assert after[name]["metadata"]["uid"] == before[name]["metadata"]["uid"]
        assert after[name]["type"] == before[name]["type"]
        assert set(after[name]["data"]) == set(before[name]["data"])
    assert run(place.settings).code == 0
    assert place.secrets() == after


def test_a_secret_of_somebody_else_is_not_overwritten(place: BootstrapNamespace) -> None:
    """One that was made between the look and the writing."""
    place.kubectl("create", "secret", "generic", "caliper-models", "--from-literal=token=theirs")
    access = ClusterAccess(place.api.url, place.namespace, place.account, 60)
    keeper = ClusterSecrets(access)
    assert keeper.create("caliper-models", "Opaque", {"token": b"ours"}) is False
    assert keeper.read("caliper-models") == {"token": b"theirs"}
    assert keeper.create("caliper-replies", "Opaque", {"key": b"ours"}) is True
    other = ClusterSecrets(access)
    assert other.create("caliper-replies", "Opaque", {"key": b"others"}) is False
    assert other.read("caliper-replies") == {"key": b"ours"}


@pytest.mark.parametrize("account", ["default", "nobody"])
def test_who_may_not_make_them_hears_it(
    empty: BootstrapNamespace, tmp_path: Path, account: str
) -> None:
    folder = empty.api.account(tmp_path, empty.namespace, "default")
    expected = f'secrets "caliper-ca" is forbidden: User "system:serviceaccount:{empty.namespace}'
    if account == "nobody":
        (folder / "token").write_text("not-a-token", "ascii")
        expected = "cannot read Secret caliper-ca: the API server answers 401"
    ended = run({**empty.settings, "ACCOUNT": str(folder)})
    assert ended.code == 4
    assert expected in ended.err
    assert "Traceback" not in ended.err
    assert empty.secrets() == {}


@pytest.mark.parametrize(
    ("name", "value", "code", "expected"),
    [
        ("API", "http://127.0.0.1:1", 2, "CALIPER_BOOTSTRAP_API: https:// is needed"),
        ("ACCOUNT", "/nowhere", 2, "/nowhere/ca.crt"),
        ("NAMESPACE", "../secrets", 2, "CALIPER_BOOTSTRAP_NAMESPACE"),
        ("AUTHORITY_DAYS", "0", 2, "CALIPER_BOOTSTRAP_AUTHORITY_DAYS"),
        ("TOKENS", "x", 2, "CALIPER_BOOTSTRAP_TOKENS"),
        ("DIRECTORY", "/dev/null/x", 4, "/dev/null/x"),
    ],
)
def test_settings_that_are_wrong(name: str, value: str, code: int, expected: str) -> None:
    ended = run({name: value})
    assert ended.code == code
    assert expected in ended.err
    assert "Traceback" not in ended.err
