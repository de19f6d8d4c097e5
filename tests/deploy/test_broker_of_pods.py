"""Kafka as the manifests run it: the same script and properties with the same Kafka, and with the
passwords and certificates that the bootstrap program makes.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import ssl
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml
from tests.deploy.bootstrap_secrets import make_secrets
from tests.deploy.brokers import FILES, access, libraries, prepared, settings
from tests.fakes.processes import until
from tests.fakes.sources import ROOT
from tests.servers.broker import quick as quick_java
from tests.servers.process import ServerProcess, free_ports

from caliper.adapters.streams.kafka import KafkaStream
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_certificates import reload_certificates
from caliper.adapters.streams.kafka_topics import TOPICS, apply_topics
from caliper.adapters.streams.kafka_users import apply_stream_users
from caliper.core.envelopes import Message
from caliper.core.errors import StreamUnavailable
from caliper.wiring.installation_users import stream_users

real = pytest.mark.components("Kafka")


@dataclass(frozen=True)
class Broker:
    process: ServerProcess
    secrets: Path
    port: int
    controllers: int
    peers: int

    def access(self, password: str | None = None, listener: int | None = None) -> KafkaAccess:
        """As a client with that password, or with the one that was made. A refusal takes its
        patience; what is allowed may take longer on a busy machine.
        """
        client = access(f"localhost:{listener or self.port}", self.secrets, password)
        return client if password or listener else replace(client, patience=60.0)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    folder = tmp_path_factory.mktemp("broker")
    secrets = make_secrets(folder / "secrets")
    clients, controllers, peers = free_ports(3)
    alone = {"POD": "kafka-0", "BROKERS": "1", "NAMES": "localhost", "BIND": "127.0.0.1"}
    process = prepared(folder, secrets, (clients, controllers, peers), alone)
    process.start()
    yield Broker(process, secrets, clients, controllers, peers)
    process.stop()


@real
def test_a_client_makes_the_topics_and_a_broker_that_starts_anew_has_them(broker: Broker) -> None:
    changes = apply_topics(broker.access(), partitions=3)
    assert len(changes) == len(TOPICS)
    assert broker.process.stop() is not None
    # Its volume is formatted by now, and left as it is.
    broker.process.start()
    assert apply_topics(broker.access(), partitions=3) == []


@real
def test_nobody_else_is_let_in(broker: Broker) -> None:
    with pytest.raises(StreamUnavailable):
        apply_topics(broker.access(password="guessed"))
    plain = KafkaAccess(f"localhost:{broker.port}", patience=5.0)
    with pytest.raises(StreamUnavailable):
        apply_topics(plain)


@real
async def test_services_have_users_of_their_own(broker: Broker) -> None:
    """What these may do is tested by tests/adapters/streams/test_kafka_users.py."""
    servers = f"localhost:{broker.port}"
    judge = access(servers, broker.secrets, holder="caliper-kafka-judge")
    with pytest.raises(StreamUnavailable):
        apply_topics(judge)
    apply_topics(broker.access(), partitions=3)
    users = stream_users(broker.secrets)
    assert apply_stream_users(broker.access(), users)
    assert apply_stream_users(broker.access(), users) == []
    stream = KafkaStream(judge)
    await stream.publish(Message("verdicts", "a", b"a verdict"))
    with pytest.raises(StreamUnavailable, match="Authorization"):
        await stream.publish(Message("plan-jobs", "a", b"a plan"))
    await stream.close()


def _shown(ports: Iterable[int]) -> list[bytes]:
    """The certificates that listeners show."""
    found = []
    for port in ports:
        served = ssl.get_server_certificate(("localhost", port))
        found.append(served.strip().encode("ascii"))
    return found


@real
async def test_a_renewed_certificate_is_shown_without_a_restart(broker: Broker) -> None:
    access = broker.access()
    apply_topics(access, partitions=3)
    stream = KafkaStream(access)
    await stream.publish(Message("verdicts", "a", b"before"))
    ports = (broker.port, broker.controllers, broker.peers)
    folder = broker.secrets / "caliper-tls-kafka"
    old = _shown(ports)
    # All but its folder stays: bootstrap makes a certificate of the same authority.
    shutil.rmtree(folder)
    make_secrets(broker.secrets)
    assert _shown(ports) == old
    reload_certificates(access)
    first = (folder / "tls.crt").read_bytes().partition(b"-----END")[0]
    async with asyncio.timeout(60):
        await until(lambda: all(each.startswith(first) for each in _shown(ports)))
    await stream.publish(Message("verdicts", "a", b"after"))
    await stream.close()
    apply_topics(access, partitions=3)


@real
def test_a_client_is_no_broker(broker: Broker) -> None:
    with pytest.raises(StreamUnavailable):
        apply_topics(broker.access(listener=broker.peers))


@real
def test_the_password_is_replaced_as_the_page_says(broker: Broker) -> None:
    told = (ROOT / "docs" / "secrets.md").read_text("utf-8")
    (block,) = re.findall(r"kafka-0 -- sh -euc '\n(.*?)' < password", told, re.DOTALL)
    work = broker.process.log.parent / "work"
    for place, here in {
        "/tmp/": f"{work}/",
        "/run/caliper/kafka/": f"{broker.secrets / 'caliper-kafka'}/",
        "/run/caliper/tls/": f"{broker.secrets / 'caliper-tls-kafka'}/",
        "/opt/kafka/libs/": f"{libraries()}/",
        "localhost:9095": f"localhost:{broker.peers}",
    }.items():
        assert place in block
        block = block.replace(place, here)
    password = broker.secrets / "caliper-kafka" / "password"
    old, new = password.read_text("ascii"), "c0ffee" * 8
    quick = os.environ | {"JDK_JAVA_OPTIONS": " ".join(quick_java())}
    subprocess.run(["sh", "-euc", block], input=new, text=True, check=True, env=quick)
    # As the page says: the Secret after the broker.
    password.write_text(new, "ascii")
    apply_topics(broker.access(), partitions=3)
    with pytest.raises(StreamUnavailable):
        apply_topics(broker.access(password=old))
    assert [each.name for each in work.glob("*.properties")] == ["server.properties"]


@real
def test_no_password_is_told_in_the_log(broker: Broker) -> None:
    log = broker.process.log.read_text("utf-8")
    passwords = [
        (broker.secrets / "caliper-kafka" / name).read_text("ascii")
        for name in ("password", "broker-password")
    ]
    assert "Kafka Server started" in log
    # Nor what a guess could be tried against.
    assert not [each for each in (*passwords, "storedKey", "StoredKey") if each in log]


@real
def test_the_password_of_clients_is_left_in_no_file(broker: Broker) -> None:
    password = (broker.secrets / "caliper-kafka" / "password").read_text("ascii")
    folder = broker.process.log.parent / "work"
    files = [each for each in folder.rglob("*") if each.is_file()]
    assert [each.name for each in files if each.name == "server.properties"]
    assert not [each for each in files if password in each.read_text("utf-8", errors="replace")]


def _properties(file: Path) -> dict[str, str]:
    lines = file.read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and line[0] != "#")


def test_groups_are_remembered_longer_than_messages_are_kept() -> None:
    """Else a stage that slept for long would do again what is still on its topic."""
    told = _properties(FILES / "server.properties")["offsets.retention.minutes"]
    kept = {int(topic.settings.get("retention.ms", 0)) for topic in TOPICS}
    assert int(told) * 60_000 > max(kept) > 0
    for folder in ("components/keda", "overlays/external"):
        assert told in (FILES.parents[1] / folder / "README.md").read_text("utf-8")


def test_full_topics_fit_on_the_volume_of_one_broker() -> None:
    """A partition holds its limit and one more segment before the oldest segment goes. A tenth of
    the volume is left for the other topics.
    """
    spec = yaml.safe_load((FILES / "statefulset.yaml").read_text("utf-8"))["spec"]
    (claim,) = spec["volumeClaimTemplates"]
    volume = int(claim["spec"]["resources"]["requests"]["storage"].removesuffix("Gi")) << 30
    limited = [topic for topic in TOPICS if "retention.ms" in topic.settings]
    sizes = [
        (topic.partitions or 12)
        * sum(int(topic.settings[name]) for name in ("retention.bytes", "segment.bytes"))
        for topic in limited
    ]
    assert sum(sizes) <= 0.9 * volume


def test_brokers_are_given_time() -> None:
    """Half an hour to read through their logs after a crash; and between one that is replaced
    and the next, more than the 30 s after which a copy that lags is taken off the list.
    """
    spec = yaml.safe_load((FILES / "statefulset.yaml").read_text("utf-8"))["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    probe = container["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] >= 1800
    assert spec["minReadySeconds"] >= 120


@pytest.mark.parametrize(
    ("brokers", "copies", "enough"), [("1", "1", "1"), ("2", "2", "1"), ("3", "3", "2")]
)
def test_every_broker_knows_all_of_them(
    tmp_path: Path, brokers: str, copies: str, enough: str
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    # What it is given as words, and in the file that one of them names.
    java.write_text(
        f"""#!/bin/sh
