"""Kafka as the manifests run it: their script and properties, in folders of this machine."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import yaml
from tests.servers import broker, fetch
from tests.servers.absence import leave_out
from tests.servers.process import ServerProcess, answers

from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_security import KafkaSasl, KafkaSecurity, KafkaTls

FILES = Path(__file__).parents[2] / "deploy" / "k8s" / "base" / "kafka"
# An idle broker is busy with records of itself, and a first group with logs by the hundred.
QUIET = """\
metadata.max.idle.interval.ms=0
offsets.topic.num.partitions=3
"""


def settings() -> dict[str, str]:
    """What the ConfigMap of the brokers' number says."""
    told = yaml.safe_load((FILES / "kustomization.yaml").read_text("utf-8"))
    (size,) = (each for each in told["configMapGenerator"] if each["name"] == "kafka-size")
    return dict(line.split("=", 1) for line in size["literals"])


def libraries() -> Path:
    """The folder of Kafka's jars; a test is left out where they cannot be had."""
    try:
        return fetch.kafka()
    except fetch.Missing as reason:
        leave_out("Kafka", reason)


def prepared(
    folder: Path, secrets: Path, ports: tuple[int, int, int], changed: Mapping[str, str]
) -> ServerProcess:
    """A broker that is not started yet, with its volumes in `folder`.

    `ports` are those of clients, controllers and brokers; `changed` are variables of the script
    that differ from the ConfigMap, BIND among them. It is QUIET.
    """
    for name in ("data", "work"):
        (folder / name).mkdir(parents=True)
    shutil.copytree(FILES, folder / "config")
    with (folder / "config" / "server.properties").open("a", encoding="utf-8") as properties:
        properties.write(QUIET)
    clients, controllers, peers = ports
    places = {
        "LIBRARIES": str(libraries()),
        "CONFIG": str(folder / "config"),
        "SECRETS": str(secrets / "caliper-kafka"),
        "TLS": str(secrets / "caliper-tls-kafka"),
        "DATA": str(folder / "data"),
        "WORK": str(folder / "work"),
    }
    ours = {
        "CLIENTS": str(clients),
        "CONTROLLERS": str(controllers),
        "PEERS": str(peers),
        "HEAP": "256m",
        # Quick to start, as the broker of other tests (tests.servers.broker).
        "JDK_JAVA_OPTIONS": " ".join(broker.quick()),
    }
    return ServerProcess(
        f"Kafka {changed['POD']}",
        ["sh", str(FILES / "start.sh")],
        folder / "kafka.log",
        lambda: answers(clients, changed["BIND"]),
        settings() | places | ours | changed,
    )


def access(
    servers: str, secrets: Path, password: str | None = None, holder: str = "caliper-kafka"
) -> KafkaAccess:
    """As the user of a Secret, with that password or with its own."""
    user, made = ((secrets / holder / name).read_text("ascii") for name in ("user", "password"))
    ca = secrets / "caliper-ca-certificate" / "ca.crt"
    sasl = KafkaSasl("SCRAM-SHA-512", user, password or made)
    return KafkaAccess(servers, KafkaSecurity(KafkaTls(ca), sasl), patience=5.0)
