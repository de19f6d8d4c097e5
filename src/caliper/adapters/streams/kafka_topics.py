"""The topics of a Caliper installation: their creation, and those that a cluster has."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import KafkaError

from caliper.adapters.streams.kafka_access import LARGEST_MESSAGE, KafkaAccess, unavailable
from caliper.core.dead_letters import DEAD_LETTERS

_RETENTION = {
    "cleanup.policy": "delete",
    "retention.ms": str(14 * 24 * 60 * 60 * 1000),
    # Of each partition, which then holds at least half a million jobs.
    "retention.bytes": str(768 * 1024 * 1024),
    # Only whole segments are deleted.
    "segment.bytes": str(64 * 1024 * 1024),
}
_COMMON = {
    "max.message.bytes": str(LARGEST_MESSAGE),
    # Rolling windows use the broker's clock, never a worker's.
    "message.timestamp.type": "LogAppendTime",
}


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic with its settings.

    `partitions` is the maximum number of workers that can share it; None: configurable.
    """

    name: str
    partitions: int | None
    settings: Mapping[str, str]


_WITH_RETENTION = _COMMON | _RETENTION
TOPICS = (
    Topic("plan-jobs", 1, _WITH_RETENTION),
    Topic("caption-jobs", None, _WITH_RETENTION),
    Topic("judge-jobs", None, _WITH_RETENTION),
    Topic("qa-jobs", None, _WITH_RETENTION),
    Topic("verdicts", None, _WITH_RETENTION),
    Topic("runs", 1, _COMMON | {"cleanup.policy": "compact"}),
    Topic(DEAD_LETTERS, 1, _WITH_RETENTION),
)

# Created where suites run: an installation of services needs none.
EVENTS = Topic("suite-events", 1, _WITH_RETENTION)


def apply_topics(
    access: KafkaAccess,
    topics: tuple[Topic, ...] = TOPICS,
    *,
    partitions: int = 12,
    replication: int = -1,
) -> list[str]:
    """Create and update the topics. Returns one line per change.

    Missing partitions are added, surplus ones never removed. `replication` applies to new topics;
    -1 leaves it to the broker. Blocks. Raises StreamUnavailable.
    """
    try:
        named = {access.full_name(topic.name): topic for topic in topics}
        with closing(access.admin()) as admin:
            return _apply(admin, named, partitions, replication)
    except KafkaError as error:
        raise unavailable("the topics could not be applied", error) from error


def _apply(admin: Any, topics: Mapping[str, Topic], partitions: int, replication: int) -> list[str]:
    existing_names = set(admin.list_topics())
    new = {
        name: {
            "num_partitions": topic.partitions or partitions,
            "replication_factor": replication,
            "configs": dict(topic.settings),
        }
        for name, topic in topics.items()
        if name not in existing_names
    }
    if new:
        admin.create_topics(new, wait_for_metadata=True)
    existing = {name: topic for name, topic in topics.items() if name in existing_names}
    return [
        *(f"created {name} with {each['num_partitions']} partitions" for name, each in new.items()),
        *_grow(admin, existing, partitions),
        *_configure(admin, existing),
    ]


def _grow(admin: Any, topics: Mapping[str, Topic], partitions: int) -> list[str]:
    current = {
        each["name"]: len(each["partitions"]) for each in admin.describe_topics(list(topics))
    }
    target = {name: topic.partitions or partitions for name, topic in topics.items()}
    more = {name: count for name, count in target.items() if current[name] < count}
    if more:
        admin.create_partitions(more)
    return [f"{name}: {count} partitions, before {current[name]}" for name, count in more.items()]


def _configure(admin: Any, topics: Mapping[str, Topic]) -> list[str]:
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in topics]
    current = admin.describe_configs(resources, config_filter="all")["topic"] if topics else {}
    lines, changes = [], []
    for name, topic in topics.items():
        values = {
            setting: current[name].get(setting, {}).get("value") for setting in topic.settings
        }
        differ = {key: value for key, value in topic.settings.items() if values[key] != value}
        lines += [f"{name}: {key}={value}, before {values[key]}" for key, value in differ.items()]
        if differ:
            changes.append(ConfigResource(ConfigResourceType.TOPIC, name, differ))
    if changes:
        admin.alter_configs(changes)
    return lines


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
        with closing(access.admin()) as admin:
            brokers = len(admin.describe_cluster()["brokers"])
            topic_names = set(admin.list_topics())
            existing = [name for name in names if name in topic_names]
            descriptions = admin.describe_topics(existing) if existing else []
    except KafkaError as error:
        raise unavailable("the cluster could not be described", error) from error
    partitions = {each["name"]: len(each["partitions"]) for each in descriptions}
    return Cluster(brokers, partitions, tuple(name for name in names if name not in topic_names))
