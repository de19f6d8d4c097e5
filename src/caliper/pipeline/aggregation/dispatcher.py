"""The dispatcher: publishes the jobs of all runs from their queues, a little ahead of the workers.

A topic hands out messages in the order in which they were published. So a short run would wait
behind all jobs of a long one, if these were published at once.
"""

from __future__ import annotations

import logging
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from caliper.core.envelopes import Message
from caliper.core.errors import InvalidInput, StoreUnavailable, StreamUnavailable
from caliper.core.run import RunState
from caliper.core.terms import Priority
from caliper.pipeline.aggregation.run_table import RunTable
from caliper.pipeline.aggregation.topic_window import TopicWindow
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.planning.job_queue import count_shards, read_queue
from caliper.pipeline.planning.publisher import VERDICTS, JobMessage, publish_all
from caliper.pipeline.store.runs import last_start
from caliper.pipeline.work.log_subject import log_subject
from caliper.ports.clock import Clock
from caliper.ports.stream import JobStream

_LOG = logging.getLogger(__name__)
_PACE = 0.25
_READ_AHEAD = 400
"""Jobs of a run in memory. Enough that a full window of one topic seldom holds up another."""
_BATCH, _BATCHES = 64, 64


@dataclass(slots=True)
class _Queue:
    """What is left of the queue of a run's last start, by first topic. `next` is the next shard to
    read of `shards`.
    """

    table: RunTable
    run: RunLedger
    start: int
    weight: int
    shards: int
    next: int = 0
    jobs: dict[str, deque[JobMessage]] = field(default_factory=lambda: defaultdict(deque))

    @property
    def is_current(self) -> bool:
        return self.start == self.run.start

    @property
    def is_over(self) -> bool:
        return self.next >= self.shards and not any(self.jobs.values())

    async def read_ahead(self) -> None:
        """Read shards until enough jobs are in memory. Raises what `read_queue` raises."""
        while self.next < self.shards and sum(map(len, self.jobs.values())) < _READ_AHEAD:
            for job in await read_queue(self.run.store, self.start, self.next):
                if self._is_wanted(job):
                    self.jobs[job.message.topic].append(job)
            self.next += 1

    def _is_wanted(self, job: JobMessage) -> bool:
        """Whether an outcome is missing, or asked for again. What a run lost may be a caption."""
        run = self.run
        return run.heals or any(
            run.ledger.lacks(indices) or not run.retries.isdisjoint(indices)
            for indices in job.indices
        )


class Dispatcher:
    """Publishes jobs for the runs of the `tables` that this process leads.

    The window of a topic is shared by the runs that wait for it, each by its priority. Room in it
    is shared with other dispatchers: `share` is that of this one. After a crash the queues are
    read again: only jobs in flight are then published twice.
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
        self._queues: dict[str, _Queue] = {}
        self._windows: dict[str, TopicWindow] = {}
        self._is_held_up = False

    @property
    def weight(self) -> int:
        """The weights of all runs that wait."""
        return sum(queue.weight for queue in self._queues.values())

    async def run(self) -> None:
        """Refill the topics four times a second, for ever. While store or stream are down, the
        jobs wait.
        """
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
        """Publish what there is room for. Raises StoreUnavailable, StreamUnavailable."""
        for table in self._tables():
            for run in table:
                with log_subject(run.run):
                    await self._open(table, run)
        held = {run.run: run for table in self._tables() for run in table}
        for name, queue in list(self._queues.items()):
            if held.get(name) is not queue.run or not queue.run.jobs_left:
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
        """Begin with the queue of a run whose jobs are wanted, unless that was done."""
        if not run.jobs_left:
            return
        heals = run.heals and run.due_state is RunState.FINISHED
        if run.due_state is not None and not heals:
            run.jobs_left = False
            return
        known = self._queues.get(run.run)
        if known is not None and known.run is run and known.is_current:
            return
        try:
            _, terms = await last_start(run.store)
        except InvalidInput:
            # The next start replaces what cannot be read.
            priority = Priority.NORMAL
        else:
            priority = terms.priority
        if run.shards is None:
            run.shards = await count_shards(run.store, run.start)
        self._queues[run.run] = _Queue(table, run, run.start, priority.weight, run.shards)

    async def _measure(self) -> None:
        """Read how many messages of each topic nobody has taken."""
        topics = {
            stage
            for queue in self._queues.values()
            for jobs in queue.jobs.values()
            for job in list(jobs)[:1]
            for stage in job.stages
        }
        share = self._share()
        for topic in topics | self._windows.keys():
            # The workers of a topic share the group of its name.
            untaken = await self._stream.untaken(topic, topic)
            self._windows.setdefault(topic, TopicWindow()).measure(list(untaken.values()), share)

    async def _next_batch(self) -> list[tuple[_Queue, JobMessage]]:
        """The next jobs to publish, at most 64, as room and shares allow."""
        for queue in list(self._queues.values()):
            await self._read_ahead(queue)
        batch: list[tuple[_Queue, JobMessage]] = []
        for choice in self._choices():
            batch.append(choice)
            if len(batch) == _BATCH:
                break
        return batch

    async def _read_ahead(self, queue: _Queue) -> None:
        try:
            await queue.read_ahead()
        except InvalidInput as error:
            self._fail(queue, error)
        if queue.is_over:
            queue.run.jobs_left = False
            self._close(queue.run.run)

    def _fail(self, queue: _Queue, error: InvalidInput) -> None:
        """Fail a run, and publish no more of its jobs."""
        queue.table.fail(queue.run, error)
        queue.jobs.clear()
        queue.next = queue.shards

    def _close(self, run: str) -> None:
        del self._queues[run]
        for window in self._windows.values():
            window.forget(run)

    def _choices(self) -> Iterator[tuple[_Queue, JobMessage]]:
        for topic in sorted({name for queue in self._queues.values() for name in queue.jobs}):
            while (queue := self._next_queue(topic)) is not None:
                job = queue.jobs[topic].popleft()
                for stage in job.stages[:1]:
                    self._windows[stage].take(queue.run.run, queue.weight)
                yield queue, job

    def _next_queue(self, topic: str) -> _Queue | None:
        """The run whose turn it is in a topic, None without room or jobs."""
        waiting = [queue for queue in self._queues.values() if queue.jobs[topic]]
        waiting = [queue for queue in waiting if self._has_room(queue.jobs[topic][0])]
        if not waiting or topic == VERDICTS:
            return next(iter(waiting), None)
        window = self._windows[topic]
        return min(waiting, key=lambda queue: window.turn(queue.run.run, queue.weight))

    def _has_room(self, job: JobMessage) -> bool:
        """Whether the stages of a job have room: its examiners wait for captions, too."""
        return all(self._windows.setdefault(stage, TopicWindow()).has_room for stage in job.stages)

    async def _publish(self, batch: Sequence[tuple[_Queue, JobMessage]]) -> None:
        messages: list[Message] = [job.message for _, job in batch]
        failed = await publish_all(self._stream, messages)
        for (queue, job), error in reversed(list(zip(batch, failed, strict=True))):
            if isinstance(error, StreamUnavailable):
                queue.jobs[job.message.topic].appendleft(job)
        for (queue, _), error in zip(batch, failed, strict=True):
            if isinstance(error, InvalidInput):
                # Too long for the stream: trying again changes nothing.
                self._fail(queue, error)
            elif error is not None:
                raise error
