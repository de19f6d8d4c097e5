"""The three brokers of the manifests, each on an address of its own, and one of them lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest
from tests.deploy.bootstrap_secrets import make_secrets
from tests.deploy.brokers import access, prepared, settings
from tests.servers.process import ServerProcess, free_ports

from caliper.adapters.cluster.certificates import Authority
from caliper.adapters.streams.kafka import KafkaMember, KafkaStream
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.adapters.streams.kafka_topics import TOPICS, apply_topics
from caliper.core.envelopes import Message, Record
from caliper.core.errors import StreamUnavailable

pytestmark = pytest.mark.components("Kafka")

# Never measured: it only ends a test that would wait for ever.
PATIENCE = 90
NAMES = "127.0.%d.1"
NUMBERS = range(int(settings()["BROKERS"]))


@dataclass(frozen=True)
class Cluster:
    brokers: Sequence[ServerProcess]
    secrets: Path
    servers: str

    def access(self) -> KafkaAccess:
        return access(self.servers, self.secrets)


def certify(secrets: Path) -> None:
    """A certificate of the installation's authority for the addresses that stand for the names
    of pods, which nobody resolves here.
    """
    made, kafka = secrets / "caliper-ca", secrets / "caliper-tls-kafka"
    authority = Authority.read(*((made / name).read_bytes() for name in ("ca.crt", "ca.key")))
    names = [NAMES % number for number in NUMBERS]
    signed = authority.certify(names, datetime.now(UTC), timedelta(days=1))
    (kafka / "keystore.pem").write_bytes(signed.key + signed.chain)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("brokers")
    secrets = make_secrets(folder / "secrets")
    certify(secrets)
    clients, controllers, peers = free_ports(3)
    brokers = [
        prepared(
            folder / f"kafka-{number}",
            secrets,
            (clients, controllers, peers),
            {"POD": f"kafka-{number}", "NAMES": NAMES, "BIND": NAMES % number},
        )
        for number in NUMBERS
    ]
    try:
        # All at once: one alone is no majority, and never ready.
        with ThreadPoolExecutor(len(brokers)) as threads:
            list(threads.map(ServerProcess.start, brokers))
        yield Cluster(brokers, secrets, ",".join(f"{NAMES % each}:{clients}" for each in NUMBERS))
    finally:
        for broker in brokers:
            broker.kill()


def copies(access: KafkaAccess) -> dict[str, set[tuple[int, int]]]:
    """How many brokers have each partition of a topic, and how many of them all of it."""
    admin = access.admin()
    try:
        described = admin.describe_topics([topic.name for topic in TOPICS])
    finally:
        admin.close()
    return {
        topic["name"]: {
            (len(each["replica_nodes"]), len(each["isr_nodes"])) for each in topic["partitions"]
        }
        for topic in described
    }


def settled(access: KafkaAccess, group: str) -> int:
    """Of how many jobs the brokers keep that the group has done them."""
    admin = access.admin()
    try:
        return sum(each.offset for each in admin.list_group_offsets(group)[group].values())
    finally:
        admin.close()


async def publish(stream: KafkaStream, topic: str, keys: Sequence[str]) -> None:
    """Until all copies that there have to be have each: another broker has to take over first."""
    for key in keys:
        while True:
            try:
                await stream.publish(Message(topic, key, key.encode()))
                break
            except StreamUnavailable:
                continue


async def read(records: AsyncGenerator[Record], keys: Sequence[str]) -> None:
    """Until every one of them came: one may come twice."""
    missing = set(keys)
    while missing:
        missing.discard((await anext(records)).message.key)


async def work(worker: KafkaMember, keys: Sequence[str]) -> None:
    """Take every one of the jobs: one may come twice."""
    missing = set(keys)
    while missing:
        job = await worker.receive()
        assert job is not None
        missing.discard(job.message.key)
        await worker.acknowledge(job)


async def test_work_goes_on_without_a_broker_and_ends_without_two(cluster: Cluster) -> None:
    # Of three partitions, each broker leads one; three copies of each are the brokers' own wish.
    patient = replace(cluster.access(), patience=60.0)
    made = await asyncio.to_thread(apply_topics, patient, partitions=3)
    assert len(made) == len(TOPICS)
    assert await asyncio.to_thread(copies, patient) == {topic.name: {(3, 3)} for topic in TOPICS}
    stream, log = KafkaStream(cluster.access()), KafkaLog(cluster.access())
    worker = stream.consumer("judge-jobs", "judge")
    reading = cast("AsyncGenerator[Record]", log.read("verdicts", {}))
    async with asyncio.timeout(PATIENCE), aclosing(reading):
        for number, lost in enumerate((None, cluster.brokers[0])):
            if lost is not None:
                await asyncio.to_thread(lost.kill)
            keys = [f"{number}-{key}" for key in range(24)]
            for topic in ("judge-jobs", "verdicts"):
                await publish(stream, topic, keys)
            await read(reading, keys)
            await work(worker, keys)
        await worker.leave()
    assert await asyncio.to_thread(settled, patient, "judge") >= 2 * 24
    await asyncio.to_thread(cluster.brokers[1].kill)
    with pytest.raises(StreamUnavailable):
        await stream.publish(Message("verdicts", "a", b"one copy is not enough"))
    await stream.close()
