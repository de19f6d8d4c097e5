"""A worker: takes jobs off a topic, a bounded number at a time, and sees each to its end.

What becomes of a job that fails is decided by the table of failures, nowhere else.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from caliper.core.backoff import Backoff
from caliper.core.envelopes import Delivery
from caliper.core.errors import CaliperError, JobFate, handling
from caliper.core.messages import MessageValue
from caliper.ports.clock import Clock
from caliper.ports.stream import Consumer
from caliper.ports.telemetry import (
    SILENT,
    DeadLetterSent,
    JobEnd,
    JobLeft,
    JobTaken,
    Telemetry,
    TriedAgain,
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at a job. `final`: it is the last, and trouble becomes Unscored."""

    data: MessageValue
    final: bool = False


@dataclass(slots=True)
class _Job:
    """A delivery that is worked on. `begun` is when its first try began here."""

    delivery: Delivery
    begun: float


class _Begun:
    """When the first tries of jobs began that were handed back to be tried again.

    A partition that came back brings no time along from when it was here before: others may
    have tried its jobs since, or finished them.
    """

    def __init__(self) -> None:
        # By partition: its tenure, and the times by offset.
        self._times: dict[int, tuple[int, dict[int, float]]] = {}

    def keep(self, job: _Job) -> None:
        """The job is handed back. No effect where its partition has gone and come since."""
        delivery = job.delivery
        tenure, times = self._times[delivery.partition]
        if tenure == delivery.tenure:
            times[delivery.offset] = job.begun

    def take(self, delivery: Delivery, now: float) -> _Job:
        """The job of a delivery; one that was not handed back begins now."""
        tenure, times = self._times.get(delivery.partition, (None, {}))
        if tenure != delivery.tenure:
            times = {}
            self._times[delivery.partition] = delivery.tenure, times
        return _Job(delivery, times.pop(delivery.offset, now))


_LOG = logging.getLogger(__name__)
_BACKOFF = Backoff(0.5, 30.0)
_MOMENT = 0.001  # Clocks wake sleepers a little early: what is left then is no time to try in.
_OF_THE_RUN = frozenset({JobFate.FAIL_RUN, JobFate.PAUSE})
_Result = TypeVar("_Result")

Handle = Callable[[Attempt], Awaitable[Exception | None]]
"""Handles a job. Of the last try it gives the trouble that became Unscored, if any did."""

GiveUp = Callable[[MessageValue, BaseException], Awaitable[None]]
"""Publishes Unscored for a job that is not tried again."""


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """`in_flight` jobs at once; `budget` seconds for the retries of one job, with waits by
    `backoff`. A job that was alone with so many workers that died
    as `crashes` is not tried again. While store or stream are down, what needs them is tried
    every `pause` seconds, no attempt counted; where that is None, the worker ends.
    """

    in_flight: int = 32
    budget: float = 600.0
    backoff: Backoff = _BACKOFF
    crashes: int = 3
    pause: float | None = None


