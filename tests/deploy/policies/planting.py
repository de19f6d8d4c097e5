"""Finding the place in rendered manifests where a violation is planted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.deploy.objects import COMPONENT, Object, of_kind, pods

Change = Callable[[list[Object]], None]
NAMESPACE = {"namespace": "caliper"}


@dataclass(frozen=True)
class Plant:
    """A change that breaks a rule; `sign` is a part of what the rule says then."""

    rule: str
    change: Change
    sign: str


def one(objects: list[Object], kind: str, component: str) -> Object:
    """The first object of that kind and component; with no component, of that kind."""
    for item in of_kind(objects, kind):
        if component in ("", item["metadata"].get("labels", {}).get(COMPONENT)):
            return item
    raise LookupError(f"no {kind} of {component}")


def pod_spec(objects: list[Object], component: str) -> Object:
    return next(pod.spec for pod in pods(objects) if pod.component == component)


def container(component: str, path: str, value: Any) -> Change:
    """Puts a value into the first container of a component."""
    return lambda objects: put(pod_spec(objects, component)["containers"][0], path, value)


def pod(component: str, path: str, value: Any) -> Change:
    """Puts a value into the pod of a component."""
    return lambda objects: put(pod_spec(objects, component), path, value)


def item(kind: str, component: str, path: str, value: Any) -> Change:
    return lambda objects: put(one(objects, kind, component), path, value)


def put(place: Any, path: str, value: Any) -> None:
    """Sets a field, by names and positions with spaces between them; None removes it, and `+`
    stands for one more of a list.
    """
    *way, last = path.split()
    for name in way:
        place = place[int(name)] if isinstance(place, list) else place.setdefault(name, {})
        if place is None:
            raise LookupError(f"{name} of {path} is nothing")
    if last == "+":
        place.append(value)
    elif isinstance(place, list):
        place[int(last)] = value
    elif value is None:
        place.pop(last, None)
    else:
        place[last] = value


def more(api: str, kind: str, name: str, **content: Any) -> Change:
    metadata = {"name": name, **NAMESPACE}
    return lambda objects: objects.append(
        {"apiVersion": api, "kind": kind, "metadata": metadata, **content}
    )


def policy(**spec: Any) -> dict[str, Any]:
    """What `more` needs for a NetworkPolicy of every pod."""
    return {
        "api": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "name": "planted",
        "spec": {
            "podSelector": {},
            "policyTypes": ["Egress" if "egress" in spec else "Ingress"],
            **spec,
        },
    }


def without(kind: str, component: str) -> Change:
    """Takes the first object of that kind and component away."""
    return lambda objects: objects.remove(one(objects, kind, component))
