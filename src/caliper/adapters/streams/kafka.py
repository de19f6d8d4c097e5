"""The job stream on Kafka (kafka-python 3, which blocks: its work is done in threads)."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Mapping
from typing import Any

from kafka.errors import KafkaError, MessageSizeTooLargeError, RecordListTooLargeError

from caliper.adapters.streams.delivery_window import DeliveryWindow
from caliper.adapters.streams.kafka_access import LARGEST_MESSAGE, KafkaAccess, unavailable
from caliper.adapters.streams.kafka_messages import kept_headers, kept_text
from caliper.adapters.streams.kafka_poller import KafkaPoller
from caliper.core.dead_letters import letter
from caliper.core.envelopes import Delivery, Message, bytes_of
from caliper.core.errors import InvalidInput, StreamUnavailable

_LOG = logging.getLogger(__name__)


class KafkaStream:
    """ports.stream.JobStream on a Kafka cluster, for one event loop.

    Nothing is said to be published before every replica in sync has it, and the broker drops
    what a producer sends twice. Topics must be there: see kafka_topics.
    """

    def __init__(self, access: KafkaAccess) -> None:
        self._access = access
        self._producer: Any = None
        self._opening = asyncio.Lock()
        self._closing: set[asyncio.Task[None]] = set()
        self._known: set[str] = set()

    async def publish(self, message: Message) -> None:
        """Append. Raises StreamUnavailable when the cluster did not confirm it in time (it may
        have it nevertheless), InvalidInput for a message over 8 MiB.
        """
        value = bytes_of(message)
        producer = await self._open(message.topic)
        try:
            sent = producer.send(
                message.topic,
                key=kept_text(message.key),
                value=value,
                headers=kept_headers(message.headers),
            )
            async with asyncio.timeout(2 * self._access.patience):
                await _confirmed(sent)
        except (MessageSizeTooLargeError, RecordListTooLargeError) as error:
            size = len(value)
            raise InvalidInput(
                f"a message of {size} bytes for topic {message.topic}, of "
                f"{LARGEST_MESSAGE} at most with key and headers"
            ) from error
        except (KafkaError, TimeoutError) as error:
            self._replace(producer)
            raise unavailable(f"nothing could be published to {message.topic}", error) from error

    async def _open(self, topic: str) -> Any:
        """Connect once, and learn once that the topic is there: `send` then never blocks."""
        if topic in self._known:
            return self._producer
        async with self._opening:
            try:
                if self._producer is None:
                    self._producer = await asyncio.to_thread(self._access.producer)
                producer = self._producer
                await asyncio.to_thread(producer.partitions_for, topic)
            except KafkaError as error:
                raise unavailable(f"no word about topic {topic}", error) from error
            if producer is not self._producer:
                raise StreamUnavailable("Kafka: the producer was given up in the meantime")
            self._known.add(topic)
            return producer

    def _replace(self, producer: Any) -> None:
        """Publish by another producer from now on.

        One of kafka-python 3.0.12 that gave a message up after its broker was away may settle
        nothing any more: neither what it still holds nor what is sent later.
        """
        if producer is self._producer:
            self._producer = None
            self._known.clear()
            closing = asyncio.create_task(asyncio.to_thread(_close, producer, 0.0))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    def consumer(self, topic: str, group: str) -> KafkaMember:
        """A new member of the group; it joins in the background."""
        return KafkaMember(self, self._access, topic, group)

    async def close(self) -> None:
        """Close what publishes. Consumers leave by themselves."""
        if self._producer is not None:
            producer, self._producer = self._producer, None
            self._known.clear()
            await asyncio.to_thread(_close, producer, self._access.patience)
        await asyncio.gather(*self._closing)


class KafkaMember:
    """ports.stream.Consumer: a member of a consumer group of Kafka.

    What it no longer holds (it left, or the partition moved to another member) it cannot
    settle: no effect.
    """

    def __init__(self, stream: KafkaStream, access: KafkaAccess, topic: str, group: str) -> None:
        self._stream, self._patience = stream, access.patience
        # Not a name to remember: it tells the commits of this process's life from others'.
        self._handout = DeliveryWindow(uuid.uuid4().hex[:8], access.prefetch)
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._left = False
        self._polling = KafkaPoller(access, topic, group, self._handout, self._announce)
        self._polling.start()

    @property
    def trouble(self) -> Exception | None:
        """The error of the last call, until the cluster answers again; None when it did."""
        return self._polling.trouble

    @property
    def lag(self) -> Mapping[int, int]:
        """By partition, what is not settled, as of the last commit."""
        return self._polling.lag

    @property
    def rebalances(self) -> int:
        """How often partitions came or went."""
        return self._polling.rebalances

    async def receive(self) -> Delivery | None:
        """The next delivery; None after `leave`.

        Raises StreamUnavailable when the cluster has not answered for `patience` seconds of
        this call; it is tried on in the background all the same.
        """
        begun = self._loop.time()
        while not self._left:
            changed = self._changed
            if (delivery := self._handout.take()) is not None:
                if self._handout.runs_low:
                    self._polling.wake()
                return delivery
            if (trouble := self._polling.trouble) is None:
                await changed.wait()
                begun = self._loop.time()
                continue
            left = begun + self._patience - self._loop.time()
            try:
                async with asyncio.timeout(left):
                    await changed.wait()
            except TimeoutError:
                raise trouble from None
        return None

    async def acknowledge(self, delivery: Delivery) -> None:
        """Done with this one. The commit follows within half a second, or with `leave`; after
        an unclean stop before that, the message comes again.
        """
        self._handout.settle(delivery)
        self._polling.wake()

    async def retry(self, delivery: Delivery) -> None:
        """Deliver it again, with the next attempt number, ahead of later ones of its key."""
        self._handout.retry(delivery)
        self._polling.wake()

    async def dead_letter(self, delivery: Delivery, error: str) -> None:
        """Move it to the topic dead-letters. Raises StreamUnavailable; it is then still held.

        Between the two steps a crash leaves it in both places: it is never in neither.
        """
        if self._handout.holds(delivery):
            await self._stream.publish(letter(delivery, error))
            await self.acknowledge(delivery)

    async def leave(self) -> None:
        """Commit and leave the group; what was received and not acknowledged is delivered to
        others at once.
        """
        self._left = True
        self._polling.stop()
        self._announce_here()
        await asyncio.to_thread(self._polling.join)

    def _announce(self) -> None:
        """Called by the polling thread: wake whoever waits in `receive`."""
        try:
            self._loop.call_soon_threadsafe(self._announce_here)
        except RuntimeError:
            # The loop was closed without `leave`: nobody waits.
            self._polling.stop()

    def _announce_here(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


def _close(producer: Any, patience: float) -> None:
    """Close a producer, and drop what it could not send in so many seconds. Blocks."""
    try:
        producer.close(patience)
    except KafkaError as error:
        # It closes nothing once its flush has failed, and offers no other way to end its thread.
        producer._sender.force_close()  # noqa: SLF001
        _LOG.warning("Kafka: a producer was closed with messages unsent: %s", error)


async def _confirmed(sent: Any) -> None:
    """Wait for the producer's thread to settle the future of a message. Raises its error."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Future[None] = loop.create_future()

    def settle(error: BaseException | None) -> None:
        if not waiting.done():
            if error is None:
                waiting.set_result(None)
            else:
                waiting.set_exception(error)

    def settled(result: object) -> None:
        error = result if isinstance(result, BaseException) else None
        # A closed loop has nobody waiting.
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, error)

    sent.add_both(settled)
    await waiting
