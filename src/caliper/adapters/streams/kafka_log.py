"""Topics of Kafka read as logs, by somebody who is in no group."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, TypeVar

from kafka import TopicPartition
from kafka.errors import KafkaError

from caliper.adapters.streams.kafka_access import KafkaAccess, unavailable
from caliper.core.errors import StreamUnavailable
from caliper.ports.stream import Message, Record

_POLL_MS = 500
_Result = TypeVar("_Result")


class KafkaLog:
    """ports.stream.LogReader on a Kafka cluster. Topics must be there: see kafka_topics."""

    def __init__(self, access: KafkaAccess) -> None:
        self._access = access

    async def read(self, topic: str, offsets: Mapping[int, int]) -> AsyncIterator[Record]:
        """Every record from the offsets on, and then what comes, without an end.

        Raises StreamUnavailable.
        """
        client = await _call(topic, lambda: self._opened(topic, offsets))
        try:
            while True:
                # In a thread: the client blocks, and only ever one thread uses it.
                polled = await _call(topic, lambda: client.poll(timeout_ms=_POLL_MS))
                for records in polled.values():
                    for record in records:
                        yield _record(record)
        finally:
            await asyncio.shield(asyncio.to_thread(client.close))

    async def ends(self, topic: str) -> Mapping[int, int]:
        """The offset after the last record of every partition that keeps any.

        Raises StreamUnavailable.
        """
        return await _call(topic, lambda: self._ends(topic))

    def _opened(self, topic: str, offsets: Mapping[int, int]) -> Any:
        client = self._access.reader()
        try:
            places = _partitions(client, topic)
            client.assign(places)
            firsts = client.beginning_offsets(places)
            for place in places:
                client.seek(place, max(firsts[place], offsets.get(place.partition, 0)))
        except BaseException:
            client.close()
            raise
        return client

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


async def _call(topic: str, work: Callable[[], _Result]) -> _Result:
    try:
        return await asyncio.to_thread(work)
    except KafkaError as error:
        raise unavailable(f"topic {topic} cannot be read", error) from error


def _record(record: Any) -> Record:
    headers = {name: value.decode("utf-8", "replace") for name, value in record.headers}
    key = (record.key or b"").decode("utf-8", "replace")
    message = Message(record.topic, key, record.value or b"", headers)
    return Record(record.partition, record.offset, record.timestamp, message)
