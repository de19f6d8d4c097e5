"""Brokers that want TLS, a certificate or a user: who is let in, and what the others hear."""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
from tests.fakes.certificates import Pair, certify
from tests.fakes.clock import PATIENCE
from tests.fakes.command import Command
from tests.servers import fetch, guarded_broker
from tests.servers.absence import leave_out
from tests.servers.guarded_broker import PASSWORD, USER

from caliper.adapters.streams.kafka import KafkaStream
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.adapters.streams.kafka_security import KafkaSasl, KafkaSecurity, KafkaTls
from caliper.adapters.streams.kafka_topics import TOPICS, Topic, apply_topics
from caliper.core.envelopes import Message
from caliper.core.errors import InvalidInput, StreamUnavailable

WRONG = "never-to-be-printed"


@dataclass(frozen=True)
class SecuredBroker:
    """A broker by protocol, who signed its certificate, and certificates of its callers."""

    addresses: dict[str, str]
    ca: Path
    ours: Pair
    strangers: Pair


needs_kafka = pytest.mark.components("Kafka")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    folder = tmp_path_factory.mktemp("guarded")
    ca = certify(folder / "tls", "ca")
    broker = certify(folder / "tls", "broker", ca)
    try:
        server, addresses = guarded_broker.start(
            folder, broker.certificate, broker.key, ca.certificate
        )
    except fetch.Missing as reason:
        leave_out("Kafka", reason)
    ours = certify(folder / "tls", "worker", ca)
    yield SecuredBroker(addresses, ca.certificate, ours, certify(folder / "tls", "stranger"))
    server.stop()


def known(there: SecuredBroker, protocol: str, mechanism: str = "SCRAM-SHA-512") -> KafkaSecurity:
    """What this protocol asks of us."""
    sasl = KafkaSasl(mechanism, USER, PASSWORD) if protocol.startswith("SASL") else None
    if not protocol.endswith("SSL"):
        return KafkaSecurity(None, sasl)
    if sasl is not None:
        return KafkaSecurity(KafkaTls(there.ca), sasl)
    return KafkaSecurity(KafkaTls(there.ca, there.ours.certificate, there.ours.key))


async def there_and_back(access: KafkaAccess, topic: str) -> None:
    stream, message = KafkaStream(access), Message(topic, "run/a/1", b"a job")
    async with asyncio.timeout(PATIENCE):
        await stream.publish(message)
        member = stream.consumer(topic, "judge")
        delivery = await member.receive()
        assert delivery is not None
        assert delivery.message == message
        await member.acknowledge(delivery)
        await member.leave()
        assert await KafkaLog(access).ends(topic) == {0: 1}
        await stream.close()


@needs_kafka
@pytest.mark.parametrize(
    ("protocol", "mechanism"),
    [
        ("SSL", ""),
        *(
            (protocol, mechanism)
            for protocol in ("SASL_PLAINTEXT", "SASL_SSL")
            for mechanism in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
        ),
    ],
)
async def test_who_is_known_is_let_in(
    guarded: SecuredBroker, protocol: str, mechanism: str
) -> None:
    access = KafkaAccess(guarded.addresses[protocol], known(guarded, protocol, mechanism))
    topic = f"jobs-{uuid4().hex[:8]}"
    await asyncio.to_thread(apply_topics, access, (Topic(topic, 1, {}),))
    await there_and_back(access, topic)


