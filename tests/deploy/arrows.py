"""Who has to reach whom: the arrows of the architecture's picture, and what an installation needs
beside them. Everything else is closed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tests.deploy.network import Peer, Port
from tests.deploy.objects import COMPONENT
from tests.deploy.policies.cluster import CHECKPOINTS, SERVICES
from tests.deploy.rendering import Rendering

NAMESPACES: dict[str, dict[str, str]] = {
    name: {}
    for name in ("kube-system", "default", "keda", "monitoring", "openshift-dns", CHECKPOINTS)
}
"""Namespaces of others, which have no labels but their name."""

DNS = Peer("DNS", "kube-system", {"k8s-app": "kube-dns"}, {}, "10.244.1.2")
OPENSHIFT_DNS = Peer(
    "OpenShift's DNS",
    "openshift-dns",
    {"dns.operator.openshift.io/daemonset-dns": "default"},
    {},
    "10.244.1.11",
)
CLIENT = Peer("a client", "default", {"caliper.dev/client": "true"}, {}, "10.244.1.3")
KEDA = Peer("KEDA", "keda", {"app": "keda-operator"}, {}, "10.244.1.4")
OPERATED = Peer(
    "an operator's Prometheus",
    "monitoring",
    {"app.kubernetes.io/name": "prometheus"},
    {},
    "10.244.1.5",
)
NODE_DNS = Peer("a node's DNS", address="169.254.20.10")
INTERNET = Peer("the internet", address="203.0.113.7")
API_SERVER = Peer("the API server", address="10.96.0.1")
NODE_API_SERVER = Peer("the API server at its node", address="192.168.49.2")
STRANGER = Peer("a stranger in our namespace", "caliper", {}, {}, "10.244.1.7")
CHECKPOINT = Peer("checkpoint", CHECKPOINTS, {COMPONENT: "checkpoint"}, {}, "10.244.1.10")
METADATA = Peer("the cloud's metadata", address="169.254.169.254")
METADATA_6 = Peer("the cloud's metadata by IPv6", address="fd00:ec2::254")
OUTSIDE = (
    DNS,
    OPENSHIFT_DNS,
    CLIENT,
    KEDA,
    OPERATED,
    NODE_DNS,
    INTERNET,
    API_SERVER,
    NODE_API_SERVER,
    METADATA,
    METADATA_6,
    Peer("a pod of another namespace", "default", {}, {}, "10.244.1.6"),
    Peer("a pod beside Prometheus", "monitoring", {}, {}, "10.244.1.9"),
    STRANGER,
    CHECKPOINT,
    Peer("a pod of kube-system", "kube-system", {}, {}, "10.244.1.8"),
)
API_PORTS = (443, 6443, 8443, 16443)
"""Where API servers listen: nobody's choice, minikube's and MicroK8s' among them."""
PORTS = (
    *map(Port, (22, 53, 80, *API_PORTS, 5353, 8000, 9000, 9090, 9093, 12345)),
    Port(53, "UDP"),
    Port(5353, "UDP"),
)
"""Ports that are tried beside those that any pod declares."""

_NO_DNS = ("tgi-judge", "tgi-reader", "triton", "vllm-captioner")
_KAFKA, _STORE, _GRPC, _METRICS = 9093, 9000, 50051, 9464


class Arrow(NamedTuple):
    """From a component to a component, or to somebody outside by name."""

    source: str
    destination: str
    port: Port


def _to(destination: str, number: int, *sources: str) -> Iterator[Arrow]:
    return (Arrow(source, destination, Port(number)) for source in sources)


def _to_the_api_server(source: str) -> Iterator[Arrow]:
    """No label tells its address: what listens at its ports outside of this namespace, and is no
    secret of a node, can be reached.
    """
    return (
        arrow
        for outside in OUTSIDE
        if outside not in (STRANGER, NODE_DNS, METADATA, METADATA_6)
        for number in API_PORTS
        for arrow in _to(outside.name, number, source)
    )


