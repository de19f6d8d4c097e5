"""The backlog of a consumer group, as the broker knows it. Nobody joins the group."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing, suppress
from threading import Lock
from typing import Any

from kafka import TopicPartition
from kafka.admin import OffsetSpec
from kafka.errors import KafkaError, UnknownTopicOrPartitionError

from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.progress import CommitMark, PartitionProgress
from caliper.core.errors import StreamUnavailable
from caliper.ports.stream import Backlog

_LOOK_EVERY = 240
"""Counts after which the partitions of topics are looked up again: some may have been added."""
# A fetch returns at least one message, however long: only its timestamp is needed.
_FETCH = 1


def read_backlog(access: KafkaAccess, topic: str, group: str) -> Backlog:
    """The group's backlog in the topic. Blocks. Raises StreamUnavailable and KafkaError."""
    topic, group = access.full_name(topic), access.full_name(group)
    # Without a subscription, a consumer does not join its group.
    with closing(access.consumer(group, _FETCH)) as client:
        partitions = client.partitions_for_topic(topic)
        if not partitions:
            raise StreamUnavailable(f"Kafka: there is no topic {topic}")
        places = [TopicPartition(topic, partition) for partition in sorted(partitions)]
        timeout = int(access.patience * 1000)
        commits = {
            place: client.committed(place, metadata=True, timeout_ms=timeout) for place in places
        }
        firsts, ends = client.beginning_offsets(places), client.end_offsets(places)
        reached, settled = _settled(commits, firsts)
        times = [
            _published(client, place, reached[place], timeout)
            for place in places
            if reached[place] < ends[place]
        ]
    waiting = sum(max(0, ends[place] - settled[place]) for place in places)
    oldest = min((time for time in times if time is not None), default=None)
    return Backlog(waiting, sum(ends.values()) - waiting, oldest)


def _settled(
    commits: Mapping[Any, Any], firsts: Mapping[Any, int]
) -> tuple[dict[Any, int], dict[Any, int]]:
    """Per partition, the first unsettled offset, and how many messages are settled."""
    reached, settled = {}, {}
    for place, first in firsts.items():
        commit = commits[place]
        offset = first if commit is None else max(first, commit.offset)
        done = 0
        if commit is not None:
            mark = CommitMark(commit.offset, commit.metadata)
            done = sum(each >= offset for each in PartitionProgress.restore(mark, "").done)
        reached[place], settled[place] = offset, offset + done
    return reached, settled


def _published(client: Any, place: Any, offset: int, timeout: int) -> float | None:
    """When the message at the offset was published; None if it was deleted meanwhile."""
    client.assign([place])
    client.seek(place, offset)
    for records in client.poll(timeout_ms=timeout, max_records=1).values():
        return float(records[0].timestamp) / 1000
    return None


class BacklogCounter:
    """Counts the messages that no member of a group has received, often: it keeps its connection.

    For several threads, one at a time.
    """

    def __init__(self, access: KafkaAccess) -> None:
        self._access, self._lock = access, Lock()
        self._admin: Any = None
        self._places: dict[str, list[Any]] = {}
        self._counts = 0

    def count(self, topic: str, group: str) -> Mapping[int, int]:
        """The untaken messages by partition. Blocks. Raises KafkaError."""
        topic, group = self._access.full_name(topic), self._access.full_name(group)
        with self._lock:
            try:
                return self._count(topic, group)
            except KafkaError:
                self._drop()
                raise

    def _count(self, topic: str, group: str) -> Mapping[int, int]:
        if self._admin is None:
            self._admin = self._access.admin()
        self._counts += 1
        if self._counts % _LOOK_EVERY == 0:
            self._places.clear()
        if topic not in self._places:
            partitions = self._admin.describe_topics([topic])[0]["partitions"]
            if not partitions:
                # A broker that has just started may not know it yet.
                raise UnknownTopicOrPartitionError(topic)
            self._places[topic] = [
                TopicPartition(topic, number) for number in range(len(partitions))
            ]
        places = self._places[topic]
        commits = self._admin.list_group_offsets({group: places})[group]
        taken = {
            place: PartitionProgress.restore(CommitMark(one.offset, one.metadata or ""), "")
            for place, one in commits.items()
            if one.offset >= 0
        }
        firsts = self._offsets([place for place in places if place not in taken], "EARLIEST")
        firsts |= {place: progress.taken_before for place, progress in taken.items()}
        ends = self._offsets(places, "LATEST")
        return {place.partition: max(0, ends[place] - firsts[place]) for place in places}

    def _offsets(self, places: list[Any], which: str) -> dict[Any, int]:
        if not places:
            return {}
        specs = dict.fromkeys(places, OffsetSpec[which])
        offsets = self._admin.list_partition_offsets(specs)
        return {place: offsets[place].offset for place in places}

    def close(self) -> None:
        """Close the connection. Blocks."""
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        self._places.clear()
        admin, self._admin = self._admin, None
        if admin is not None:
            with suppress(KafkaError):
                admin.close()
