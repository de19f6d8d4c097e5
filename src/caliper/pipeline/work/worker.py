"""A worker: takes jobs from a topic, a bounded number at a time, and sees each to its end.

The table of failures (`core.errors.error_policy`) alone decides what happens to a failed job.
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
from caliper.core.errors import CaliperError, JobFate, error_policy
from caliper.core.messages import MessageValue
from caliper.pipeline.work.log_subject import log_subject
from caliper.ports.clock import Clock
from caliper.ports.stream import Consumer
from caliper.ports.telemetry import (
    SILENT,
    DeadLetterSent,
    JobAttemptEnded,
    JobEnd,
    JobReceived,
    Retried,
    Telemetry,
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a job. On the `final` one, errors become Unscored."""

    data: MessageValue
    final: bool = False


@dataclass(slots=True)
class _Job:
    """A delivery in progress. `started` is when its first attempt in this process began."""

    delivery: Delivery
    started: float


class _StartTimes:
    """The start times of jobs that were returned for a retry.

    A partition that was lost and reassigned starts without times: other workers may have tried
    or finished its jobs in between.
    """

    def __init__(self) -> None:
        # By partition: its tenure, and the times by offset.
        self._times: dict[int, tuple[int, dict[int, float]]] = {}

    def keep(self, job: _Job) -> None:
        """Remember the start of a job that is retried, unless its partition was reassigned."""
        delivery = job.delivery
        tenure, times = self._times[delivery.partition]
        if tenure == delivery.tenure:
            times[delivery.offset] = job.started

    def take(self, delivery: Delivery, now: float) -> _Job:
        """The job of a delivery, with its remembered start time, or `now`."""
        tenure, times = self._times.get(delivery.partition, (None, {}))
        if tenure != delivery.tenure:
            times = {}
            self._times[delivery.partition] = delivery.tenure, times
        return _Job(delivery, times.pop(delivery.offset, now))


_LOG = logging.getLogger(__name__)
_BACKOFF = Backoff(0.5, 30.0)
_MIN_TIME_LEFT = 0.001  # Clocks wake sleepers slightly early: less than this is no time to retry.
_RUN_FATES = frozenset({JobFate.FAIL_RUN, JobFate.PAUSE})
_Result = TypeVar("_Result")

Handle = Callable[[Attempt], Awaitable[Exception | None]]
"""Handles a job. On the final attempt, returns the error that became Unscored, if any."""

GiveUp = Callable[[MessageValue, BaseException], Awaitable[None]]
"""Publishes Unscored for a job that is not retried."""


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """The limits of a worker: `in_flight` concurrent jobs, and `budget` seconds for the retries of
    one job, with waits from `backoff`.

    A job that was the only one of `crashes` workers when they died is not retried. Twelve (ours):
    of jobs that last as long as workers live between outside kills, 1 in 250 is alone at so many
    deaths. While store or stream are down, the step that needs them is retried every `pause`
    seconds without counting as an attempt; if `pause` is None, the worker ends instead.
    """

    in_flight: int = 32
    budget: float = 600.0
    backoff: Backoff = _BACKOFF
    crashes: int = 12
    pause: float | None = None