def strange(there: SecuredBroker, how: str) -> tuple[str, KafkaSecurity]:
    """A protocol, and who is not let in by it."""
    strangers = there.strangers
    ways = {
        "a wrong password": ("SASL_SSL", KafkaTls(there.ca), WRONG),
        "no user": ("SASL_PLAINTEXT", None, None),
        "no certificate": ("SSL", KafkaTls(there.ca), None),
        "a stranger's certificate": (
            "SSL", KafkaTls(there.ca, strangers.certificate, strangers.key), None,
        ),
        "a broker that nobody vouches for": ("SASL_SSL", KafkaTls(), PASSWORD),
        "a broker that somebody else vouches for": (
            "SASL_SSL", KafkaTls(strangers.certificate), PASSWORD,
        ),
        "TLS where there is none": ("PLAINTEXT", KafkaTls(there.ca), None),
        "no TLS where there is": ("SSL", None, None),
    }  # fmt: skip
    protocol, tls, password = ways[how]
    sasl = None if password is None else KafkaSasl("SCRAM-SHA-512", USER, password)
    return protocol, KafkaSecurity(tls, sasl)


@needs_kafka
@pytest.mark.parametrize(
    "how",
    [
        "a wrong password", "no user", "no certificate", "a stranger's certificate",
        "a broker that nobody vouches for", "a broker that somebody else vouches for",
        "TLS where there is none", "no TLS where there is",
    ],
)  # fmt: skip
async def test_who_is_not_let_in_hears_it_and_leaves_nothing_behind(
    guarded: SecuredBroker, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    protocol, security = strange(guarded, how)
    access = KafkaAccess(guarded.addresses[protocol], security, patience=1.5)
    before = set(threading.enumerate())
    stream = KafkaStream(access)
    with pytest.raises(StreamUnavailable, match=access.servers) as refused:
        await stream.publish(Message("plan-jobs", "a", b""))
    with pytest.raises(StreamUnavailable, match=access.servers):
        await KafkaLog(access).ends("plan-jobs")
    with pytest.raises(StreamUnavailable, match=access.servers):
        apply_topics(access)
    member = stream.consumer("plan-jobs", "judge")
    with pytest.raises(StreamUnavailable, match=access.servers):
        await member.receive()
    await member.leave()
    await stream.close()
    left = {thread.name for thread in set(threading.enumerate()) - before}
    assert not {name for name in left if name.startswith("kafka")}
    assert f"by {security.options()['security_protocol']}" in str(refused.value)
    assert WRONG not in caplog.text + str(refused.value) + repr(access)


@needs_kafka
def test_the_command_line_gives_its_user_and_the_ca(guarded: SecuredBroker, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"{PASSWORD}\n", "utf-8")
    given = {
        "CALIPER_KAFKA_SECURITY": "SASL_SSL",
        "CALIPER_KAFKA_CA": str(guarded.ca),
        "CALIPER_KAFKA_USER": USER,
        "CALIPER_KAFKA_PASSWORD_FILE": str(secret),
    }
    there = ("--kafka", guarded.addresses["SASL_SSL"])
    caliper = Command(tmp_path, given)
    made = caliper("topics", "apply", *there, "--partitions", 1, "--json", code=0).told["changes"]
    assert len(made) == len(TOPICS)
    assert caliper("dead-letters", "list", *there, code=0).out == "No dead letters.\n"
    secret.write_text(WRONG, "utf-8")
    for command in (("topics", "apply"), ("dead-letters", "list")):
        refused = caliper(*command, *there, code=4)
        assert f"by SASL_SSL as {USER}" in refused.err
        assert WRONG not in refused.out + refused.err


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    text = tmp_path / "text.pem"
    text.write_text("no certificate", "utf-8")
    for file in (text, tmp_path / "none.pem"):
        with pytest.raises(InvalidInput, match=rf"{file.name}: cannot be used"):
            KafkaTls(ca=file).context()
        with pytest.raises(InvalidInput, match=rf"{file.name}: cannot be used"):
            KafkaTls(certificate=file, key=file).context()


async def test_a_file_that_is_taken_away_is_trouble_and_no_bad_message(tmp_path: Path) -> None:
    security = KafkaSecurity(KafkaTls(tmp_path / "gone.pem"))
    stream = KafkaStream(KafkaAccess("127.0.0.1:1", security))
    with pytest.raises(StreamUnavailable, match=r"gone\.pem"):
        await stream.publish(Message("plan-jobs", "a", b""))
    await stream.close()
