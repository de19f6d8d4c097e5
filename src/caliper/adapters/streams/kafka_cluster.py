"""A read-only description of a cluster: brokers and the installation's topics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka.errors import KafkaError

from caliper.adapters.streams.kafka_access import KafkaAccess, unavailable
from caliper.adapters.streams.kafka_topics import TOPICS


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster. `partitions` counts those of each existing topic; `missing` names the others."""

    brokers: int
    partitions: Mapping[str, int]
    missing: tuple[str, ...]


def describe(access: KafkaAccess) -> Cluster:
    """Describe the cluster. Blocks. Raises StreamUnavailable."""
    names = [access.full_name(topic.name) for topic in TOPICS]
    try:
        admin = access.admin()
        try:
            brokers = len(admin.describe_cluster()["brokers"])
            topic_names = set(admin.list_topics())
            existing = [name for name in names if name in topic_names]
            descriptions = admin.describe_topics(existing) if existing else []
        finally:
            admin.close()
    except KafkaError as error:
        raise unavailable("the cluster could not be described", error) from error
    partitions = {each["name"]: len(each["partitions"]) for each in descriptions}
    return Cluster(brokers, partitions, tuple(name for name in names if name not in topic_names))
