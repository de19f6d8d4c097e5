"""A Kafka broker of one node (KRaft: its own controller), for tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.servers import fetch
from tests.servers.process import ServerProcess, answers, free_ports

# Small and quick to start; the classes live on 300 MB, the topics of tests on next to nothing.
JVM = ("-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={data}
auto.create.topics.enable=false
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
# Tests of lost members would wait for the 6 s that are the least by default.
group.min.session.timeout.ms=500
# Started again after `kill -9`, it waits until its former self counts as gone: 9 s by default.
broker.session.timeout.ms=1000
broker.heartbeat.interval.ms=200
"""


def start(folder: Path) -> tuple[ServerProcess, str]:
    """A broker with its data and log in `folder`, and its address. Raises fetch.Missing."""
    classes = f"{fetch.kafka()}/*"
    port, controller = free_ports(2)
    properties = folder / "server.properties"
    properties.write_text(
        PROPERTIES.format(port=port, controller=controller, data=folder / "data"), "utf-8"
    )
    java = ["java", *JVM, "-Dlog4j2.level=WARN", "-cp", classes]
    # Any 16 bytes in base64 name a cluster.
    name = ["--cluster-id", "Y2FsaXBlci10ZXN0cy0wMQ"]
    subprocess.run(
        [*java, "kafka.tools.StorageTool", "format", "--config", str(properties), *name],
        check=True,
        capture_output=True,
    )
    broker = ServerProcess(
        "Kafka",
        [*java, "kafka.Kafka", str(properties)],
        folder / "kafka.log",
        lambda: answers(port),
    )
    broker.start()
    return broker, f"127.0.0.1:{port}"
