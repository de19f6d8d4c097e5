"""Metrics are read in plaintext without a token: so only by Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.deploy.network import Network, Peer, Port, peers
from tests.deploy.objects import COMPONENT, Object

PORTS = ("metrics", "health")
# Somebody who is not of this installation.
_STRANGERS = (
    Peer("a pod of another namespace", "default", {}, {}, "10.244.9.9"),
    Peer("an unlabelled pod of ours", "caliper", {}, {}, "10.244.9.10"),
    Peer("the internet", address="203.0.113.7"),
)


def metrics_for_prometheus_only(objects: Sequence[Object]) -> Iterator[str]:
    network, made = Network(objects), peers(objects)
    for destination in made:
        for name in PORTS:
            number = destination.ports.get(name)
            if number is None:
                continue
            for source in (*made, *_STRANGERS):
                meant = name == "metrics" and source.labels.get(COMPONENT) == "prometheus"
                opened = network.allows(source, destination, Port(number))
                if opened and not meant:
                    yield f"{destination.name}: {name} can be read by {source.name}"
