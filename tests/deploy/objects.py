"""Rendered manifests as values: the objects, and the pods that they make."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]

LASTING = ("Deployment", "StatefulSet", "DaemonSet")
ENDING = ("Job", "CronJob")
COMPONENT = "app.kubernetes.io/component"
# What `kustomize` calls an image of ours, before and after its tag.
OURS = "caliper"


@dataclass(frozen=True)
class Pod:
    owner: Object
    template: Object

    @property
    def name(self) -> str:
        return called(self.owner)

    @property
    def spec(self) -> Object:
        found: Object = self.template["spec"]
        return found

    @property
    def labels(self) -> dict[str, str]:
        found: dict[str, str] = self.template.get("metadata", {}).get("labels", {})
        return found

    @property
    def component(self) -> str:
        return self.labels.get(COMPONENT, "")

    @property
    def lasting(self) -> bool:
        """Whether it runs until it is told to stop."""
        return self.owner["kind"] in LASTING

    @property
    def running(self) -> list[Object]:
        """The containers that run as long as the pod: sidecars too."""
        starting = self.spec.get("initContainers", [])
        sidecars = [each for each in starting if each.get("restartPolicy") == "Always"]
        return [*self.spec["containers"], *sidecars]

    @property
    def containers(self) -> list[Object]:
        """All containers, those that only prepare too."""
        return [*self.spec["containers"], *self.spec.get("initContainers", [])]

    @property
    def volumes(self) -> dict[str, Object]:
        """Volumes by name; of a claim template, the claim."""
        claims = self.owner["spec"].get("volumeClaimTemplates", [])
        names = (each["metadata"]["name"] for each in claims)
        made = {
            name: {"name": name, "persistentVolumeClaim": {"claimName": f"{name}-of-pod-0"}}
            for name in names
        }
        return made | {each["name"]: each for each in self.spec.get("volumes", [])}

    @property
    def ports(self) -> dict[str, int]:
        """The ports that its containers declare, by name."""
        declared = [port for each in self.running for port in each.get("ports", [])]
        return {
            port.get("name", str(port["containerPort"])): port["containerPort"] for port in declared
        }


def called(item: Object) -> str:
    return f"{item['kind']}/{item['metadata']['name']}"


def of_kind(objects: Iterable[Object], *kinds: str) -> Iterator[Object]:
    return (item for item in objects if item["kind"] in kinds)


def pods(objects: Iterable[Object]) -> Iterator[Pod]:
    """One for each object that makes pods."""
    for item in of_kind(objects, *LASTING, *ENDING):
        spec = item["spec"]
        if item["kind"] == "CronJob":
            spec = spec["jobTemplate"]["spec"]
        yield Pod(item, spec["template"])


def matches(selector: Object, labels: dict[str, str]) -> bool:
    """Whether a label selector of Kubernetes chooses what has these labels; an empty one
    chooses everything.
    """
    wanted = selector.get("matchLabels", {})
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_meets(each, labels) for each in selector.get("matchExpressions", []))


def _meets(expression: Object, labels: dict[str, str]) -> bool:
    key, values = expression["key"], expression.get("values", [])
    return {
        "In": labels.get(key) in values,
        "NotIn": labels.get(key) not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }[expression["operator"]]


def environment(container: Object, objects: Iterable[Object]) -> dict[str, str]:
    """The variables that a container is started with, as far as they are plain values or come
    from a ConfigMap. A name that no ConfigMap has raises KeyError.
    """
    maps = {
        item["metadata"]["name"]: item.get("data", {}) for item in of_kind(objects, "ConfigMap")
    }
    found: dict[str, str] = {}
    told: dict[str, str] = {}
    for source in container.get("envFrom", []):
        if "configMapRef" in source:
            found |= maps[source["configMapRef"]["name"]]
    for each in container.get("env", []):
        chosen = each.get("valueFrom", {}).get("configMapKeyRef")
        if chosen:
            told[each["name"]] = maps[chosen["name"]][chosen["key"]]
        elif "valueFrom" not in each:
            # Of those before it: variables of `envFrom` are not put into others.
            told[each["name"]] = expanded(each.get("value", ""), told)
    return found | told


def expanded(text: str, variables: Mapping[str, str]) -> str:
    """With `$(NAME)` replaced, as Kubernetes does: a name that is not known stays."""
    return re.sub(r"\$\((\w+)\)", lambda found: variables.get(found[1], found[0]), text)


def is_ours(container: Object) -> bool:
    image: str = container["image"]
    return image.rpartition("/")[2].partition(":")[0] == OURS
