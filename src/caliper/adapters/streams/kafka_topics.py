"""The topics of a Caliper installation, and their creation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import KafkaError

from caliper.adapters.streams.kafka_access import LARGEST_MESSAGE, KafkaAccess, unavailable
from caliper.core.dead_letters import DEAD_LETTERS

_RETENTION = {"cleanup.policy": "delete", "retention.ms": str(14 * 24 * 60 * 60 * 1000)}
_EVERY = {
    "max.message.bytes": str(LARGEST_MESSAGE),
    # Rolling windows go by the broker's clock, never by a worker's.
    "message.timestamp.type": "LogAppendTime",
}


@dataclass(frozen=True, slots=True)
class Topic:
    """`partitions`: as many workers at most share the topic; None: as many as wished for."""

    name: str
    partitions: int | None
    settings: Mapping[str, str]


_KEPT = _EVERY | _RETENTION
TOPICS = (
    Topic("plan-jobs", 1, _KEPT),
    Topic("caption-jobs", None, _KEPT),
    Topic("judge-jobs", None, _KEPT),
    Topic("qa-jobs", None, _KEPT),
    Topic("verdicts", None, _KEPT),
    Topic("runs", 1, _EVERY | {"cleanup.policy": "compact"}),
    Topic(DEAD_LETTERS, 1, _KEPT),
)


def apply_topics(
    access: KafkaAccess,
    topics: tuple[Topic, ...] = TOPICS,
    *,
    partitions: int = 12,
    replication: int = -1,
) -> list[str]:
    """Make the topics what they should be, and say what was done, one line a change: none when
    all was well. Partitions are added where there are fewer, never taken away. `replication`
    is for new topics; -1 leaves it to the broker.

    Blocks. Raises StreamUnavailable.
    """
    try:
        admin = access.admin()
        try:
            return _apply(admin, {topic.name: topic for topic in topics}, partitions, replication)
        finally:
            admin.close()
    except KafkaError as error:
        raise unavailable("the topics could not be applied", error) from error


def _apply(admin: Any, topics: Mapping[str, Topic], partitions: int, replication: int) -> list[str]:
    known = set(admin.list_topics())
    new = {
        name: {
            "num_partitions": topic.partitions or partitions,
            "replication_factor": replication,
            "configs": dict(topic.settings),
        }
        for name, topic in topics.items()
        if name not in known
    }
    if new:
        admin.create_topics(new, wait_for_metadata=True)
    there = {name: topic for name, topic in topics.items() if name in known}
    return [
        *(f"created {name} with {each['num_partitions']} partitions" for name, each in new.items()),
        *_grow(admin, there, partitions),
        *_configure(admin, there),
    ]


def _grow(admin: Any, topics: Mapping[str, Topic], partitions: int) -> list[str]:
    found = {each["name"]: len(each["partitions"]) for each in admin.describe_topics(list(topics))}
    wanted = {name: topic.partitions or partitions for name, topic in topics.items()}
    more = {name: count for name, count in wanted.items() if found[name] < count}
    if more:
        admin.create_partitions(more)
    return [f"{name}: {count} partitions, before {found[name]}" for name, count in more.items()]


def _configure(admin: Any, topics: Mapping[str, Topic]) -> list[str]:
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in topics]
    found = admin.describe_configs(resources, config_filter="all")["topic"] if topics else {}
    lines, changes = [], []
    for name, topic in topics.items():
        now = {setting: found[name].get(setting, {}).get("value") for setting in topic.settings}
        differ = {key: value for key, value in topic.settings.items() if now[key] != value}
        lines += [f"{name}: {key}={value}, before {now[key]}" for key, value in differ.items()]
        if differ:
            changes.append(ConfigResource(ConfigResourceType.TOPIC, name, differ))
    if changes:
        admin.alter_configs(changes)
    return lines
