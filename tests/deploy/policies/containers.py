"""What every container and every pod must say about itself to be let in and kept in bounds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from tests.deploy.objects import Object, Pod, is_ours, pods

from caliper.version import __version__

_QUANTITIES = ("cpu", "memory")
_ISOLATED = ("hostNetwork", "hostPID", "hostIPC", "hostUsers", "shareProcessNamespace")
_DIGEST = re.compile("sha256:[0-9a-f]{64}")
_MOVING = ("latest", "main", "master", "stable", "nightly", "edge")


def _each(objects: Iterable[Object]) -> Iterator[tuple[str, Object, Pod]]:
    for pod in pods(objects):
        for container in pod.containers:
            yield f"{pod.name} {container['name']}", container, pod


def _security(container: Object) -> Object:
    found: Object = container.get("securityContext", {})
    return found


def requests_and_limits(objects: Sequence[Object]) -> Iterator[str]:
    for place, container, _ in _each(objects):
        for kind in ("requests", "limits"):
            given = container.get("resources", {}).get(kind, {})
            for quantity in _QUANTITIES:
                if quantity not in given:
                    yield f"{place} has no {kind}.{quantity}"


def disk_is_requested(objects: Sequence[Object]) -> Iterator[str]:
    """Else pods meet on a node whose disk all may fill, and are evicted from it."""
    for pod in pods(objects):
        volumes = (each["emptyDir"] for each in pod.volumes.values() if "emptyDir" in each)
        bounds = [each.get("sizeLimit", "0") for each in volumes if each.get("medium") != "Memory"]
        written = sum(map(mebibytes, bounds))
        asked = [
            mebibytes(each.get("resources", {}).get("requests", {}).get("ephemeral-storage", "0"))
            for each in pod.running
        ]
        if sum(asked) < written:
            yield f"{pod.name} may write {written} MiB and asks for {sum(asked)}"


def mebibytes(quantity: str) -> int:
    """Of a quantity in Mi or Gi, or nothing."""
    units = {"Mi": 1, "Gi": 1024}
    return int(quantity[:-2]) * units[quantity[-2:]] if quantity != "0" else 0


def non_root(objects: Sequence[Object]) -> Iterator[str]:
    for place, container, pod in _each(objects):
        said = pod.spec.get("securityContext", {}) | _security(container)
        if said.get("runAsNonRoot") is not True:
            yield f"{place} may run as root"


def numeric_users(objects: Sequence[Object]) -> Iterator[str]:
    for place, container, pod in _each(objects):
        said = pod.spec.get("securityContext", {}) | _security(container)
        for field in ("runAsUser", "runAsGroup"):
            if not isinstance(said.get(field), int) or said[field] <= 0:
                yield f"{place} has no numeric {field} other than 0"


def seccomp(objects: Sequence[Object]) -> Iterator[str]:
    for place, container, pod in _each(objects):
        said = pod.spec.get("securityContext", {}) | _security(container)
        if said.get("seccompProfile", {}).get("type") != "RuntimeDefault":
            yield f"{place} has not the runtime's seccomp profile"


def read_only_root(objects: Sequence[Object]) -> Iterator[str]:
    for place, container, _ in _each(objects):
        if _security(container).get("readOnlyRootFilesystem") is not True:
            yield f"{place} can write to its root"


def no_capabilities(objects: Sequence[Object]) -> Iterator[str]:
    for place, container, _ in _each(objects):
        said = _security(container).get("capabilities", {})
        if said.get("drop") != ["ALL"] or said.get("add"):
            yield f"{place} keeps capabilities"


def no_escalation(objects: Sequence[Object]) -> Iterator[str]:
    for place, container, _ in _each(objects):
        said = _security(container)
        if said.get("allowPrivilegeEscalation") is not False or said.get("privileged"):
            yield f"{place} can gain privileges"


def isolated_from_the_node(objects: Sequence[Object]) -> Iterator[str]:
    for pod in pods(objects):
        for field in _ISOLATED:
            if field in pod.spec:
                yield f"{pod.name} sets {field}"
        for volume in pod.spec.get("volumes", []):
            if "hostPath" in volume:
                yield f"{pod.name} mounts {volume['name']} from the node"
    for place, container, _ in _each(objects):
        for port in container.get("ports", []):
            if "hostPort" in port:
                yield f"{place} takes port {port['hostPort']} of the node"
            if port["containerPort"] < 1024:
                yield f"{place} listens on the privileged port {port['containerPort']}"


def writes_are_bounded(objects: Sequence[Object]) -> Iterator[str]:
    for pod in pods(objects):
        for name, volume in pod.volumes.items():
            if "emptyDir" in volume and "sizeLimit" not in (volume["emptyDir"] or {}):
                yield f"{pod.name} may fill the node through {name}"
    for place, container, pod in _each(objects):
        for mount in container.get("volumeMounts", []):
            if mount["name"] not in pod.volumes:
                yield f"{place} mounts {mount['name']}, which is no volume of its pod"


def no_service_links(objects: Sequence[Object]) -> Iterator[str]:
    for pod in pods(objects):
        if pod.spec.get("enableServiceLinks") is not False:
            yield f"{pod.name} gets a variable for every Service"


def pinned_images(objects: Sequence[Object]) -> Iterator[str]:
    for place, container, _ in _each(objects):
        image = container["image"]
        name, _, digest = image.partition("@")
        _, _, tag = name.rpartition("/")[2].partition(":")
        if digest and not _DIGEST.fullmatch(digest):
            yield f"{place}: {image} has no whole digest"
        if not re.search(r"\d+\.\d+|\d{4}-\d{2}-\d{2}", tag) or tag.startswith(_MOVING):
            yield f"{place}: {image} names no exact version"
        if is_ours(container) and tag != __version__:
            yield f"{place}: {image} is not this version, {__version__}"
        if container.get("imagePullPolicy", "IfNotPresent") != "IfNotPresent":
            yield f"{place} asks a registry for an image that cannot have changed"
