"""Topics of Kafka read as logs, by somebody who is in no group."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from kafka import TopicPartition
from kafka.errors import KafkaError

from caliper.adapters.streams.kafka_access import KafkaAccess, unavailable
from caliper.adapters.streams.kafka_messages import message_of
from caliper.core.envelopes import Record
from caliper.core.errors import StreamUnavailable

# Seconds between signs of life, while there is nothing to read.
_PROBE = 2.0
_POLL_MS = 500
_Result = TypeVar("_Result")


class KafkaLog:
    """ports.stream.LogReader on a Kafka cluster. Topics must be there: see kafka_topics."""

    def __init__(self, access: KafkaAccess) -> None:
        self._access = access

    async def read(self, topic: str, offsets: Mapping[int, int]) -> AsyncIterator[Record]:
        """Every record from the offsets on, and then what comes, without an end; partitions that
        are added meanwhile are read from their start.

        Raises StreamUnavailable, also where nothing is read and the cluster is away, and where
        the topic was made anew: whoever reads on begins anew.
        """
        # Its own: the client blocks, and only ever one thread may use it.
        thread = ThreadPoolExecutor(1, thread_name_prefix=f"log-{topic}")
        try:
            client = await _call(topic, lambda: self._opened(topic, offsets), thread)
            try:
                log, heard_at = _identity(client, topic), time.monotonic()
                while True:
                    polled = await _call(topic, lambda: _poll(client, topic, offsets), thread)
                    if _identity(client, topic) != log:
                        # A place in the one before may lie within this one, too.
                        raise StreamUnavailable(f"Kafka: topic {topic} was made anew")
                    for records in polled.values():
                        for record in records:
                            yield _record(record)
                    if not polled and time.monotonic() < heard_at + _PROBE:
                        continue
                    if not polled:
                        await _call(topic, lambda: self._probe(client), thread)
                    heard_at = time.monotonic()
            finally:
                closing = asyncio.get_running_loop().run_in_executor(thread, client.close)
                await asyncio.shield(closing)
        finally:
            thread.shutdown(wait=False)

    async def identity(self, topic: str) -> str:
        """The topic's id, which Kafka draws when it makes one; empty of brokers that draw none.

        Raises StreamUnavailable.
        """
        return await _call(topic, lambda: self._identity(topic))

    async def ends(self, topic: str) -> Mapping[int, int]:
        """The offset after the last record of every partition that keeps any.

        Raises StreamUnavailable.
        """
        return await _call(topic, lambda: self._ends(topic))

    def _opened(self, topic: str, offsets: Mapping[int, int]) -> Any:
        client = self._access.reader()
        try:
            _assign(client, _partitions(client, topic), offsets)
        except BaseException:
            client.close()
            raise
        return client

    def _probe(self, client: Any) -> None:
        """Ask something: a poll tells of no broker that is away."""
        client.end_offsets(client.assignment(), int(self._access.patience * 500))

    def _identity(self, topic: str) -> str:
        client = self._access.reader()
        try:
            _partitions(client, topic)
            return _identity(client, topic)
        finally:
            client.close()

    def _ends(self, topic: str) -> dict[int, int]:
        client = self._access.reader()
        try:
            places = _partitions(client, topic)
            firsts, lasts = client.beginning_offsets(places), client.end_offsets(places)
            kept = (place for place in places if lasts[place] > firsts[place])
            return {place.partition: lasts[place] for place in kept}
        finally:
            client.close()


def _partitions(client: Any, topic: str) -> list[Any]:
    partitions = client.partitions_for_topic(topic)
    if not partitions:
        raise StreamUnavailable(f"Kafka: there is no topic {topic}")
    return [TopicPartition(topic, partition) for partition in sorted(partitions)]


def _identity(client: Any, topic: str) -> str:
    """The id of the topic as the client heard it last."""
    # Described by an administration client alone, which would ask the broker each time.
    return str(client._cluster.topic_id(topic) or "")  # noqa: SLF001


def _assign(client: Any, places: Sequence[Any], offsets: Mapping[int, int]) -> None:
    """Read these partitions too, from the offsets on; where the others stand stays as it is."""
    held = client.assignment()
    client.assign([*held, *places])
    firsts = client.beginning_offsets(places)
    for place in places:
        client.seek(place, max(firsts[place], offsets.get(place.partition, 0)))


def _poll(client: Any, topic: str, offsets: Mapping[int, int]) -> Mapping[Any, Any]:
    """What came, from partitions too that were added to the topic in the meantime."""
    # What the client knows of the topic, which costs no request: it asks anew by itself.
    added = set(_partitions(client, topic)) - client.assignment()
    if added:
        _assign(client, sorted(added), offsets)
    polled: Mapping[Any, Any] = client.poll(timeout_ms=_POLL_MS)
    return polled


async def _call(
    topic: str, work: Callable[[], _Result], thread: ThreadPoolExecutor | None = None
) -> _Result:
    try:
        return await asyncio.get_running_loop().run_in_executor(thread, work)
    except KafkaError as error:
        raise unavailable(f"topic {topic} cannot be read", error) from error


def _record(record: Any) -> Record:
    return Record(record.partition, record.offset, record.timestamp, message_of(record))