class Worker:
    """Runs jobs of one consumer until its topic is closed and drained.

    Failures of the run as a whole (ModelChanged, a store that is down and not waited for) end
    the worker by raising; whatever was not acknowledged is delivered again to the next one.
    """

    def __init__(
        self,
        consumer: Consumer,
        handle: Handle,
        give_up: GiveUp,
        clock: Clock,
        limits: WorkerLimits,
        telemetry: Telemetry = SILENT,
    ) -> None:
        self._consumer = consumer
        self._handle = handle
        self._give_up = give_up
        self._clock = clock
        self._limits = limits
        self._telemetry = telemetry
        self._begun = _Begun()
        self._fetching: asyncio.Task[None] | None = None
        self._stopped = False
        self._troubles: dict[object, Exception] = {}

    @property
    def trouble(self) -> Exception | None:
        """What is waited for to go away, from the first failure until it is gone."""
        return self._consumer.trouble or next(iter(self._troubles.values()), None)

    async def run(self) -> None:
        """Work until the topic ends. Raises the first failure of the run as a whole."""
        room = asyncio.Semaphore(self._limits.in_flight)
        try:
            async with asyncio.TaskGroup() as group:
                self._fetching = group.create_task(self._fetch(group, room))
                if self._stopped:
                    self._fetching.cancel()
        except BaseExceptionGroup as failures:
            raise first_failure(failures) from None
        finally:
            await self._consumer.leave()

    def stop(self) -> None:
        """Take no more jobs: `run` returns when those in flight are done."""
        self._stopped = True
        if self._fetching is not None:
            self._fetching.cancel()

    async def _fetch(self, group: asyncio.TaskGroup, room: asyncio.Semaphore) -> None:
        while (delivery := await self._next(room)) is not None:
            group.create_task(self._see_through(delivery, room))

    async def _next(self, room: asyncio.Semaphore) -> Delivery | None:
        await room.acquire()
        while True:
            try:
                return await self._consumer.receive()
            except Exception as error:
                if not self._passing(error):
                    raise
                # The consumer tells by itself for how long that lasts.
                await self._pause(error)

    async def _see_through(self, delivery: Delivery, room: asyncio.Semaphore) -> None:
        taken = self._clock.monotonic()
        job = self._begun.take(delivery, taken)
        self._telemetry.record(JobTaken())
        end: JobEnd | None = None
        try:
            end = await self._try(job)
        finally:
            self._telemetry.record(JobLeft(end, self._clock.monotonic() - taken))
            room.release()

    async def _try(self, job: _Job) -> JobEnd:
        delivery = job.delivery
        if delivery.crashes >= self._limits.crashes:
            deadly = CaliperError(f"{delivery.crashes} workers died while it was their only job")
            return await self._drop(job, deadly)
        try:
            await self._attempt(job, Attempt(delivery.message.value))
        except Exception as error:  # noqa: BLE001 - the table of failures knows every class
            return await self._after(job, error)
        return await self._done(job)

    async def _after(self, job: _Job, error: Exception) -> JobEnd:
        match handling(error).fate:
            case fate if fate in _OF_THE_RUN:
                raise error
            case JobFate.RETRY if self._time_left(job) > _MOMENT:
                return await self._again(job, error)
            case JobFate.RETRY:
                return await self._last(job, error)
            case JobFate.RETRY_ONCE if job.delivery.attempt == 1:
                return await self._again(job, error)
            case _:
                return await self._drop(job, error)

    async def _last(self, job: _Job, error: Exception) -> JobEnd:
        """Try for the last time. A job that cannot even then be concluded is given up."""
        data = job.delivery.message.value
        try:
            trouble = await self._attempt(job, Attempt(data, final=True))
        except Exception as last:
            if handling(last).fate in _OF_THE_RUN:
                raise
            await self._patiently(partial(self._give_up, data, last))
            trouble = error
        if trouble is None:
            return await self._done(job)
        return await self._bury(job, trouble)

    def _time_left(self, job: _Job) -> float:
        return self._limits.budget - (self._clock.monotonic() - job.begun)

    async def _again(self, job: _Job, error: Exception) -> JobEnd:
        self._telemetry.record(TriedAgain(error))
        asked = getattr(error, "retry_after", None)
        # Not a secret: only meant to differ between workers.
        draw = random.random()  # noqa: S311
        wait = self._limits.backoff.wait(job.delivery.attempt, draw, asked)
        await self._clock.sleep(max(0.0, min(wait, self._time_left(job))))
        self._begun.keep(job)
        await self._consumer.retry(job.delivery)
        return JobEnd.RETRIED

    async def _drop(self, job: _Job, error: Exception) -> JobEnd:
        await self._patiently(partial(self._give_up, job.delivery.message.value, error))
        return await self._bury(job, error)

    async def _bury(self, job: _Job, error: Exception) -> JobEnd:
        delivery = job.delivery
        said = f"{type(error).__name__}: {error}"
        await self._patiently(partial(self._consumer.dead_letter, delivery, said))
        self._telemetry.record(DeadLetterSent(delivery.message.topic, error))
        return JobEnd.DEAD_LETTER

    async def _done(self, job: _Job) -> JobEnd:
        await self._consumer.acknowledge(job.delivery)
        return JobEnd.DONE

    async def _attempt(self, job: _Job, attempt: Attempt) -> Exception | None:
        """One try; time in which store or stream are down is not taken off the job's budget."""
        begun, first = job.begun, self._clock.monotonic()

        async def handle() -> Exception | None:
            job.begun = begun + self._clock.monotonic() - first
            return await self._handle(attempt)

        return await self._patiently(handle)

    async def _patiently(self, step: Callable[[], Awaitable[_Result]]) -> _Result:
        """Do a step, and again as long as store or stream are down, unless that ends the worker."""
        waiting = object()
        try:
            while True:
                try:
                    return await step()
                except Exception as error:
                    if not self._passing(error):
                        raise
                    self._troubles[waiting] = error
                    await self._pause(error)
        finally:
            self._troubles.pop(waiting, None)

    def _passing(self, error: Exception) -> bool:
        return self._limits.pause is not None and handling(error).fate is JobFate.PAUSE

    async def _pause(self, error: Exception) -> None:
        """Give store or stream a moment to come back."""
        _LOG.warning("no work for now: %s", error)
        await self._clock.sleep(self._limits.pause or 0.0)


def first_failure(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first failure of a group of tasks, however deep groups of theirs hold it."""
    first = failures.exceptions[0]
    return first_failure(first) if isinstance(first, BaseExceptionGroup) else first
