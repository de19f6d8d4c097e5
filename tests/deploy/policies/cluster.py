"""What the installation is in its cluster: its namespace, names, rights and references."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tests.deploy.objects import (
    COMPONENT,
    ENDING,
    LASTING,
    Object,
    Pod,
    called,
    matches,
    of_kind,
    pods,
)

NAMESPACE = "caliper"
CHECKPOINTS = "caliper-checkpoints"
"""The namespace of pods that suites have made, where there are any."""
NAME, PART_OF = "app.kubernetes.io/name", "app.kubernetes.io/part-of"
SERVICES = ("gateway", "captioner", "judge", "qa-reader", "aggregator", "suites")
BACKENDS = ("kafka", "minio", "tgi-judge", "tgi-reader", "triton", "vllm-captioner")
WATCHING = ("prometheus", "grafana", "alertmanager")
PREPARING = ("bootstrap", "topics", "storage", "model-download")
COMPONENTS = frozenset((*SERVICES, *BACKENDS, *WATCHING, *PREPARING))
# Kinds whose objects belong to one component, beside those that make pods.
_OF_ONE = ("Service", "PodDisruptionBudget", "ServiceAccount", "ScaledObject")
BY_PEOPLE = frozenset({"external-ca"})
"""ConfigMaps that are made by those who have what is in them."""
_BUILT_IN = frozenset(
    {"v1", "apps/v1", "batch/v1", "policy/v1", "networking.k8s.io/v1", "autoscaling/v2"}
    | {"rbac.authorization.k8s.io/v1"}
)
# The letters that kustomize writes hashes with: no word comes of them.
_HASHED = re.compile(r"-[2456789bcdfghkmt]{10}$")
_POD_SECURITY = "pod-security.kubernetes.io/enforce"


def namespace_is_restricted(objects: Sequence[Object]) -> Iterator[str]:
    namespaces = list(of_kind(objects, "Namespace"))
    names = {each["metadata"]["name"] for each in namespaces}
    if names - {CHECKPOINTS} != {NAMESPACE}:
        yield f"the namespaces are not {NAMESPACE} alone"
    for each in namespaces:
        labels = each["metadata"].get("labels", {})
        if labels.get(_POD_SECURITY) != "restricted":
            yield f"{called(each)} lets in pods that are not restricted"
        if not re.fullmatch(r"latest|v1\.\d+", labels.get(f"{_POD_SECURITY}-version", "")):
            yield f"{called(each)} does not say by which version's rules"
    for item in objects:
        if item["kind"] != "Namespace" and item["metadata"].get("namespace") not in names:
            yield f"{called(item)} is not in the namespace {NAMESPACE}"
    if any(pod.owner["metadata"]["namespace"] == CHECKPOINTS for pod in pods(objects)):
        yield f"pods of the installation are in {CHECKPOINTS}"


def no_custom_resources(objects: Sequence[Object]) -> Iterator[str]:
    for item in objects:
        if item["apiVersion"] not in _BUILT_IN:
            yield f"{called(item)} needs {item['apiVersion']}, which a bare cluster has not"


def labels(objects: Sequence[Object]) -> Iterator[str]:
    for item in objects:
        given = item["metadata"].get("labels", {})
        if item["kind"] != "Namespace":
            yield from _labelled(called(item), given)
        # What closes the namespace is of no component, say.
        if item["kind"] in (*LASTING, *ENDING, *_OF_ONE) or COMPONENT in given:
            yield from _of_component(called(item), given)
    for pod in pods(objects):
        yield from _labelled(f"{pod.name}'s pods", pod.labels)
        yield from _of_component(f"{pod.name}'s pods", pod.labels)
    for item in of_kind(objects, *LASTING):
        chosen = item["spec"]["selector"].get("matchLabels", {})
        if set(chosen) != {NAME, COMPONENT}:
            yield f"{called(item)} does not choose its pods by name and component"


def _labelled(place: str, given: dict[str, str]) -> Iterator[str]:
    if given.get(NAME) != "caliper" or given.get(PART_OF) != "caliper":
        yield f"{place} is not labelled as a part of caliper"


def _of_component(place: str, given: dict[str, str]) -> Iterator[str]:
    if given.get(COMPONENT) not in COMPONENTS:
        yield f"{place}: no component is called {given.get(COMPONENT)}"


def services_reach_pods(objects: Sequence[Object]) -> Iterator[str]:
    made = list(pods(objects))
    for item in of_kind(objects, "Service"):
        if item["spec"].get("type", "ClusterIP") != "ClusterIP":
            yield f"{called(item)} is open to other machines than the cluster's"
        selector = {"matchLabels": item["spec"].get("selector", {})}
        chosen = [pod for pod in made if pod.lasting and matches(selector, pod.labels)]
        if len(chosen) != 1:
            yield f"{called(item)} leads to {len(chosen)} workloads"
        for pod in chosen:
            for port in item["spec"]["ports"]:
                target = port.get("targetPort", port["port"])
                if target not in (*pod.ports, *pod.ports.values()):
                    yield f"{called(item)}: {pod.name} has no port {target}"


def config_is_hashed(objects: Sequence[Object]) -> Iterator[str]:
    for item in of_kind(objects, "ConfigMap"):
        if not _HASHED.search(item["metadata"]["name"]):
            yield f"{called(item)} can change without its pods being replaced"


def tokens_for_accounts_only(objects: Sequence[Object]) -> Iterator[str]:
    accounts = _names(objects, "ServiceAccount")
    for pod in pods(objects):
        mounted = pod.spec.get("automountServiceAccountToken")
        account = pod.spec.get("serviceAccountName", "default")
        if account == pod.component and account in accounts:
            continue
        if mounted is not False or _projected_token(pod):
            yield f"{pod.name} has a service account's token"
        if account in accounts:
            yield f"{pod.name} runs as {account}"
    for item in of_kind(objects, "ServiceAccount"):
        if item["metadata"]["name"] not in ("bootstrap", "suites"):
            yield f"{called(item)} is of neither"
        if item.get("automountServiceAccountToken") is not False:
            yield f"{called(item)} gives its token to every pod that names it"


def _projected_token(pod: Pod) -> bool:
    sources = [
        source
        for volume in pod.spec.get("volumes", [])
        for source in volume.get("projected", {}).get("sources", [])
    ]
    return any("serviceAccountToken" in source for source in sources)


def accounts_may_little(objects: Sequence[Object]) -> Iterator[str]:
    for item in of_kind(objects, "ClusterRole", "ClusterRoleBinding"):
        yield f"{called(item)} gives rights in the whole cluster"
    for item in of_kind(objects, "RoleBinding"):
        namespace = item["metadata"]["namespace"]
        subjects = [
            (each["kind"], each["name"], each.get("namespace", namespace))
            for each in item.get("subjects", [])
        ]
        owner = "suites" if namespace == CHECKPOINTS else "bootstrap"
        if subjects != [("ServiceAccount", owner, NAMESPACE)]:
            yield f"{called(item)} gives rights to others than {owner}"
        if item["roleRef"]["kind"] != "Role":
            yield f"{called(item)} gives rights of the whole cluster"
    for item in of_kind(objects, "Role"):
        apart = item["metadata"]["namespace"] == CHECKPOINTS
        for rule in item.get("rules", []):
            if not (_of_pods(rule) if apart else _little(rule)):
                yield f"{called(item)} allows {rule}"


def _little(rule: Object) -> bool:
    """Whether it allows to make, read and renew Secrets that it names."""
    if rule.get("apiGroups") != [""] or rule.get("resources") != ["secrets"]:
        return False
    return bool(rule.get("resourceNames")) and set(rule["verbs"]) <= {"create", "get", "patch"}


_PODS = {"pods": {"create", "get", "list", "watch", "delete"}, "pods/log": {"get"}}


def _of_pods(rule: Object) -> bool:
    """Whether it allows to make pods, look at them and delete them."""
    if rule.get("apiGroups") != [""]:
        return False
    return all(set(rule["verbs"]) <= _PODS.get(each, set()) for each in rule["resources"])


def configs_exist(objects: Sequence[Object]) -> Iterator[str]:
    known = {kind: _names(objects, kind) for kind in ("ConfigMap", "PersistentVolumeClaim")}
    accounts = _names(objects, "ServiceAccount") | {"default"}
    for pod in pods(objects):
        if pod.spec.get("serviceAccountName", "default") not in accounts:
            yield f"{pod.name} runs as a service account that is not there"
        for kind, name in _referred(pod):
            if name not in known[kind] | BY_PEOPLE:
                yield f"{pod.name} needs {kind}/{name}, which is not there"


def _names(objects: Sequence[Object], kind: str) -> set[str]:
    return {item["metadata"]["name"] for item in of_kind(objects, kind)}


def _referred(pod: Pod) -> Iterator[tuple[str, str]]:
    for volume in pod.spec.get("volumes", []):
        if "configMap" in volume:
            yield "ConfigMap", volume["configMap"]["name"]
        if "persistentVolumeClaim" in volume:
            yield "PersistentVolumeClaim", volume["persistentVolumeClaim"]["claimName"]
        for source in volume.get("projected", {}).get("sources", []):
            if "configMap" in source:
                yield "ConfigMap", source["configMap"]["name"]
    for container in pod.containers:
        for source in container.get("envFrom", []):
            if "configMapRef" in source:
                yield "ConfigMap", source["configMapRef"]["name"]
