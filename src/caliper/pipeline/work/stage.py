"""A stage: the work on one topic."""

from __future__ import annotations

from dataclasses import dataclass, field

from caliper.core.errors import StreamUnavailable
from caliper.pipeline.work.worker import GiveUp, Handle, Worker, WorkerLimits
from caliper.ports.clock import Clock
from caliper.ports.stream import JobStream
from caliper.ports.telemetry import SILENT, GroupJoined, Telemetry


@dataclass(slots=True, eq=False)
class Stage:
    """Works on a topic. All processes that do share one consumer group, of the topic's name."""

    topic: str
    handlers: tuple[Handle, GiveUp]
    stream: JobStream
    clock: Clock
    limits: WorkerLimits
    telemetry: Telemetry = SILENT
    _worker: Worker | None = field(default=None, init=False)
    _stopped: bool = field(default=False, init=False)

    async def run(self) -> None:
        """Work until the topic ends. After `stop`, finish only the jobs in flight. Raises what
        `Worker.run` raises.
        """
        if not self._stopped:
            # A consumer belongs to the event loop in which it is created.
            member = self.stream.consumer(self.topic, self.topic)
            self.telemetry.record(GroupJoined(self.topic, member))
            self._worker = Worker(member, *self.handlers, self.clock, self.limits, self.telemetry)
            await self._worker.run()

    def stop(self) -> None:
        """Take no more jobs."""
        self._stopped = True
        if self._worker is not None:
            self._worker.stop()

    async def check(self) -> None:
        """Raise the error that has paused the work, if any; StreamUnavailable before it began."""
        if self._worker is None:
            raise StreamUnavailable(f"work on {self.topic} has not begun")
        if self._worker.trouble is not None:
            raise self._worker.trouble
