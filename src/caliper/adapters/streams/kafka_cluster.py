"""What a cluster has of what an installation needs; nothing is changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka.errors import KafkaError

from caliper.adapters.streams.kafka_access import KafkaAccess, unavailable
from caliper.adapters.streams.kafka_topics import TOPICS


@dataclass(frozen=True, slots=True)
class Cluster:
    """`partitions`: how many each of our topics has; `missing`: those that are not there."""

    brokers: int
    partitions: Mapping[str, int]
    missing: tuple[str, ...]


def describe(access: KafkaAccess) -> Cluster:
    """What is there. Blocks. Raises StreamUnavailable."""
    names = [topic.name for topic in TOPICS]
    try:
        admin = access.admin()
        try:
            brokers = len(admin.describe_cluster()["brokers"])
            known = set(admin.list_topics())
            there = [name for name in names if name in known]
            described = admin.describe_topics(there) if there else []
        finally:
            admin.close()
    except KafkaError as error:
        raise unavailable("the cluster could not be described", error) from error
    partitions = {each["name"]: len(each["partitions"]) for each in described}
    return Cluster(brokers, partitions, tuple(name for name in names if name not in known))
