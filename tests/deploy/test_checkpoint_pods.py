"""A real API server gives the service that evaluates suites the right to make pods, and no other,
and takes the pod of the README.
"""

from __future__ import annotations

import copy
import json
import re

import pytest
import yaml
from tests.deploy.objects import Object
from tests.deploy.rendering import MANIFESTS, OF_SUITES, Rendering, rendered
from tests.servers.kube_api import KubeApi

from caliper.adapters.hosts.pod import _pod

_KINDS = ("Namespace", "ServiceAccount", "Role", "RoleBinding", "NetworkPolicy")
_OURS, _THERE = "suited", "suited-checkpoints"
_WHO = f"system:serviceaccount:{_OURS}:suites"
_README = MANIFESTS / "components" / OF_SUITES[0] / "README.md"


@pytest.fixture(scope="module")
def server(kube_api: KubeApi) -> KubeApi:
    objects = [each for each in rendered(Rendering("base", OF_SUITES)) if each["kind"] in _KINDS]
    # Beside other installations on that server.
    ours = json.loads(json.dumps(objects).replace('"caliper', f'"{_OURS}'))
    # Controllers make it elsewhere.
    account = {"name": "default", "namespace": _THERE}
    ours.append({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
    for _ in range(2):
        kube_api.apply(ours)
    return kube_api


@pytest.mark.parametrize(
    ("verb", "what", "namespace", "may"),
    [
        *((verb, "pods", _THERE, True) for verb in ("create", "get", "delete")),
        ("get", "pods/log", _THERE, True),
        ("create", "pods/exec", _THERE, False),
        ("get", "secrets", _THERE, False),
        ("create", "pods", _OURS, False),
        ("get", "secrets", _OURS, False),
    ],
)
def test_the_account_may_make_pods_there_alone(
    server: KubeApi, verb: str, what: str, namespace: str, may: bool
) -> None:
    resource, _, part = what.partition("/")
    asked = {"verb": verb, "resource": resource, "subresource": part, "namespace": namespace}
    review = {"spec": {"user": _WHO, "resourceAttributes": asked}}
    place = "apis/authorization.k8s.io/v1/subjectaccessreviews"
    assert server.call("POST", place, review)["status"]["allowed"] is may


def _manifest() -> Object:
    text = "".join(re.findall(r"^    .*\n", _README.read_text("utf-8"), re.MULTILINE))
    found: Object = yaml.safe_load(text)["pod"]
    return found


def _said(server: KubeApi, manifest: Object) -> str:
    """What the server says against a pod of a template; empty if it is let in."""
    given = json.dumps(_pod(manifest, "caliper-checkpoint-1"))
    words = ("create", "--dry-run=server", "--namespace", _THERE, f"--as={_WHO}", "-f", "-")
    done = server.kubectl(*words, given=given, code=None)
    return done.stderr if done.returncode else ""


def test_the_pod_of_the_readme_is_let_in_and_others_are_not(server: KubeApi) -> None:
    manifest = _manifest()
    assert _said(server, manifest) == ""
    bare = copy.deepcopy(manifest)
    del bare["spec"]["securityContext"]
    assert 'violates PodSecurity "restricted' in _said(server, bare)