class Worker:
    """Runs the jobs of one consumer until its topic is closed and drained.

    Failures of the whole run (ModelChanged, a store that is down if there is no `pause`) end the
    worker by raising. Unacknowledged jobs are redelivered to the next worker.
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
        self._start_times = _StartTimes()
        self._troubles: dict[object, Exception] = {}

    @property
    def trouble(self) -> Exception | None:
        """The error that the worker is waiting out, from its first occurrence until it is over."""
        return self._consumer.trouble or next(iter(self._troubles.values()), None)

    async def run(self) -> None:
        """Work until the topic ends. Raises the first failure of the whole run."""
        slots = asyncio.Semaphore(self._limits.in_flight)
        try:
            async with asyncio.TaskGroup() as group:
                await slots.acquire()
                while (delivery := await self._receive()) is not None:
                    group.create_task(self._see_through(delivery, slots))
                    await slots.acquire()
        except BaseExceptionGroup as failures:
            raise first_failure(failures) from None
        finally:
            await self._consumer.leave()

    def stop(self) -> None:
        """Take no more jobs. `run` returns when those in flight are done."""
        self._consumer.drain()

    async def _receive(self) -> Delivery | None:
        while True:
            try:
                return await self._consumer.receive()
            except Exception as error:
                if not self._is_outage(error):
                    raise
                # The consumer reports this error itself, as its `trouble`.
                await self._pause(error)

    async def _see_through(self, delivery: Delivery, slots: asyncio.Semaphore) -> None:
        taken_at = self._clock.monotonic()
        job = self._start_times.take(delivery, taken_at)
        self._telemetry.record(JobReceived())
        end: JobEnd | None = None
        with log_subject(delivery.message.key):
            try:
                end = await self._try(job)
            finally:
                self._telemetry.record(JobAttemptEnded(end, self._clock.monotonic() - taken_at))
                slots.release()

    async def _try(self, job: _Job) -> JobEnd:
        delivery = job.delivery
        if delivery.crashes >= self._limits.crashes:
            error = CaliperError(f"{delivery.crashes} workers died while it was their only job")
            return await self._drop(job, error)
        try:
            await self._wait_out(job, partial(self._handle, Attempt(delivery.message.value)))
        except Exception as error:  # noqa: BLE001 - the table of failures knows every class
            return await self._handle_failure(job, error)
        await self._consumer.acknowledge(delivery)
        return JobEnd.DONE

    async def _handle_failure(self, job: _Job, error: Exception) -> JobEnd:
        match error_policy(error).fate:
            case fate if fate in _RUN_FATES:
                raise error
            case JobFate.RETRY if self._time_left(job) > _MIN_TIME_LEFT:
                return await self._retry(job, error)
            case JobFate.RETRY:
                return await self._final_attempt(job, error)
            case JobFate.RETRY_ONCE if job.delivery.attempt == 1:
                return await self._retry(job, error)
            case _:
                return await self._drop(job, error)

    async def _final_attempt(self, job: _Job, error: Exception) -> JobEnd:
        """Make the final attempt, and give the job up if that fails too."""
        data = job.delivery.message.value
        try:
            trouble = await self._wait_out(job, partial(self._handle, Attempt(data, final=True)))
        except Exception as final_error:
            if error_policy(final_error).fate in _RUN_FATES:
                raise
            await self._wait_out(job, partial(self._give_up, data, final_error))
            trouble = error
        if trouble is not None:
            return await self._dead_letter(job, trouble)
        await self._consumer.acknowledge(job.delivery)
        return JobEnd.DONE

    def _time_left(self, job: _Job) -> float:
        return self._limits.budget - (self._clock.monotonic() - job.started)

    async def _retry(self, job: _Job, error: Exception) -> JobEnd:
        self._telemetry.record(Retried(error))
        retry_after = getattr(error, "retry_after", None)
        # Not a secret: jitter only has to differ between workers.
        jitter = random.random()  # noqa: S311
        wait = self._limits.backoff.wait(job.delivery.attempt, jitter, retry_after)
        await self._clock.sleep(max(0.0, min(wait, self._time_left(job))))
        self._start_times.keep(job)
        await self._consumer.retry(job.delivery)
        return JobEnd.RETRIED

    async def _drop(self, job: _Job, error: Exception) -> JobEnd:
        await self._wait_out(job, partial(self._give_up, job.delivery.message.value, error))
        return await self._dead_letter(job, error)

    async def _dead_letter(self, job: _Job, error: Exception) -> JobEnd:
        delivery = job.delivery
        reason = f"{type(error).__name__}: {error}"
        await self._wait_out(job, partial(self._consumer.dead_letter, delivery, reason))
        self._telemetry.record(DeadLetterSent(delivery.message.topic, error))
        return JobEnd.DEAD_LETTER

    async def _wait_out(self, job: _Job, step: Callable[[], Awaitable[_Result]]) -> _Result:
        """Repeat a step while store or stream are down, unless that ends the worker. That time does
        not use the job's budget.
        """
        key, started, first = object(), job.started, self._clock.monotonic()
        try:
            while True:
                job.started = started + self._clock.monotonic() - first
                try:
                    return await step()
                except Exception as error:
                    if not self._is_outage(error):
                        raise
                    self._troubles[key] = error
                    await self._pause(error)
        finally:
            self._troubles.pop(key, None)

    def _is_outage(self, error: Exception) -> bool:
        return self._limits.pause is not None and error_policy(error).fate is JobFate.PAUSE

    async def _pause(self, error: Exception) -> None:
        """Log the outage and wait before the next try, unless the job is cancelled."""
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            # What a cancelled job saves at its end met the outage, and its error came instead.
            raise asyncio.CancelledError from error
        _LOG.warning("work is paused: %s", error)
        await self._clock.sleep(self._limits.pause or 0.0)


def first_failure(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first failure of a task group, unwrapped from nested groups."""
    first = failures.exceptions[0]
    return first_failure(first) if isinstance(first, BaseExceptionGroup) else first
