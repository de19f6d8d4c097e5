"""Users of a real broker with an authorizer: each does what its service does, and nothing else."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import pytest
from tests.fakes.certificates import certify
from tests.fakes.clock import PATIENCE
from tests.servers import fetch, guarded_broker
from tests.servers.absence import leave_out
from tests.servers.guarded_broker import PASSWORD, USER

from caliper.adapters.cluster.grants import STREAM_GRANTS, StreamGrant
from caliper.adapters.streams.kafka import KafkaStream
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.adapters.streams.kafka_security import KafkaSasl, KafkaSecurity
from caliper.adapters.streams.kafka_topics import EVENTS, TOPICS, Topic, apply_topics
from caliper.adapters.streams.kafka_users import (
    StreamUser,
    apply_stream_users,
    remove_stream_users,
)
from caliper.core.envelopes import Message, Record
from caliper.core.errors import InvalidInput, StreamUnavailable
from caliper.pipeline.planning.publisher import VERDICTS

_ANNOUNCED = Topic("checkpoints", 1, {})
needs_kafka = pytest.mark.components("Kafka")


@dataclass(frozen=True)
class AdministeredBroker:
    """A broker as its administrator reaches it, and its users."""

    admin: KafkaAccess
    users: dict[str, StreamUser]

    def access(self, user: str) -> KafkaAccess:
        return self.by(self.users[user])

    def by(self, user: StreamUser) -> KafkaAccess:
        """A refusal takes its patience; what is granted may take longer on a busy machine."""
        sasl = KafkaSasl("SCRAM-SHA-512", user.name, user.password)
        return replace(self.admin, security=KafkaSecurity(None, sasl), patience=3.0)


def made(name: str, grant: StreamGrant) -> StreamUser:
    return StreamUser(name, secrets.token_hex(16), grant.permits())


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdministeredBroker]:
    folder = tmp_path_factory.mktemp("authorized")
    ca = certify(folder / "tls", "ca")
    pair = certify(folder / "tls", "broker", ca)
    try:
        server, addresses = guarded_broker.start(
            folder, pair.certificate, pair.key, ca.certificate, more=guarded_broker.AUTHORIZED
        )
    except fetch.Missing as reason:
        leave_out("Kafka", reason)
    security = KafkaSecurity(None, KafkaSasl("SCRAM-SHA-512", USER, PASSWORD))
    admin = KafkaAccess(addresses["SASL_PLAINTEXT"], security, prefix="team-a.")
    apply_topics(admin, (*TOPICS, _ANNOUNCED), partitions=1)
    users = {name: made(name, grant) for name, grant in STREAM_GRANTS.items()}
    lines = apply_stream_users(admin, list(users.values()))
    assert len(lines) == len(users) + sum(len(each.permits) for each in users.values())
    yield AdministeredBroker(admin, users)
    server.stop()


async def first(log: KafkaLog, topic: str) -> Record:
    async with aclosing(cast("AsyncGenerator[Record]", log.read(topic, {}))) as records:
        return await anext(records)


async def act(access: KafkaAccess, grant: StreamGrant) -> None:
    """Do everything that is granted."""
    stream, log = KafkaStream(access), KafkaLog(access)
    for topic in grant.takes:
        member = stream.consumer(topic, topic)
        delivery = await member.receive()
        assert delivery is not None
        await member.acknowledge(delivery)
        await member.leave()
    for topic in grant.reads:
        await log.ends(topic)
        await first(log, topic)
    for topic in grant.measures:
        await stream.untaken(topic, topic)
        if topic in (*grant.reads, *grant.takes):
            await stream.backlog(topic, topic)
    if grant.creates:
        (own,) = grant.creates
        for _ in range(2):
            await asyncio.to_thread(apply_topics, access, (replace(EVENTS, name=own),))
    for topic in grant.publishes:
        await stream.publish(Message(topic, "run/a/1", b"a message"))
    await stream.close()


@needs_kafka
async def test_each_does_what_its_service_does(guarded: AdministeredBroker) -> None:
    stream = KafkaStream(guarded.admin)
    for topic in (*TOPICS, _ANNOUNCED):
        await stream.publish(Message(topic.name, "run/a/1", b"a message"))
    async with asyncio.timeout(PATIENCE):
        # The broker has no coordinator of groups until somebody joins one.
        member = stream.consumer("runs", "first")
        await member.receive()
        await member.leave()
        await stream.close()
        await asyncio.gather(
            *(act(patient(guarded.access(name)), grant) for name, grant in STREAM_GRANTS.items())
        )


def patient(access: KafkaAccess) -> KafkaAccess:
    return replace(access, patience=30.0)


async def publish(access: KafkaAccess, topic: str) -> None:
    stream = KafkaStream(access)
    try:
        await stream.publish(Message(topic, "run/a/1", b"of my own"))
    finally:
        await stream.close()


async def take(access: KafkaAccess, topic: str) -> None:
    stream = KafkaStream(access)
    member = stream.consumer(topic, topic)
    try:
        await member.receive()
    finally:
        await member.leave()
        await stream.close()


@needs_kafka
async def test_a_second_generation_works_beside_the_first_which_then_ends(
    guarded: AdministeredBroker,
) -> None:
    first, second = (made(f"rotated-{n}", STREAM_GRANTS["judge"]) for n in (1, 2))
    for user in (first, second):
        assert await asyncio.to_thread(apply_stream_users, guarded.admin, [user])
    for user in (first, second):
        await publish(patient(guarded.by(user)), VERDICTS)
    stream = KafkaStream(guarded.by(first))
    await stream.publish(Message(VERDICTS, "run/a/1", b"connected"))
    remove = partial(asyncio.to_thread, remove_stream_users, guarded.admin)
    assert await remove(["rotated-1", "nobody"]) == ["removed user rotated-1"]
    # Connections that are open end as well.
    with pytest.raises(StreamUnavailable):
        await stream.publish(Message(VERDICTS, "run/a/1", b"connected"))
    await stream.close()
    with pytest.raises(StreamUnavailable):
        await publish(guarded.by(first), VERDICTS)
    await publish(patient(guarded.by(second)), VERDICTS)
    assert await remove(["rotated-1"]) == []


async def read(access: KafkaAccess, topic: str) -> None:
    await first(KafkaLog(access), topic)


async def create(access: KafkaAccess, topic: str) -> None:
    await asyncio.to_thread(apply_topics, access, (Topic(topic, 1, {}),))


@needs_kafka
@pytest.mark.parametrize(
    ("user", "act", "topic"),
    [
        ("judge", publish, "plan-jobs"),
        ("judge", publish, "judge-jobs"),
        ("judge", take, "qa-jobs"),
        ("judge", read, "verdicts"),
        ("judge", create, "others"),
        ("suites", publish, "runs"),
        ("suites", create, "others"),
        ("scaler", read, "judge-jobs"),
        ("captioner", publish, "plan-jobs"),
        ("aggregator", read, "dead-letters"),
    ],
)
async def test_nobody_does_what_others_do(
    guarded: AdministeredBroker,
    user: str,
    act: Callable[[KafkaAccess, str], Coroutine[Any, Any, None]],
    topic: str,
) -> None:
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(StreamUnavailable):
            await act(guarded.access(user), topic)


@needs_kafka
def test_what_is_right_stays_and_what_differs_is_corrected(guarded: AdministeredBroker) -> None:
    everybody = list(guarded.users.values())
    assert apply_stream_users(guarded.admin, everybody) == []
    one = made("one", StreamGrant(publishes=("runs",)))
    apply_stream_users(guarded.admin, [one])
    other = made("one", StreamGrant(publishes=("verdicts",), reads=("runs",)))
    assert apply_stream_users(guarded.admin, [other]) == [
        "set the password of user one",
        "one: may READ topic team-a.runs",
        "one: may WRITE topic team-a.verdicts",
        "one: may no longer WRITE topic team-a.runs",
    ]
    with pytest.raises(StreamUnavailable, match="as one"):
        apply_topics(guarded.by(one))


@needs_kafka
def test_who_is_no_administrator_is_told_so(guarded: AdministeredBroker) -> None:
    with pytest.raises(StreamUnavailable, match="the users could not be applied"):
        apply_stream_users(guarded.access("judge"), list(guarded.users.values()))


@pytest.mark.parametrize(
    "security", [KafkaSecurity(), KafkaSecurity(None, KafkaSasl("PLAIN", "us", "secret"))]
)
def test_users_are_those_of_scram(security: KafkaSecurity) -> None:
    with pytest.raises(InvalidInput, match="SCRAM"):
        apply_stream_users(KafkaAccess("127.0.0.1:1", security), [])
