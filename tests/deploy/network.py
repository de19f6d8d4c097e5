"""What NetworkPolicies let through, as the documentation of Kubernetes says it.

A connection needs the egress of its source and the ingress of its destination. A pod that no
policy of a direction chooses is open in that direction; one that is chosen has what the policies
that choose it add up to. What passes inside a pod is nobody's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import NamedTuple

from tests.deploy.objects import Object, matches, of_kind, pods

# The label that every namespace has by itself.
NAMESPACE_NAME = "kubernetes.io/metadata.name"


@dataclass(frozen=True)
class Peer:
    """An end of connections: a pod, or with an `address` alone something outside the cluster."""

    name: str
    namespace: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    ports: Mapping[str, int] = field(default_factory=dict)
    address: str = ""


class Port(NamedTuple):
    """Where a connection goes to."""

    number: int
    protocol: str = "TCP"


class Network:
    """The policies of rendered manifests. `namespaces` are the labels of namespaces that are not
    among the objects, by name.
    """

    def __init__(
        self, objects: Iterable[Object], namespaces: Mapping[str, Mapping[str, str]] | None = None
    ) -> None:
        items = list(objects)
        self._policies = list(of_kind(items, "NetworkPolicy"))
        self._namespaces = {name: dict(given) for name, given in (namespaces or {}).items()}
        for item in of_kind(items, "Namespace"):
            self._namespaces[item["metadata"]["name"]] = item["metadata"].get("labels", {})
        self._chosen: dict[tuple[str, str], list[Object]] = {}
        self._known: dict[tuple[str, str, str], list[list[Object]]] = {}

    def allows(self, source: Peer, destination: Peer, port: Port) -> bool:
        """Whether `source` can connect to `port` of `destination`. Names of peers tell them
        apart.
        """
        return port in self.open(source, destination, (port,))

    def open(self, source: Peer, destination: Peer, ports: Iterable[Port]) -> list[Port]:
        """Those of the ports of `destination` that `source` can connect to."""
        leaves = self._ports(source, destination, "Egress")
        enters = leaves and self._ports(destination, source, "Ingress")
        if not enters:
            return []
        return [
            port
            for port in ports
            if all(
                any(_through(said, port, destination) for said in ways) for ways in (leaves, enters)
            )
        ]

    def _ports(self, own: Peer, other: Peer, direction: str) -> list[list[Object]]:
        """What each rule that is about the two says of ports; no ports are all ports."""
        key = (own.name, other.name, direction)
        if key not in self._known:
            chosen = self._choosing(own, direction)
            end = {"Egress": "to", "Ingress": "from"}[direction]
            rules = [
                rule.get("ports", [])
                for policy in chosen
                for rule in policy["spec"].get(direction.lower(), [])
                if self._among(rule.get(end, []), other, policy["metadata"]["namespace"])
            ]
            self._known[key] = rules if chosen else [[]]
        return self._known[key]

    def _choosing(self, own: Peer, direction: str) -> list[Object]:
        """The policies that choose a peer."""
        key = (own.name, direction)
        if key not in self._chosen:
            self._chosen[key] = [
                each for each in self._policies if self._chooses(each, own, direction)
            ]
        return self._chosen[key]

    def _chooses(self, policy: Object, peer: Peer, direction: str) -> bool:
        spec = policy["spec"]
        # Left out, a policy is of ingress, and of egress where it has rules for that.
        implied = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
        return (
            bool(peer.namespace)
            and policy["metadata"]["namespace"] == peer.namespace
            and direction in (spec.get("policyTypes") or implied)
            and matches(spec["podSelector"], dict(peer.labels))
        )

    def _among(self, peers: list[Object], other: Peer, namespace: str) -> bool:
        """Whether a rule's `from` or `to` names the other end; one that is left out, or empty,
        names everybody.
        """
        return not peers or any(self._is(each, other, namespace) for each in peers)

    def _is(self, said: Object, other: Peer, namespace: str) -> bool:
        if "ipBlock" in said:
            return _within(said["ipBlock"], other)
        if not other.namespace:
            return False
        if "namespaceSelector" in said:
            given = self._namespaces.get(other.namespace, {})
            labels = {NAMESPACE_NAME: other.namespace, **given}
            here = matches(said["namespaceSelector"], labels)
        else:
            here = other.namespace == namespace
        return here and matches(said.get("podSelector", {}), dict(other.labels))


def _within(block: Object, peer: Peer) -> bool:
    # Network plug-ins differ in whether a block meets pods as well. Here it does: what is not
    # meant for pods has to leave their addresses out.
    if not peer.address:
        return False
    address = ip_address(peer.address)
    outside = (ip_network(each) for each in block.get("except", []))
    return address in ip_network(block["cidr"]) and not any(address in each for each in outside)


def _through(ports: list[Object], port: Port, destination: Peer) -> bool:
    return not ports or any(_opens(each, port, destination) for each in ports)


def _opens(said: Object, port: Port, destination: Peer) -> bool:
    if said.get("protocol", "TCP") != port.protocol:
        return False
    wanted: str | int | None = said.get("port")
    if isinstance(wanted, str):
        # By the name that the destination's containers give it.
        return destination.ports.get(wanted) == port.number
    return wanted is None or wanted <= port.number <= int(said.get("endPort", wanted))


def peers(objects: Iterable[Object]) -> list[Peer]:
    """The pods of rendered manifests. Those of one workload are alike."""
    return [
        Peer(
            pod.name,
            pod.owner["metadata"]["namespace"],
            pod.labels,
            pod.ports,
            f"10.244.0.{number}",
        )
        for number, pod in enumerate(pods(objects), start=2)
    ]
