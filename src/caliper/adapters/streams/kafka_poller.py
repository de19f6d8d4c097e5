"""The thread that polls Kafka for one member of a consumer group.

It polls as long as the member exists, and pauses its partitions while there is no room, so that
a slow job does not cost the membership. Only this thread commits.
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

# Seconds: the maximum duration of a poll, as a member, as one that has no message, and while
# joining; the intervals of commits and, while no message arrives, of probes.
_POLL = 0.1
_IDLE = 0.5
_JOIN = 1.0
_COMMIT = 0.5
_PROBE = 2.0

# No limit per poll: kafka-python 3.0.12 may never return the rest of a split batch if its
# partition is paused in between.
_ALL = 1_000_000

_log = logging.getLogger(__name__)


class KafkaPoller:
    """Fills a delivery window with the messages of a topic.

    The thread calls `announce` when messages become ready, or when `trouble` appears or ends.
    """

    def __init__(
        self,
        access: KafkaAccess,
        topic: str,
        group: str,
        window: DeliveryWindow,
        announce: Callable[[], None],
    ) -> None:
        self._access = access
        self._topic, self._group = access.full_name(topic), access.full_name(group)
        self._window, self._announce = window, announce
        self._thread = Thread(target=self._run, name=f"kafka-{topic}-{group}", daemon=True)
        self._stopping, self._woken = Event(), Event()
        self._committed_at = self._answered_at = self._rest_at = time.monotonic()
        self._longest = _POLL
        self._member_at = float("-inf")
        self.trouble: StreamUnavailable | None = None
        self.lag: Mapping[int, int] = {}
        self.rebalances = 0

    @property
    def absence(self) -> StreamUnavailable | None:
        """The error of a member that has not joined its group, or has been out of it for longer
        than a rebalance. kafka-python retries that for ever and tells nobody, as of a group
        without a coordinator.
        """
        if time.monotonic() <= self._member_at + 2 * self._access.session:
            return None
        return StreamUnavailable(f"Kafka: not a member of group {self._group}")

    def start(self) -> None:
        """Start the thread, which joins the group."""
        self._thread.start()

    def wake(self) -> None:
        """Note that a delivery was settled or put back."""
        self._woken.set()

    def stop(self) -> None:
        """Make the thread commit, leave the group and end; `join` waits for it."""
        self._stopping.set()
        self._woken.set()

    def join(self) -> None:
        """Wait for the thread to end: at most the patience with an unreachable cluster."""
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._live()
            except Exception as error:  # noqa: BLE001 - `receive` must hear of a defect too
                self._report_trouble(error)

    def _live(self) -> None:
        """Join, poll and leave. Raises errors that a new client may fix."""
        client = self._access.consumer(self._group)
        try:
            client.subscribe([self._topic], listener=_Rebalance(client, self._window, self._moved))
            # Load the partitions first: a member that joins without them is assigned none and
            # must join again.
            client.topics()
            self._rest_at = time.monotonic()
            while not self._stopping.is_set():
                self._step(client)
        finally:
            self._close(client)
            self._window.release(self._window.partitions)

    def _step(self, client: Any) -> None:
        try:
            self._fetch(client, self._longest_poll(client))
            if self._window.reserve() or time.monotonic() > self._committed_at + _COMMIT:
                self._commit(client)
            if time.monotonic() > self._answered_at + _PROBE:
                self._probe(client)
        except (CommitFailedError, RebalanceInProgressError) as error:
            # The group is rebalancing; the next poll takes part in it.
            _log.info("commit to %s refused: %s", self._group, error)
        except KafkaError as error:
            self._report_trouble(error)

    def _longest_poll(self, client: Any) -> float:
        """Seconds that the next poll may block. Raises StreamUnavailable for a client that
        rebalances forever: a new one will not.

        kafka-python 3.0.12 does so if it rejoins because a topic grew, and the poll ends before
        that completes: the next poll assumes that it did. So polls while rejoining are longer.

        The broker lets a group wait a whole session for a member that died, and a member that gives
        up in the meantime makes all others join again.
        """
        now = time.monotonic()
        state = self._state(client)
        if state is not MemberState.REBALANCING:
            self._rest_at = now
        elif now > self._rest_at + 2 * self._access.session:
            raise StreamUnavailable(f"Kafka: group {self._group} keeps rebalancing")
        return self._longest if state is MemberState.STABLE else _JOIN

    def _state(self, client: Any) -> str:
        state: str = client.group_metadata().state
        if state is MemberState.STABLE:
            self._member_at = time.monotonic()
        return state

    @property
    def _probe_ms(self) -> int:
        return int(self._access.patience * 500)

    def _adopt(self, client: Any) -> None:
        """Adopt new partitions from the commits of their last owner."""
        for place in client.assignment():
            if place.partition not in self._window.partitions:
                commit = client.committed(place, metadata=True, timeout_ms=self._probe_ms)
                mark = CommitMark(commit.offset, commit.metadata or "") if commit else None
                self._window.adopt(place.partition, mark)
                self._note_answer(client)

    def _fetch(self, client: Any, longest: float) -> None:
        partitions = self._window.fetchable()
        for place in client.assignment():
            (client.resume if place.partition in partitions else client.pause)(place)
        self._woken.clear()
        # Staged messages must be delivered as soon as there is room, so do not block then.
        full = not partitions or self._window.is_blocked
        wait = 0.0 if full and longest < _JOIN else longest
        batches = client.poll(timeout_ms=wait * 1000, max_records=_ALL)
        try:
            self._adopt(client)
        except KafkaError:
            for place, records in batches.items():
                client.seek(place, records[0].offset)
            raise
        for place, records in batches.items():
            for record in records:
                message = message_of(record, self._access.prefix)
                self._window.stage(place.partition, record.offset, message)
        if batches:
            self._note_answer(client)
        elif full:
            self._woken.wait(self._longest)

    def _commit(self, client: Any) -> None:
        marks = self._window.marks()
        if marks:
            client.commit(_offsets(self._topic, marks), timeout_ms=self._probe_ms)
            self._note_answer(client)
        # Messages end a poll, but a delivery that is settled does not: its commit must not wait.
        self._longest = _POLL if marks or self._window.holds_messages else _IDLE
        self._committed_at = time.monotonic()
        self._window.confirm(marks)
        self._measure(client)
        self._announce()

    def _measure(self, client: Any) -> None:
        """Compute the lag from the last known ends of the partitions and the settled offsets."""
        try:
            ends = {place.partition: client.highwater(place) for place in client.assignment()}
        except KafkaError:
            # A partition was revoked in the meantime; the next step measures again.
            return
        reached = self._window.settled_offsets
        self.lag = {
            partition: max(0, end - reached[partition])
            for partition, end in ends.items()
            if end is not None and partition in reached
        }

    def _moved(self) -> None:
        self.rebalances += 1

    def _probe(self, client: Any) -> None:
        """Query the idle cluster, to detect that it is unreachable."""
        client.end_offsets([TopicPartition(self._topic, 0)], self._probe_ms)
        for partition in self._window.missing_suspects():
            place = TopicPartition(self._topic, partition)
            if (offset := client.position(place, self._probe_ms)) is not None:
                self._window.skip_to(partition, offset)
        self._note_answer(client)

    def _note_answer(self, client: Any) -> None:
        """Note that the cluster answers, which ends the trouble of a member that has joined: an
        answer says nothing about a group that keeps rebalancing.
        """
        self._answered_at = time.monotonic()
        if self._state(client) is MemberState.STABLE and self.trouble is not None:
            self.trouble = None
            self._announce()

    def _report_trouble(self, error: Exception) -> None:
        if self.trouble is None:
            _log.warning("Kafka at %s does not answer: %s", self._access.servers, error)
        self.trouble = unavailable(f"no answer about topic {self._topic}", error)
        self._announce()
        self._stopping.wait(_POLL)

    def _close(self, client: Any) -> None:
        try:
            # Revokes the partitions through the listener, which commits.
            client.close(autocommit=False, timeout_ms=self._probe_ms)
        except KafkaError as error:
            _log.warning("could not notify the broker on leaving %s: %s", self._group, error)


class _Rebalance:
    """The rebalance listener, which the client's thread calls during a poll.

    It calls `moved` when partitions are assigned, revoked or lost.
    """

    def __init__(self, client: Any, window: DeliveryWindow, moved: Callable[[], None]) -> None:
        self._client, self._window, self._moved = client, window, moved

    async def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
        """Adoption follows after the poll."""
        if any(True for _ in assigned):
            self._moved()

    async def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
        revoked = list(revoked)
        if revoked:
            self._moved()
        topics = {place.topic for place in revoked}
        marks = self._window.release(place.partition for place in revoked)
        for topic in topics if marks else ():
            try:
                await self._client.commit_async(_offsets(topic, marks))
            except KafkaError as error:
                _log.warning("released partitions of %s without a commit: %s", topic, error)

    async def on_partitions_lost(self, lost: Iterable[Any]) -> None:
        self._moved()
        self._window.release(place.partition for place in lost)


# Registered instead of inherited: the base class has no types.
AsyncConsumerRebalanceListener.register(_Rebalance)


def _offsets(topic: str, marks: Mapping[int, CommitMark]) -> dict[Any, Any]:
    return {
        TopicPartition(topic, partition): OffsetAndMetadata(mark.offset, mark.text, -1)
        for partition, mark in marks.items()
    }