for word in "$@"; do
  echo "$word" >> {tmp_path}/words
  case $word in @*) cp "${{word#@}}" {tmp_path}/arguments; ls -l "${{word#@}}" >&2 ;; esac
done
""",
        "ascii",
    )
    java.chmod(0o755)
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    for name in ("user", "password", "broker-password"):
        (secrets / name).write_text(name, "ascii")
    told = settings() | {"BROKERS": brokers, "POD": "kafka-0"}
    places = {"CONFIG": str(FILES), "SECRETS": str(secrets), "WORK": str(tmp_path)}
    path = f"{java.parent}:{Path(shutil.which('sh') or '/bin/sh').parent}:/usr/bin:/bin"
    ended = subprocess.run(
        ["sh", str(FILES / "start.sh")],
        env=told | places | {"PATH": path},
        check=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    words = (tmp_path / "words").read_text("utf-8").splitlines()
    assert words[-2:] == ["kafka.Kafka", f"{tmp_path}/server.properties"]
    assert not [each for each in words if "password" in each]
    assert (tmp_path / "arguments").read_text("utf-8").splitlines() == [
        "--add-scram",
        "SCRAM-SHA-512=[name=user,password=password]",
    ]
    assert ended.stderr.startswith("-rw------- ")
    assert not (tmp_path / "scram").exists()
    written = _properties(tmp_path / "server.properties")
    voters = written["controller.quorum.voters"].split(",")
    assert voters == [
        f"{number}@kafka-{number}.kafka.caliper.svc.cluster.local:9094"
        for number in range(int(brokers))
    ]
    assert written["node.id"] == "0"
    assert written["super.users"] == "User:broker;User:user"
    assert written["default.replication.factor"] == copies
    assert written["min.insync.replicas"] == enough
