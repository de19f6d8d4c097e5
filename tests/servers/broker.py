"""A Kafka broker of one node (KRaft: its own controller), for tests."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tests.servers import fetch
from tests.servers.process import ServerProcess, answers, free_ports

from caliper.lazy import lazy_module

if TYPE_CHECKING:
    from tests.fakes import kafka_streams
else:
    kafka_streams = lazy_module("tests.fakes.kafka_streams")

# Small and quick to start; the classes live on 300 MB, the topics of tests on next to nothing.
HEAP = ("-Xms64m", "-Xmx256m")
QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners={listeners},CONTROLLER://127.0.0.1:{controller}
advertised.listeners={listeners}
listener.security.protocol.map={protocols},CONTROLLER:PLAINTEXT
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
# An idle broker would write a record every 500 ms, which takes half of what it needs.
metadata.max.idle.interval.ms=0
"""
_CLASSES = "classes.jsa"
_FORMATTED = ("bootstrap.checkpoint", "meta.properties")


def start(folder: Path) -> tuple[ServerProcess, str]:
    """A broker with its data and log in `folder`, and its address. Raises fetch.Missing."""
    broker, addresses = start_with(folder, ("PLAINTEXT",))
    return broker, addresses["PLAINTEXT"]


def start_with(
    folder: Path, protocols: Sequence[str], more: str = "", scram: Sequence[str] = ()
) -> tuple[ServerProcess, dict[str, str]]:
    """A broker that listens once a protocol, of which one is PLAINTEXT, and its addresses.

    `more` are properties, `scram` users as Kafka's StorageTool takes them. Raises fetch.Missing.
    """
    fetch.declared("Kafka")
    classes = f"{fetch.kafka()}/*"
    controller, *ports = free_ports(1 + len(protocols))
    addresses = {name: f"127.0.0.1:{port}" for name, port in zip(protocols, ports, strict=True)}
    written = PROPERTIES.format(
        controller=controller,
        data=folder / "data",
        listeners=",".join(f"{name}://{address}" for name, address in addresses.items()),
        protocols=",".join(f"{name}:{name}" for name in protocols),
    )
    properties = folder / "server.properties"
    properties.write_text(written + more, "utf-8")
    java = ["java", *HEAP, *quick(), "-Dlog4j2.level=WARN", "-cp", classes]
    _format(java, properties, *(part for user in scram for part in ("--add-scram", user)))
    broker = ServerProcess(
        "Kafka",
        [*java, "kafka.Kafka", str(properties)],
        folder / "kafka.log",
        lambda: all(answers(port) for port in ports),
    )
    broker.start()
    return broker, addresses


def emptied(broker: ServerProcess) -> None:
    """Have a broker that was ended start as a new one in its place, which knows of nothing."""
    *java, _, properties = broker.command
    shutil.rmtree(Path(properties).parent / "data")
    _format(java, Path(properties))


def _format(java: Sequence[str], properties: Path, *options: str) -> None:
    formatted = kit_folder() / _FORMATTED[0]
    if formatted.is_file() and not options:
        data = properties.parent / "data"
        data.mkdir()
        for name in _FORMATTED:
            shutil.copy(kit_folder() / name, data)
        return
    command = [*java, "kafka.tools.StorageTool", "format", "--config", str(properties)]
    # Any 16 bytes in base64 name a cluster.
    named = ("--cluster-id", "Y2FsaXBlci10ZXN0cy0wMQ")
    subprocess.run([*command, *named, *options], check=True, capture_output=True)


def quick() -> tuple[str, ...]:
    """Options by which Java starts quickly, with the classes of the kit where there is one."""
    classes = kit_folder() / _CLASSES
    return (*QUICK, f"-XX:SharedArchiveFile={classes}") if classes.is_file() else QUICK


def kit_folder() -> Path:
    """Where the kit is, or will be. Another Java or Kafka has another."""
    java = Path(shutil.which("java") or "java").resolve()
    library = java.parents[1] / "lib" / "server" / "libjvm.so"
    build = library.stat() if library.is_file() else None
    made_of = (java, build and (build.st_size, build.st_mtime_ns), QUICK, PROPERTIES)
    mark = hashlib.sha256(repr(made_of).encode()).hexdigest()[:8]
    return fetch.cache() / f"{fetch.kafka_folder().name}-kit-{mark}"


def kit() -> Path:
    """What makes a broker start in half the CPU time, made once: an archive of the classes that
    one has used, and a data folder as formatted. Raises fetch.Missing.
    """
    fetch.kafka()
    return fetch.once(kit_folder(), _make_kit)


def _make_kit(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        broker, servers = start(Path(scratch))
        for name in _FORMATTED:
            shutil.copy(Path(scratch) / "data" / name, folder)
        broker.stop()
        java, *rest = broker.command
        broker.command = [java, f"-XX:ArchiveClassesAtExit={folder / _CLASSES}", *rest]
        broker.start()
        try:
            asyncio.run(kafka_streams.use(servers))
        finally:
            keep_whole(folder / _CLASSES, broker.stop())


def keep_whole(classes: Path, code: int | None) -> None:
    """Remove an archive unless Java wrote all of it before it ended with this code: brokers would
    crash with a part, and start as they do without.
    """
    if code not in (0, 128 + signal.SIGTERM):
        classes.unlink(missing_ok=True)
