"""The job stream on Kafka (kafka-python 3, which blocks and therefore runs in threads)."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Mapping
from typing import Any

from kafka.errors import KafkaError, MessageSizeTooLargeError, RecordListTooLargeError

from caliper.adapters.streams.delivery_window import DeliveryWindow
from caliper.adapters.streams.kafka_access import LARGEST_MESSAGE, KafkaAccess, unavailable
from caliper.adapters.streams.kafka_backlog import BacklogCounter, read_backlog
from caliper.adapters.streams.kafka_messages import encode_headers, encode_text
from caliper.adapters.streams.kafka_poller import KafkaPoller
from caliper.core.dead_letters import letter
from caliper.core.envelopes import Delivery, Message, bytes_of
from caliper.core.errors import InvalidInput, StreamUnavailable
from caliper.ports.stream import Backlog

_LOG = logging.getLogger(__name__)
_PREFETCH = 64
"""Fetching pauses while so many messages wait in a consumer."""


class KafkaStream:
    """ports.stream.JobStream on a Kafka cluster, for one event loop.

    A message counts as published once all in-sync replicas have it, and the broker drops a
    producer's duplicates. Topics must exist: see kafka_topics.
    """

    def __init__(self, access: KafkaAccess) -> None:
        self._access = access
        self._producer: Any = None
        self._making: asyncio.Future[Any] | None = None
        self._open_lock = asyncio.Lock()
        self._close_tasks: set[asyncio.Task[None]] = set()
        self._known_topics: set[str] = set()
        self._untaken = BacklogCounter(access)

    async def publish(self, message: Message) -> None:
        """Append a message.

        Raises StreamUnavailable if the cluster does not confirm it in time (it may have the
        message nevertheless), InvalidInput for a message over 8 MiB.
        """
        value, topic = bytes_of(message), self._access.full_name(message.topic)
        producer = await self._open(topic)
        try:
            future = producer.send(
                topic,
                key=encode_text(message.key),
                value=value,
                headers=encode_headers(message.headers),
            )
            async with asyncio.timeout(2 * self._access.patience):
                await _confirmation(future)
        except (MessageSizeTooLargeError, RecordListTooLargeError) as error:
            size = len(value)
            raise InvalidInput(
                f"a message of {size:,} bytes for topic {topic}; the limit with key and headers is "
                f"{LARGEST_MESSAGE:,}"
            ) from error
        except (KafkaError, TimeoutError) as error:
            self._replace(producer)
            raise unavailable(f"nothing could be published to {topic}", error) from error

    async def _open(self, topic: str) -> Any:
        """Connect once, and check once that the topic exists: `send` then never blocks."""
        if topic in self._known_topics:
            return self._producer
        async with self._open_lock:
            try:
                producer = self._producer or await self._made()
                await asyncio.to_thread(producer.partitions_for, topic)
            except KafkaError as error:
                raise unavailable(f"no answer about topic {topic}", error) from error
            if producer is not self._producer:
                raise StreamUnavailable("Kafka: the producer was replaced meanwhile")
            self._known_topics.add(topic)
            return producer

    async def _made(self) -> Any:
        """A new producer. If its caller is cancelled, the next one gets it: a producer that nobody
        closes keeps its thread and its sockets.
        """
        making = self._making
        if making is None:
            making = asyncio.get_running_loop().run_in_executor(None, self._access.producer)
            making.add_done_callback(self._keep)
            self._making = making
        # Waiting, unlike awaiting, does not cancel what it waits for.
        await asyncio.wait([making])
        return making.result()

    def _keep(self, making: asyncio.Future[Any]) -> None:
        self._making = None
        if making.exception() is None:
            self._producer = making.result()

    def _replace(self, producer: Any) -> None:
        """Publish with a new producer from now on.

        After a producer of kafka-python 3.0.12 gave up a message because its broker was down, it
        may never settle any message again, neither pending nor new ones.
        """
        if producer is self._producer:
            self._producer = None
            self._known_topics.clear()
            task = asyncio.create_task(asyncio.to_thread(_close, producer, 0.0))
            self._close_tasks.add(task)
            task.add_done_callback(self._close_tasks.discard)

    def consumer(self, topic: str, group: str) -> KafkaMember:
        """A new member of the group; it joins in the background."""
        return KafkaMember(self, self._access, topic, group)

    async def backlog(self, topic: str, group: str) -> Backlog:
        try:
            return await asyncio.to_thread(read_backlog, self._access, topic, group)
        except KafkaError as error:
            raise unavailable(f"no answer about topic {topic}", error) from error

    async def untaken(self, topic: str, group: str) -> Mapping[int, int]:
        try:
            return await asyncio.to_thread(self._untaken.count, topic, group)
        except KafkaError as error:
            raise unavailable(f"no answer about topic {topic}", error) from error

    async def close(self) -> None:
        """Close the clients. Consumers leave by themselves."""
        await asyncio.to_thread(self._untaken.close)
        if self._making is not None:
            await asyncio.wait([self._making])
        if self._producer is not None:
            producer, self._producer = self._producer, None
            self._known_topics.clear()
            await asyncio.to_thread(_close, producer, self._access.patience)
        await asyncio.gather(*self._close_tasks)


class KafkaMember:
    """ports.stream.Consumer: a member of a consumer group of Kafka.

    Settling a delivery that it no longer holds (it left, or the partition moved to another
    member) has no effect.
    """

    def __init__(self, stream: KafkaStream, access: KafkaAccess, topic: str, group: str) -> None:
        self._stream, self._patience = stream, access.patience
        # A random name, which marks the commits of this process.
        self._window = DeliveryWindow(uuid.uuid4().hex[:8], _PREFETCH, access.session)
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._draining = False
        self._poller = KafkaPoller(access, topic, group, self._window, self._announce)
        self._poller.start()

    @property
    def trouble(self) -> Exception | None:
        """Also that it has not joined its group yet."""
        return self._poller.trouble or self._poller.absence

    @property
    def lag(self) -> Mapping[int, int]:
        """As of the last commit."""
        return self._poller.lag

    @property
    def rebalances(self) -> int:
        return self._poller.rebalances

    async def receive(self) -> Delivery | None:
        """Raises StreamUnavailable if the cluster has not answered for `patience` seconds of this
        call; the background thread keeps trying.
        """
        start = self._loop.time()
        while not self._draining:
            changed = self._changed
            if (delivery := self._window.take()) is not None:
                if self._window.may_reserve:
                    self._poller.wake()
                return delivery
            if (trouble := self._poller.trouble) is None:
                await changed.wait()
                start = self._loop.time()
                continue
            seconds = start + self._patience - self._loop.time()
            try:
                async with asyncio.timeout(seconds):
                    await changed.wait()
            except TimeoutError:
                raise trouble from None
        return None

    async def acknowledge(self, delivery: Delivery) -> None:
        """The commit follows within half a second, or with `leave`; after a crash before that, the
        message is delivered again.
        """
        self._window.settle(delivery)
        self._poller.wake()

    async def retry(self, delivery: Delivery) -> None:
        self._window.retry(delivery)
        self._poller.wake()

    async def dead_letter(self, delivery: Delivery, error: str) -> None:
        """If it raises StreamUnavailable, the delivery is still held. A crash between the two steps
        leaves the message in both topics, never in neither.
        """
        if self._window.owns(delivery):
            await self._stream.publish(letter(delivery, error))
            await self.acknowledge(delivery)

    def drain(self) -> None:
        """The commit follows within half a second: a process that is killed because it drains for
        too long does not accuse its last job.
        """
        self._draining = True
        self._window.drain()
        self._notify()

    async def leave(self) -> None:
        self.drain()
        self._window.give_up()
        self._poller.stop()
        await asyncio.to_thread(self._poller.join)

    def _announce(self) -> None:
        """Wake the tasks that wait in `receive`. Called by the polling thread."""
        try:
            self._loop.call_soon_threadsafe(self._notify)
        except RuntimeError:
            # The loop was closed without `leave`: no task waits.
            self._poller.stop()

    def _notify(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


def _close(producer: Any, patience: float) -> None:
    """Close a producer, and drop what it cannot send within `patience` seconds. Blocks."""
    try:
        producer.close(patience)
    except KafkaError as error:
        # `close` stops early after a failed flush, and there is no public way to end its thread.
        producer._sender.force_close()  # noqa: SLF001
        _LOG.warning("Kafka: closed a producer with unsent messages: %s", error)


async def _confirmation(future: Any) -> None:
    """Wait for the producer's thread to settle a message's future. Raises its error."""
    loop = asyncio.get_running_loop()
    confirmation: asyncio.Future[None] = loop.create_future()

    def settle(error: BaseException | None) -> None:
        if not confirmation.done():
            if error is None:
                confirmation.set_result(None)
            else:
                confirmation.set_exception(error)

    def settled(result: object) -> None:
        error = result if isinstance(result, BaseException) else None
        # No task waits on a closed loop.
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, error)

    future.add_both(settled)
    await confirmation
