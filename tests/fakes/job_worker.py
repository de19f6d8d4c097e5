"""A worker on a topic of jobs, with a scripted handler."""

import asyncio
from collections import Counter
from collections.abc import Callable

from tests.fakes.clock import FakeClock
from tests.fakes.telemetry import RecordedTelemetry

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.backoff import Backoff
from caliper.core.dead_letters import DEAD_LETTERS
from caliper.core.envelopes import Message, bytes_of
from caliper.pipeline.work.worker import Attempt, Worker, WorkerLimits

LIMITS = WorkerLimits(in_flight=4, budget=60.0, backoff=Backoff(1.0, 8.0))


Script = Callable[[str, int, bool], Exception | None]
"""(job, how often it was tried before, whether it is the last try) -> what goes wrong."""


class Bench:
    """A topic of jobs, a worker on it, and a record of all that happens."""

    def __init__(self, *names: str, limits: WorkerLimits = LIMITS) -> None:
        self.stream, self.clock, self.limits = MemoryStream(), FakeClock(), limits
        self.names = names
        self.tries: Counter[str] = Counter()
        self.finals: list[str] = []
        self.done: list[str] = []
        self.given_up: list[tuple[str, BaseException]] = []
        self.open = self.most = 0
        self.told = RecordedTelemetry()
        # Outcomes left as Unscored by the last attempt at a job.
        self.unscored: Exception | None = None

    async def work(self, script: Script) -> None:
        async def handle(attempt: Attempt) -> Exception | None:
            name = attempt.data.decode()
            before = self.tries[name]
            self.tries[name] += 1
            if attempt.final:
                self.finals.append(name)
            self.open += 1
            self.most = max(self.most, self.open)
            try:
                await asyncio.sleep(0)
                error = script(name, before, attempt.final)
            finally:
                self.open -= 1
            if error is not None:
                raise error
            self.done.append(name)
            return self.unscored if attempt.final else None

        async def give_up(data: bytes, error: BaseException) -> None:
            self.given_up.append((data.decode(), error))

        for name in self.names:
            await self.stream.publish(Message("jobs", name, name.encode()))
        self.names = ()
        await self.stream.close_topic("jobs")
        consumer = self.stream.consumer("jobs", "workers")
        self.worker = Worker(consumer, handle, give_up, self.clock, self.limits, self.told)
        await self.worker.run()

    async def dead(self) -> list[tuple[str, str, str]]:
        """(job, error, attempts) of every dead letter."""
        await self.stream.close_topic(DEAD_LETTERS)
        consumer = self.stream.consumer(DEAD_LETTERS, "test")
        letters = []
        while (delivery := await consumer.receive()) is not None:
            headers = delivery.message.headers
            letters.append(
                (bytes_of(delivery.message).decode(), headers["error"], headers["attempts"])
            )
            await consumer.acknowledge(delivery)
        return letters

    @property
    def gave_up(self) -> list[str]:
        return [name for name, _ in self.given_up]


def always(error: Exception) -> Script:
    return lambda name, before, final: error


def times(count: int, error: Exception) -> Script:
    return lambda name, before, final: error if before < count else None
