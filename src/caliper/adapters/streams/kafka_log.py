"""Kafka topics read as logs, without a consumer group."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any, TypeVar

from kafka import TopicPartition
from kafka.errors import KafkaError

from caliper.adapters.streams.kafka_access import KafkaAccess, unavailable
from caliper.adapters.streams.kafka_messages import message_of
from caliper.core.envelopes import Record
from caliper.core.errors import StreamUnavailable

# Seconds between probes while there is nothing to read.
_PROBE = 2.0
_POLL_MS = 500
# A poll costs the same whatever it brings. So one that brought few records is followed by a rest.
_FEW, _REST = 64, 0.2
# Questions about logs that run at once. The others wait: each takes long while Kafka hangs.
_QUESTIONS = 2
_Result = TypeVar("_Result")


class KafkaLog:
    """ports.stream.LogReader on a Kafka cluster. Topics must exist: see kafka_topics."""

    def __init__(self, access: KafkaAccess) -> None:
        self._access = access
        # Not the threads of the event loop, which whatever else the process does would wait for.
        self._asking = ThreadPoolExecutor(_QUESTIONS, thread_name_prefix="log-ends")

    async def read(self, topic: str, offsets: Mapping[int, int]) -> AsyncGenerator[Record, None]:
        """Partitions that are added meanwhile are read from their start. Raises StreamUnavailable
        also if the cluster is unreachable while there is nothing to read, and if the topic was
        recreated: the reader must then start again.
        """
        topic = self._access.full_name(topic)
        # A dedicated thread: the client blocks, and must be used by one thread only.
        thread = ThreadPoolExecutor(1, thread_name_prefix=f"log-{topic}")
        try:
            client = await self._opened(topic, offsets, thread)
            try:
                log, heard_at = _identity(client, topic), time.monotonic()
                while True:
                    polled = await _call(topic, lambda: _poll(client, topic, offsets), thread)
                    if _identity(client, topic) != log:
                        # Offsets of the old topic may be valid in the new one, too.
                        raise StreamUnavailable(f"Kafka: topic {topic} was recreated")
                    for records in polled.values():
                        for record in records:
                            yield _record(record, self._access.prefix)
                    if 0 < sum(map(len, polled.values())) < _FEW:
                        await asyncio.sleep(_REST)
                    if not polled and time.monotonic() < heard_at + _PROBE:
                        continue
                    if not polled:
                        await _call(topic, lambda: self._probe(client), thread)
                    heard_at = time.monotonic()
            finally:
                close = asyncio.get_running_loop().run_in_executor(thread, client.close)
                await asyncio.shield(close)
        finally:
            thread.shutdown(wait=False)

    async def identity(self, topic: str) -> str:
        """As Kafka assigned it; empty if the broker supports none."""
        topic = self._access.full_name(topic)
        return await _call(topic, lambda: self._identity(topic), self._asking)

    async def ends(self, topic: str) -> Mapping[int, int]:
        topic = self._access.full_name(topic)
        return await _call(topic, lambda: self._ends(topic), self._asking)

    async def _opened(
        self, topic: str, offsets: Mapping[int, int], thread: ThreadPoolExecutor
    ) -> Any:
        """A client that reads from the offsets on. Cancelling leaves none open."""
        opening = thread.submit(self._open, topic, offsets)
        try:
            return await _call(topic, opening.result, thread)
        except asyncio.CancelledError:
            # Opening goes on in the thread, and the caller need not wait for its end.
            thread.submit(lambda: opening.result().close())
            raise

    def _open(self, topic: str, offsets: Mapping[int, int]) -> Any:
        client = self._access.reader()
        try:
            _assign(client, _partitions(client, topic), offsets)
        except BaseException:
            client.close()
            raise
        return client

    def _probe(self, client: Any) -> None:
        """Query the cluster: a poll does not report an unreachable broker."""
        client.end_offsets(client.assignment(), int(self._access.patience * 500))

    def _identity(self, topic: str) -> str:
        with closing(self._access.reader()) as client:
            _partitions(client, topic)
            return _identity(client, topic)

    def _ends(self, topic: str) -> dict[int, int]:
        with closing(self._access.reader()) as client:
            places = _partitions(client, topic)
            firsts, lasts = client.beginning_offsets(places), client.end_offsets(places)
            nonempty = (place for place in places if lasts[place] > firsts[place])
            return {place.partition: lasts[place] for place in nonempty}


def _partitions(client: Any, topic: str) -> list[Any]:
    partitions = client.partitions_for_topic(topic)
    if not partitions:
        raise StreamUnavailable(f"Kafka: there is no topic {topic}")
    return [TopicPartition(topic, partition) for partition in sorted(partitions)]


def _identity(client: Any, topic: str) -> str:
    """The id of the topic in the client's metadata."""
    # Only an administration client has a public method, which would query the broker each time.
    return str(client._cluster.topic_id(topic) or "")  # noqa: SLF001


def _assign(client: Any, places: Sequence[Any], offsets: Mapping[int, int]) -> None:
    """Add these partitions, from the offsets on, and keep the positions of the others."""
    assigned = client.assignment()
    client.assign([*assigned, *places])
    firsts = client.beginning_offsets(places)
    for place in places:
        client.seek(place, max(firsts[place], offsets.get(place.partition, 0)))


def _poll(client: Any, topic: str, offsets: Mapping[int, int]) -> Mapping[Any, Any]:
    """New records, including those of partitions that were added to the topic."""
    # From the client's metadata, without a request: it refreshes by itself.
    added = set(_partitions(client, topic)) - client.assignment()
    if added:
        _assign(client, sorted(added), offsets)
    polled: Mapping[Any, Any] = client.poll(timeout_ms=_POLL_MS)
    return polled


async def _call(topic: str, work: Callable[[], _Result], thread: ThreadPoolExecutor) -> _Result:
    try:
        return await asyncio.get_running_loop().run_in_executor(thread, work)
    except KafkaError as error:
        raise unavailable(f"topic {topic} cannot be read", error) from error


def _record(record: Any, prefix: str) -> Record:
    return Record(record.partition, record.offset, record.timestamp, message_of(record, prefix))
