"""The dispatcher: publishes the jobs of all runs from their queues, a little ahead of workers.

A topic delivers messages in the order of publication. So a short run would wait behind all jobs of
a long one if these were published at once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence

from caliper.core.envelopes import Message
from caliper.core.errors import InvalidInput, StoreUnavailable, StreamUnavailable
from caliper.core.run import RunState
from caliper.core.terms import Priority
from caliper.pipeline.aggregation.queue_reader import QueueReader
from caliper.pipeline.aggregation.run_table import RunTable
from caliper.pipeline.aggregation.topic_window import TopicWindow
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.planning.publisher import JobMessage, publish_all
from caliper.pipeline.store.runs import read_starts
from caliper.pipeline.work.log_subject import log_subject
from caliper.ports.clock import Clock
from caliper.ports.stream import JobStream

_LOG = logging.getLogger(__name__)
_PACE = 0.25
_READ_AHEAD_BYTES = 32 << 20
"""Bytes of jobs in memory over all runs."""
_BATCH, _BATCHES = 64, 64
"""Jobs per batch, and batches between measurements of the topics: together the largest window."""


class Dispatcher:
    """Publishes jobs for the runs of the `tables` that this process leads.

    Runs that wait for a topic share its window by priority. A job that goes through two topics
    costs its run a turn in both, and waits for the one where the run has had most: captions are
    written only as fast as the run may have them examined. Dispatchers share the room: `share` is
    this one's part. After a crash the queues are read again, and only jobs in flight are published
    twice.
    """

    def __init__(
        self,
        tables: Callable[[], Sequence[RunTable]],
        stream: JobStream,
        clock: Clock,
        share: Callable[[], float] = lambda: 1.0,
    ) -> None:
        self._tables, self._stream, self._clock = tables, stream, clock
        self._share = share
        self._queues: dict[str, QueueReader] = {}
        self._windows: dict[str, TopicWindow] = {}
        self._is_held_up = False

    @property
    def weight(self) -> int:
        """The total weight of all waiting runs."""
        return sum(queue.weight for queue in self._queues.values())

    async def run(self) -> None:
        """Refill the topics four times a second, forever. Jobs wait out outages."""
        while True:
            try:
                await self.refill()
                self._is_held_up = False
            except (StoreUnavailable, StreamUnavailable) as error:
                if not self._is_held_up:
                    _LOG.warning("jobs wait: %s", error)
                self._is_held_up = True
            await self._clock.sleep(_PACE)

    async def refill(self) -> None:
        """Publish jobs as room allows. Raises StoreUnavailable, StreamUnavailable."""
        for table in self._tables():
            for run in table:
                with log_subject(run.run):
                    await self._open(table, run)
        runs = {run.run: run for table in self._tables() for run in table}
        for name, queue in list(self._queues.items()):
            if runs.get(name) is not queue.run or not queue.run.jobs_left:
                self._close(name)
        if not self._queues:
            return
        await self._measure()
        for _ in range(_BATCHES):
            batch = await self._next_batch()
            if not batch:
                break
            await self._publish(batch)

    async def _open(self, table: RunTable, run: RunLedger) -> None:
        """Open the queue of a run whose jobs are wanted, unless it is open."""
        if not run.jobs_left:
            return
        heals = run.heals and run.due_state is RunState.FINISHED
        if run.due_state is not None and not heals:
            run.jobs_left = False
            return
        queue = self._queues.get(run.run)
        if queue is not None and queue.run is run and queue.is_current:
            return
        # Read once: the next start may be planned meanwhile.
        start, block, shards = run.start, run.block, run.shards
        try:
            priority = (await read_starts(run.store)).terms.priority
        except InvalidInput:
            # The next start replaces the unreadable record.
            priority = Priority.NORMAL
        self._queues[run.run] = QueueReader(table, run, start, block, priority.weight, shards)

    async def _measure(self) -> None:
        """Read the number of untaken messages of each topic."""
        topics = {
            stage
            for queue in self._queues.values()
            for job in queue.heads()
            for stage in job.stages
        }
        share = self._share()
        for topic in topics | self._windows.keys():
            # The workers of a topic share the group of its name.
            untaken = await self._stream.untaken(topic, topic)
            self._windows.setdefault(topic, TopicWindow()).measure(list(untaken.values()), share)

    async def _next_batch(self) -> list[tuple[QueueReader, JobMessage]]:
        """The next jobs to publish, at most 64, as room and shares allow."""
        for queue in list(self._queues.values()):
            await self._read_ahead(queue)
        batch: list[tuple[QueueReader, JobMessage]] = []
        for choice in self._choices():
            batch.append(choice)
            if len(batch) == _BATCH:
                break
        return batch

    async def _read_ahead(self, queue: QueueReader) -> None:
        try:
            await queue.read_ahead(_READ_AHEAD_BYTES // len(self._queues))
        except InvalidInput as error:
            self._fail(queue, error)
        if queue.is_over:
            if queue.is_current:
                queue.run.jobs_left = False
            self._close(queue.run.run)

    def _fail(self, queue: QueueReader, error: InvalidInput) -> None:
        """Publish no more jobs of a start, and fail its run unless it was planned again."""
        if queue.is_current:
            queue.table.fail(queue.run, error)
        queue.clear()

    def _close(self, run: str) -> None:
        del self._queues[run]
        for window in self._windows.values():
            window.forget(run)

    def _choices(self) -> Iterator[tuple[QueueReader, JobMessage]]:
        while (choice := self._next_choice()) is not None:
            queue, head = choice
            job = queue.take(head.message.topic)
            for stage in job.stages:
                self._windows[stage].spend(queue.run.run, queue.weight)
            for stage in job.stages[:1]:
                self._windows[stage].add()
            yield queue, job

    def _next_choice(self) -> tuple[QueueReader, JobMessage] | None:
        """The next run by turn, and its job; None without jobs, or room for one."""
        first: dict[str, float] = {}
        heads: list[tuple[QueueReader, JobMessage, dict[str, float]]] = []
        for queue in self._queues.values():
            for job in filter(self._has_room, queue.heads() if queue.is_current else ()):
                turns = {
                    stage: self._windows[stage].turn(queue.run.run, queue.weight)
                    for stage in job.stages
                }
                for stage, turn in turns.items():
                    first[stage] = min(turn, first.get(stage, turn))
                heads.append((queue, job, turns))
        if not heads:
            return None
        # Verdicts go first: they take up no room.
        queue, job, _ = min(
            heads,
            key=lambda head: max(
                (turn - first[stage] for stage, turn in head[2].items()), default=-1.0
            ),
        )
        return queue, job

    def _has_room(self, job: JobMessage) -> bool:
        """Whether the stages of a job have room: its examiners wait for captions, too."""
        return all(self._windows.setdefault(stage, TopicWindow()).has_room for stage in job.stages)

    async def _publish(self, batch: Sequence[tuple[QueueReader, JobMessage]]) -> None:
        messages: list[Message] = [job.message for _, job in batch]
        failed = await publish_all(self._stream, messages)
        left = [
            (queue, job, error)
            for (queue, job), error in zip(batch, failed, strict=True)
            if error is not None
        ]
        others = [each for each in left if not isinstance(each[2], InvalidInput)]
        for queue, job, _ in reversed(others):
            queue.put_back(job)
        for queue, _, error in left:
            if isinstance(error, InvalidInput):
                # Too long for the stream: retrying would not help.
                self._fail(queue, error)
        for _, _, error in others:
            raise error
