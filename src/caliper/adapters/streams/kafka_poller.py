"""The thread that polls Kafka for one member of a group.

It polls as long as the member lives, with its partitions paused while there is no room, so
that neither a long job nor a slow one costs the membership. It alone commits.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from threading import Event, Thread
from typing import Any

from kafka import OffsetAndMetadata, TopicPartition
from kafka.consumer.subscription_state import AsyncConsumerRebalanceListener
from kafka.errors import CommitFailedError, KafkaError, RebalanceInProgressError
from kafka.structs import MemberState

from caliper.adapters.streams.delivery_window import DeliveryWindow
from caliper.adapters.streams.kafka_access import KafkaAccess, unavailable
from caliper.adapters.streams.kafka_messages import message_of
from caliper.adapters.streams.progress import CommitMark
from caliper.core.errors import StreamUnavailable

# Seconds: the longest that one poll may block, as a member and while it joins; between commits
# of what was settled; between signs of life, when there was nothing to hear.
_POLL = 0.1
_JOIN = 1.0
_COMMIT = 0.5
_PROBE = 2.0

# Whatever was fetched: kafka-python 3.0.12 may never give out the rest of a batch that was cut
# when its partition is paused in between.
_ALL = 1_000_000

_log = logging.getLogger(__name__)


class KafkaPoller:
    """Fills a handout with the messages of a topic. `announce` is called from the thread when
    something is ready, or when `trouble` comes or goes.
    """

    def __init__(
        self,
        access: KafkaAccess,
        topic: str,
        group: str,
        handout: DeliveryWindow,
        announce: Callable[[], None],
    ) -> None:
        self._access, self._topic, self._group = access, topic, group
        self._handout, self._announce = handout, announce
        self._thread = Thread(target=self._run, name=f"kafka-{topic}-{group}", daemon=True)
        self._stopping, self._woken = Event(), Event()
        self._committed_at = self._heard_at = self._member_at = time.monotonic()
        self.trouble: StreamUnavailable | None = None
        self.lag: Mapping[int, int] = {}
        self.rebalances = 0

    def start(self) -> None:
        """Begin to join the group."""
        self._thread.start()

    def wake(self) -> None:
        """Something was settled or is to be tried again."""
        self._woken.set()

    def stop(self) -> None:
        """Commit, leave the group and end; `join` waits for that."""
        self._stopping.set()
        self._woken.set()

    def join(self) -> None:
        """Wait for the end of the thread: as long as a cluster that is away is waited for."""
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._live()
            except Exception as error:  # noqa: BLE001 - `receive` must hear of a defect too
                self._in_trouble(error)

    def _live(self) -> None:
        """Join, poll and leave. Raises what a new client may mend."""
        client = self._access.consumer(self._group)
        try:
            client.subscribe([self._topic], listener=_Rebalance(client, self._handout, self._moved))
            # Who joins before it knows the partitions is given none and has to join again.
            client.topics()
            self._member_at = time.monotonic()
            while not self._stopping.is_set():
                self._turn(client)
        finally:
            self._close(client)
            self._handout.give_up(self._handout.partitions)

    def _turn(self, client: Any) -> None:
        try:
            self._fetch(client, self._longest_poll(client))
            if self._handout.reserve() or time.monotonic() > self._committed_at + _COMMIT:
                self._commit(client)
            if time.monotonic() > self._heard_at + _PROBE:
                self._probe(client)
        except (CommitFailedError, RebalanceInProgressError) as error:
            # The group moves partitions; the next poll takes part in it.
            _log.info("commit in %s refused: %s", self._group, error)
        except KafkaError as error:
            self._in_trouble(error)

    def _longest_poll(self, client: Any) -> float:
        """Seconds that the next poll may block. Raises StreamUnavailable for a client that
        rebalances for ever: a new one will not.

        kafka-python 3.0.12 does so when it joins once more because a topic grew, and the poll
        ends before that is through: the next poll takes it for done. So polls are longer then.
        """
        now = time.monotonic()
        state = client.group_metadata().state
        if state is MemberState.REBALANCING and now > self._member_at + self._access.session:
            raise StreamUnavailable(f"Kafka: group {self._group} does not come to rest")
        if state is MemberState.STABLE:
            self._member_at = now
            return _POLL
        return _JOIN

    @property
    def _probe_ms(self) -> int:
        return int(self._access.patience * 500)

    def _adopt(self, client: Any) -> None:
        """Read what the last owner of new partitions committed."""
        for place in client.assignment():
            if place.partition not in self._handout.partitions:
                found = client.committed(place, metadata=True, timeout_ms=self._probe_ms)
                mark = CommitMark(found.offset, found.metadata or "") if found else None
                self._handout.adopt(place.partition, mark)
                self._heard()

    def _fetch(self, client: Any, longest: float) -> None:
        partitions = self._handout.wanted()
        for place in client.assignment():
            (client.resume if place.partition in partitions else client.pause)(place)
        self._woken.clear()
        # What is held back goes out as soon as there is room, whatever else may come.
        full = not partitions or self._handout.holds_back
        wait = 0.0 if full and longest <= _POLL else longest
        found = client.poll(timeout_ms=wait * 1000, max_records=_ALL)
        try:
            self._adopt(client)
        except KafkaError:
            for place, records in found.items():
                client.seek(place, records[0].offset)
            raise
        for place, records in found.items():
            for record in records:
                self._handout.arrived(place.partition, record.offset, message_of(record))
        if found:
            self._heard()
        elif full:
            self._woken.wait(_POLL)

    def _commit(self, client: Any) -> None:
        marks = self._handout.marks()
        if marks:
            client.commit(_offsets(self._topic, marks), timeout_ms=self._probe_ms)
            self._heard()
        self._committed_at = time.monotonic()
        self._handout.committed(marks)
        self._measure(client)
        self._announce()

    def _measure(self, client: Any) -> None:
        """Set the ends of the partitions that were last heard of against what is settled."""
        try:
            ends = {place.partition: client.highwater(place) for place in client.assignment()}
        except KafkaError:
            # A partition left in the meantime; the next turn knows better.
            return
        reached = self._handout.reached
        self.lag = {
            partition: max(0, end - reached[partition])
            for partition, end in ends.items()
            if end is not None and partition in reached
        }

    def _moved(self) -> None:
        self.rebalances += 1

    def _probe(self, client: Any) -> None:
        """Ask something, since nothing was heard for a while."""
        client.end_offsets([TopicPartition(self._topic, 0)], self._probe_ms)
        for partition in self._handout.missing():
            place = TopicPartition(self._topic, partition)
            if (offset := client.position(place, self._probe_ms)) is not None:
                self._handout.skipped_to(partition, offset)
        self._heard()

    def _heard(self) -> None:
        """The cluster answers."""
        self._heard_at = time.monotonic()
        if self.trouble is not None:
            self.trouble = None
            self._announce()

    def _in_trouble(self, error: Exception) -> None:
        if self.trouble is None:
            _log.warning("Kafka at %s does not answer: %s", self._access.servers, error)
        self.trouble = unavailable(f"no answer about topic {self._topic}", error)
        self._announce()
        self._stopping.wait(_POLL)

    def _close(self, client: Any) -> None:
        try:
            # Gives the partitions up through the listener, which commits.
            client.close(autocommit=False, timeout_ms=self._probe_ms)
        except KafkaError as error:
            _log.warning("left %s without a word: %s", self._group, error)


class _Rebalance:
    """Told by the client's own thread, during a poll, which partitions come and go. `moved` is
    called when any do.
    """

    def __init__(self, client: Any, handout: DeliveryWindow, moved: Callable[[], None]) -> None:
        self._client, self._handout, self._moved = client, handout, moved

    async def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
        """They are adopted after the poll."""
        if any(True for _ in assigned):
            self._moved()

    async def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
        revoked = list(revoked)
        if revoked:
            self._moved()
        topics = {place.topic for place in revoked}
        marks = self._handout.give_up(place.partition for place in revoked)
        for topic in topics if marks else ():
            try:
                await self._client.commit_async(_offsets(topic, marks))
            except KafkaError as error:
                _log.warning("partitions of %s were given up without a commit: %s", topic, error)

    async def on_partitions_lost(self, lost: Iterable[Any]) -> None:
        self._moved()
        self._handout.give_up(place.partition for place in lost)


# By registration: the base class has no types to inherit.
AsyncConsumerRebalanceListener.register(_Rebalance)


def _offsets(topic: str, marks: Mapping[int, CommitMark]) -> dict[Any, Any]:
    return {
        TopicPartition(topic, partition): OffsetAndMetadata(mark.offset, mark.text, -1)
        for partition, mark in marks.items()
    }