_BETWEEN = frozenset(
    (
        *_to("aggregator", _GRPC, "gateway"),
        *_to("captioner", _GRPC, "gateway"),
        *_to("judge", _GRPC, "gateway"),
        *_to("qa-reader", _GRPC, "gateway"),
        *_to("kafka", _KAFKA, *SERVICES, "topics"),
        *_to("kafka", 9094, "kafka"),
        *_to("kafka", 9095, "kafka"),
        *_to("minio", _STORE, *SERVICES, "storage"),
        *_to("tgi-judge", 8443, "judge"),
        *_to("tgi-reader", 8443, "qa-reader"),
        *_to("triton", 8001, "captioner"),
        *_to("vllm-captioner", 8443, "captioner"),
        *(arrow for each in SERVICES for arrow in _to(each, _METRICS, "prometheus")),
        *_to("triton", 8002, "prometheus"),
        *_to("tgi-judge", _METRICS, "prometheus"),
        *_to("tgi-reader", _METRICS, "prometheus"),
        *_to("vllm-captioner", _METRICS, "prometheus"),
        *_to("minio", _STORE, "prometheus"),
        *_to("prometheus", 9090, "grafana"),
        # People and programs in the cluster.
        *_to("gateway", _GRPC, CLIENT.name, "suites"),
        # The hub's addresses change: whatever speaks HTTPS outside of private networks.
        *_to(INTERNET.name, 443, "model-download"),
        *_to_the_api_server("bootstrap"),
    )
)
# Addresses of other people's brokers and stores are known to them alone.
_OUTWARD = [each.name for each in OUTSIDE if each not in (STRANGER, METADATA_6)]
_OF = {
    "external": frozenset(
        (
            *(arrow for each in _OUTWARD for arrow in _to(each, _KAFKA, *SERVICES, "topics")),
            *(arrow for each in _OUTWARD for arrow in _to(each, 443, *SERVICES, "storage")),
            *(arrow for each in SERVICES for arrow in _to(each, _METRICS, OPERATED.name)),
            *_to("triton", 8002, OPERATED.name),
            *_to("tgi-judge", _METRICS, OPERATED.name),
            *_to("tgi-reader", _METRICS, OPERATED.name),
            *_to(OPERATED.name, 9090, "grafana"),
        )
    ),
    "alertmanager": frozenset(
        (
            *_to("alertmanager", 9093, "prometheus"),
            *_to(INTERNET.name, 443, "alertmanager"),
        )
    ),
    "checkpoint-pods": frozenset(
        (*_to(CHECKPOINT.name, 8000, "suites"), *_to_the_api_server("suites"))
    ),
    "webhooks": frozenset(_to("suites", 8090, CLIENT.name)),
    "keda": frozenset(_to("kafka", _KAFKA, KEDA.name)),
    "one-server": frozenset(_to("tgi-judge", 8443, "qa-reader")),
    "keda-gpus": frozenset((*_to("kafka", _KAFKA, KEDA.name), *_to("prometheus", 9090, KEDA.name))),
    "prometheus-operator": frozenset(
        (
            *(arrow for each in SERVICES for arrow in _to(each, _METRICS, OPERATED.name)),
            *_to("triton", 8002, OPERATED.name),
            *_to("tgi-judge", _METRICS, OPERATED.name),
            *_to("tgi-reader", _METRICS, OPERATED.name),
            *_to("vllm-captioner", _METRICS, OPERATED.name),
            *_to("minio", _STORE, OPERATED.name),
            *_to(OPERATED.name, 9090, "grafana"),
        )
    ),
}


def needed(rendering: Rendering, there: Iterable[str]) -> set[Arrow]:
    """The arrows of a rendering that has pods of these components."""
    components = set(there)
    known = components | {each.name for each in OUTSIDE}
    arrows = _BETWEEN.union(*(_OF.get(name, ()) for name in rendering.parts))
    asking = components - set(_NO_DNS)
    resolvers = [(DNS, 53), (NODE_DNS, 53)]
    if "openshift" in rendering.parts:
        resolvers = [(OPENSHIFT_DNS, 5353)]
    names = {
        Arrow(source, who.name, Port(number, protocol))
        for source in asking
        for who, number in resolvers
        for protocol in ("TCP", "UDP")
    }
    made = {each for each in arrows if {each.source, each.destination} <= known} | names
    if "checkpoint-pods" not in rendering.parts:
        return made
    # Its namespace is closed then.
    return {
        each for each in made if each.destination != CHECKPOINT.name or each.port.number == 8000
    }


def called(peer: Peer) -> str:
    """The component of a pod of ours, the name of anybody else."""
    return peer.labels.get(COMPONENT, peer.name)
