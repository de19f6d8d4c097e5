"""A real API server takes the manifests: applied once they are there, applied twice nothing
changes, and the pods of every template are let into the namespace. Of what other renderings than
the base have, only what the base has not is applied.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import pytest
from tests.deploy.objects import Object, called, of_kind, pods
from tests.deploy.policies.planting import Change, container, pod
from tests.deploy.rendering import (
    BASE,
    COMPONENTS,
    MANIFESTS,
    OF_CLUSTERS,
    OF_GPUS,
    OF_SUITES,
    PLAIN,
    Rendering,
    changeable,
    render,
    rendered,
)
from tests.servers import kustomize
from tests.servers.absence import leave_out
from tests.servers.fetch import Missing
from tests.servers.kube_api import KubeApi

from caliper.version import __version__

_WITH_EVERYTHING = Rendering("base", COMPONENTS)
_WITH_DEFINITIONS = (_WITH_EVERYTHING, Rendering("base", OF_GPUS))
# What goes together, in an order that the READMEs allow.
_TOGETHER = (
    Rendering(
        "base",
        (
            *("alertmanager", "vllm", "vllm-captioner", "large-judge", "one-server"),
            *("one-gpu-node", "weights-bucket", "judge-replicas", *OF_CLUSTERS),
        ),
    ),
    Rendering("overlays/external", ("weights-volume",)),
    Rendering("overlays/local", OF_SUITES),
)
_SERVER_SIDE = ("--server-side", "-f", "-")


def _list(objects: Iterable[Object]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})


def _in_own_namespace(objects: Iterable[Object], name: str) -> list[Object]:
    """The same objects beside those of other renderings: `name` stands for `caliper`."""
    moved = copy.deepcopy(list(objects))
    for each in moved:
        field = "name" if each["kind"] == "Namespace" else "namespace"
        each["metadata"][field] = name + each["metadata"][field].removeprefix("caliper")
    return moved


def _apply(server: KubeApi, *arguments: str, given: str | None = None) -> dict[str, Object]:
    """The objects as they are then. Nothing may be warned of: that a pod will not be let in,
    say, or that a field is not known.
    """
    done = server.kubectl("apply", "--output=json", *arguments, given=given)
    assert "Warning" not in done.stderr, done.stderr
    return _by_name(json.loads(done.stdout)["items"])


def _by_name(items: Iterable[Object]) -> dict[str, Object]:
    found = {called(each): each for each in items}
    for each in found.values():
        # Told anew at the second writing of a claim that is the same.
        del each["metadata"]["resourceVersion"]
    return found


def _twice(apply: Callable[[], dict[str, Object]], objects: Sequence[Object]) -> None:
    first = apply()
    assert set(first) == {called(each) for each in objects}
    # Their generations too, which count the changes of what they specify.
    assert apply() == first


def test_the_command_of_the_readme(kube_api: KubeApi) -> None:
    # Without the server's schemas of what changes, which take five seconds to read.
    quick = ("--openapi-patch=false", "-k", str(MANIFESTS))
    _twice(lambda: _apply(kube_api, *quick), rendered(BASE))


def _beyond_base(objects: Iterable[Object]) -> list[Object]:
    """And the namespaces and accounts of their pods."""
    kinds = ("Namespace", "ServiceAccount")
    return [each for each in objects if each["kind"] in kinds or each not in rendered(BASE)]


def _apart(rendering: Rendering) -> list[Object]:
    name = f"of-{str(rendering).replace('+', '-')}"
    return _in_own_namespace(_beyond_base(rendered(rendering)), name)


@pytest.mark.parametrize("rendering", PLAIN[1:], ids=str)
def test_overlays_need_no_definitions(kube_api: KubeApi, rendering: Rendering) -> None:
    objects = _apart(rendering)
    _twice(lambda: _by_name(kube_api.apply(objects)), objects)


@pytest.mark.components(kustomize.NAME)
def test_components_with_their_definitions(kube_api: KubeApi) -> None:
    try:
        definitions = kustomize.definitions()
    except Missing as reason:
        leave_out("definitions of custom resources", reason)
    # Theirs are too large for what `kubectl apply` remembers in an annotation.
    kube_api.kubectl("apply", "--server-side", "-f", definitions)
    kube_api.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
    for rendering in _WITH_DEFINITIONS:
        objects = _apart(rendering)
        given = _list(objects)
        # kubectl, unlike us, waits until the server knows the new kinds.
        _twice(partial(_apply, kube_api, *_SERVER_SIDE, given=given), objects)


@pytest.mark.components(kustomize.NAME)
@pytest.mark.parametrize("rendering", _TOGETHER, ids=["all", "volume", "pods"])
def test_components_of_clusters_models_and_weights(kube_api: KubeApi, rendering: Rendering) -> None:
    namespace = f"of-{rendering.components[-1]}"
    objects = _in_own_namespace(_beyond_base(render(rendering)), namespace)
    _twice(lambda: _by_name(kube_api.apply(objects)), objects)
    assert _admitted(kube_api, objects, namespace) == ""


def test_a_release_follows_another_and_goes_back(kube_api: KubeApi) -> None:
    """As the README says: once the Jobs of the last one are gone, which cannot be changed."""
    image = f"caliper:{__version__}"
    run = [each for each in rendered(BASE) if image in json.dumps(each)]
    there = [*of_kind(rendered(BASE), "Namespace"), *run]
    ours = _list(_in_own_namespace(there, "upgraded"))
    others = ours.replace(image, "caliper:9.9.9")
    assert others != ours
    first = last = _apply(kube_api, *_SERVER_SIDE, given=ours)
    for release in (others, ours):
        refused = kube_api.kubectl("apply", *_SERVER_SIDE, given=release, code=1).stderr
        assert "field is immutable" in refused
        assert set(re.findall(r'(\w+)\.\S+ "\S+" is invalid', refused)) == {"Job"}
        kube_api.kubectl("--namespace", "upgraded", "delete", "jobs", "--all")
        last = _apply(kube_api, *_SERVER_SIDE, given=release)
    for name, item in last.items():
        assert item.get("spec") == first[name].get("spec") or item["kind"] == "Job"


def _admitted(server: KubeApi, objects: Iterable[Object], namespace: str) -> str:
    """What the API server says against the pods of the templates; empty when it lets all in."""
    items = _in_own_namespace(objects, namespace)
    accounts = [
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "default", "namespace": namespace},
        },
        *of_kind(items, "ServiceAccount"),
    ]
    server.apply([*of_kind(items, "Namespace"), *accounts])
    made: list[Object] = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": called(each.owner).lower().replace("/", "-"),
                "namespace": namespace,
                "labels": each.labels,
            },
            "spec": {**each.spec, "volumes": list(each.volumes.values())},
        }
        for each in pods(items)
    ]
    return "\n".join(filter(None, (server.refusal(each) for each in made)))


@pytest.mark.parametrize("rendering", [*PLAIN, _WITH_EVERYTHING], ids=str)
def test_every_pod_is_let_in(kube_api: KubeApi, rendering: Rendering) -> None:
    namespace = f"pods-{str(rendering).replace('+', '-')}"
    objects = rendered(rendering)
    some = objects if rendering == BASE else _beyond_base(objects)
    assert _admitted(kube_api, some, namespace) == ""


@pytest.mark.parametrize(
    ("change", "sign"),
    [
        (pod("judge", "hostNetwork", True), "host namespaces"),
        (container("kafka", "securityContext runAsUser", 0), "runAsUser=0"),
        (container("minio", "securityContext allowPrivilegeEscalation", None), "Escalation"),
        (container("judge", "securityContext capabilities drop", []), "unrestricted capabilities"),
    ],
)
def test_other_pods_are_not(kube_api: KubeApi, change: Change, sign: str) -> None:
    objects = changeable(BASE)
    change(objects)
    said = _admitted(kube_api, _beyond_base(objects), "planted")
    assert 'violates PodSecurity "restricted' in said
    assert sign in said
