"""Reads the job queue of a run's last start or block, a little ahead of its publication."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field

from caliper.core.envelopes import bytes_of
from caliper.pipeline.aggregation.run_table import RunTable
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.planning.job_queue import read_queue
from caliper.pipeline.planning.publisher import JobMessage

_READ_AHEAD = 400
"""Jobs of a run in memory: enough that a full window of one topic seldom delays another."""


@dataclass(slots=True)
class QueueReader:
    """The rest of the queue of one start, or of one of its blocks, by first topic.

    `next` is the next shard to read of `shards`, and `size` the bytes of the jobs in memory.
    """

    table: RunTable
    run: RunLedger
    start: int
    block: int
    weight: int
    shards: int
    next: int = 0
    size: int = 0
    jobs: dict[str, deque[JobMessage]] = field(default_factory=lambda: defaultdict(deque))

    @property
    def is_current(self) -> bool:
        """Whether no later start of the run has been planned, and no later block drawn."""
        return (self.start, self.block) == (self.run.start, self.run.block)

    @property
    def is_over(self) -> bool:
        """Whether no job is left."""
        return self.next >= self.shards and not any(self.jobs.values())

    async def read_ahead(self, most: int) -> None:
        """Read shards until enough jobs are in memory, or `most` bytes of them; at least one.
        Raises what `read_queue` raises.
        """
        while self.next < self.shards and (not any(self.jobs.values()) or self._has_room(most)):
            for job in await read_queue(self.run.store, self.start, self.next):
                if self._is_wanted(job):
                    self.jobs[job.message.topic].append(job)
                    self.size += len(bytes_of(job.message))
            self.next += 1

    def _has_room(self, most: int) -> bool:
        return sum(map(len, self.jobs.values())) < _READ_AHEAD and self.size < most

    def _is_wanted(self, job: JobMessage) -> bool:
        """Whether an outcome is missing or retried. The run may also have lost a caption."""
        run = self.run
        return run.heals or any(
            run.ledger.lacks(indices) or not run.retries.isdisjoint(indices)
            for indices in job.indices
        )

    def heads(self) -> list[JobMessage]:
        """The next job of each topic."""
        return [jobs[0] for jobs in self.jobs.values() if jobs]

    def take(self, topic: str) -> JobMessage:
        """Remove the next job of a topic."""
        job = self.jobs[topic].popleft()
        self.size -= len(bytes_of(job.message))
        return job

    def put_back(self, job: JobMessage) -> None:
        """Undo `take`."""
        self.jobs[job.message.topic].appendleft(job)
        self.size += len(bytes_of(job.message))

    def clear(self) -> None:
        """Drop all remaining jobs."""
        self.jobs.clear()
        self.next, self.size = self.shards, 0
