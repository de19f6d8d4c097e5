"""NetworkPolicies as written; what they add up to is simulated in test_network.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.deploy.objects import Object, called, matches, of_kind, pods

_DIRECTIONS = {"Ingress": "from", "Egress": "to"}


def default_deny(objects: Sequence[Object]) -> Iterator[str]:
    policies = list(of_kind(objects, "NetworkPolicy"))
    closed = {
        direction
        for each in policies
        if each["spec"]["podSelector"] == {}
        for direction in each["spec"].get("policyTypes", [])
        if not each["spec"].get(direction.lower())
    }
    for direction in _DIRECTIONS:
        if direction not in closed:
            yield f"{direction} is open for a pod that no policy chooses"


def policies_say_whom_and_where(objects: Sequence[Object]) -> Iterator[str]:
    for item in of_kind(objects, "NetworkPolicy"):
        for direction, end in _DIRECTIONS.items():
            for rule in item["spec"].get(direction.lower()) or []:
                if not rule.get("ports"):
                    yield f"{called(item)} opens every port"
                if direction == "Ingress" and not rule.get(end):
                    yield f"{called(item)} lets everybody in"
                if any(each == {} for each in rule.get(end, [])):
                    yield f"{called(item)} names nobody"


def policies_choose_somebody(objects: Sequence[Object]) -> Iterator[str]:
    made = list(pods(objects))
    for item in of_kind(objects, "NetworkPolicy"):
        if not any(matches(item["spec"]["podSelector"], pod.labels) for pod in made):
            yield f"{called(item)} chooses no pod"
