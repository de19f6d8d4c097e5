"""NetworkPolicies, simulated: every connection that is needed is allowed, and no other. Tried are
all pairs of pods and of outsiders, at every port that any of them declares and at some more.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from tests.deploy.arrows import NAMESPACES, OUTSIDE, PORTS, Arrow, called, needed
from tests.deploy.network import Network, Port, peers
from tests.deploy.objects import Object, pods
from tests.deploy.policies.planting import Change, more, policy
from tests.deploy.rendering import BASE, RENDERINGS, Rendering, changeable, rendered


def _open(objects: Iterable[Object]) -> set[Arrow]:
    """All connections that are allowed to a pod of ours or from one."""
    items = list(objects)
    network, made = Network(items, NAMESPACES), peers(items)
    ports = {*PORTS, *(Port(number) for each in made for number in each.ports.values())}
    ends = [(one, other) for one in made for other in made]
    ends += [pair for one in made for other in OUTSIDE for pair in ((one, other), (other, one))]
    return {
        Arrow(called(source), called(destination), port)
        for source, destination in ends
        for port in network.open(source, destination, ports)
    }


@pytest.mark.parametrize("rendering", RENDERINGS, ids=str)
def test_what_is_needed_is_open_and_nothing_else(rendering: Rendering) -> None:
    objects = rendered(rendering)
    wanted = needed(rendering, {pod.component for pod in pods(objects)})
    found = _open(objects)
    assert wanted - found == set(), "closed"
    assert found - wanted == set(), "open"


_OPENED: list[tuple[Change, Arrow]] = [
    (
        more(**policy(ingress=[{"from": [{"namespaceSelector": {}}], "ports": [{"port": 9464}]}])),
        Arrow("a pod of another namespace", "judge", Port(9464)),
    ),
    (
        more(**policy(ingress=[{"ports": [{"port": "s3"}]}])),
        Arrow("the internet", "minio", Port(9000)),
    ),
    (
        more(**policy(egress=[{"ports": [{"port": 1, "endPort": 65535}]}])),
        Arrow("judge", "the internet", Port(12345)),
    ),
    (
        more(**policy(egress=[{"to": [{"ipBlock": {"cidr": "169.254.0.0/16"}}]}])),
        Arrow("triton", "the cloud's metadata", Port(80)),
    ),
    (
        more(**policy(egress=[{"to": [{"podSelector": {}}]}])),
        Arrow("prometheus", "triton", Port(8001)),
    ),
]


@pytest.mark.parametrize(("change", "arrow"), _OPENED, ids=lambda each: getattr(each, "source", ""))
def test_what_is_opened_is_found(change: Change, arrow: Arrow) -> None:
    objects = changeable(BASE)
    before = _open(objects)
    change(objects)
    if arrow.destination == "triton":
        # Both ends have to be opened.
        assert arrow not in _open(objects)
        more(**policy(ingress=[{"from": [{"podSelector": {}}]}]))(objects)
    assert arrow in _open(objects) - before


@pytest.mark.parametrize("name", ["judge", "kafka", "prometheus", "dns", "bootstrap"])
def test_what_is_closed_is_found(name: str) -> None:
    objects = list(rendered(BASE))
    before = _open(objects)
    kept = [
        each
        for each in objects
        if (each["kind"], each["metadata"]["name"]) != ("NetworkPolicy", name)
    ]
    assert _open(kept) < before


def test_renderings_have_the_arrows_of_their_pods() -> None:
    """The table names components as the manifests do: a typo would be an arrow that is never
    looked for.
    """
    found = {
        end
        for rendering in RENDERINGS
        for arrow in needed(rendering, {pod.component for pod in pods(rendered(rendering))})
        for end in (arrow.source, arrow.destination)
    }
    assert found >= {pod.component for each in RENDERINGS for pod in pods(rendered(each))}
