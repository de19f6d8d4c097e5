"""The stages of a run in one process, connected by an in-memory stream."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.caption import Caption
from caliper.core.messages import CaptionJob, MessageValue
from caliper.pipeline.planning.planner import Planner
from caliper.pipeline.planning.publisher import (
    CAPTION_JOBS,
    JUDGE_JOBS,
    PLAN_JOBS,
    QA_JOBS,
    RUNS,
    VERDICTS,
)
from caliper.pipeline.work.handlers import (
    CaptionerOf,
    CaptionHandler,
    ExamineHandler,
    ExaminerOf,
    Used,
)
from caliper.pipeline.work.worker import (
    Attempt,
    GiveUp,
    Handle,
    Worker,
    WorkerLimits,
    first_failure,
)
from caliper.ports.clock import Clock
from caliper.ports.codec import Codec
from caliper.ports.telemetry import Watcher


@dataclass(slots=True)
class Stages:
    """Works on the run whose plan-job is on the stream, until the event `over` is set.

    `planner` publishes the jobs of the run. `examiner_of` and `captioner_of` provide the examiner
    and captioner of a job; `used` is called with a job before its results are published. `follow`
    consumes the verdicts on the stream.

    `keep_caption` is called with the benchmark and each caption that a captioner wrote, before the
    caption is examined.
    """

    planner: Planner
    examiner_of: ExaminerOf
    captioner_of: CaptionerOf
    used: Used
    follow: Callable[[], Coroutine[Any, Any, None]]
    stream: MemoryStream
    codec: Codec
    watcher: Watcher
    clock: Clock
    limits: WorkerLimits
    keep_caption: Callable[[str, Caption], Awaitable[None]]
    over: asyncio.Event

    async def work(self) -> None:
        """Work the run to its end.

        Raises ModelChanged or StoreUnavailable as soon as a stage meets one; the work done by then
        is kept. Raises InvalidInput when the run cannot be planned.
        """
        try:
            async with asyncio.TaskGroup() as group:
                plan_task = group.create_task(self._plan())
                examine = self._examining()
                for topic in (JUDGE_JOBS, QA_JOBS):
                    group.create_task(self._worker(topic, examine.handle, examine.give_up))
                caption = CaptionHandler(examine, self.captioner_of, self._keep)
                group.create_task(self._worker(CAPTION_JOBS, caption.handle, caption.give_up))
                group.create_task(self.follow())
                await self.over.wait()
                # Report what a cap leaves out even of a run that had ended before.
                await plan_task
                for topic in (CAPTION_JOBS, JUDGE_JOBS, QA_JOBS, VERDICTS, RUNS):
                    await self.stream.close_topic(topic)
        except BaseExceptionGroup as failures:
            raise first_failure(failures) from None

    async def _plan(self) -> None:
        async def plan(attempt: Attempt) -> None:
            job = self.codec.read_plan_job(attempt.data)
            refusal = await self.planner.plan(job)
            if refusal is not None:
                raise refusal

        async def end(_: MessageValue, error: BaseException) -> None:
            raise error

        await self.stream.close_topic(PLAN_JOBS)
        await self._worker(PLAN_JOBS, plan, end)

    async def _worker(self, topic: str, handle: Handle, give_up: GiveUp) -> None:
        consumer = self.stream.consumer(topic, group=topic)
        await Worker(consumer, handle, give_up, self.clock, self.limits).run()

    def _examining(self) -> ExamineHandler:
        examined = self.watcher.examined
        return ExamineHandler(self.stream, self.codec, self.examiner_of, self.used, examined)

    async def _keep(self, job: CaptionJob, caption: Caption) -> None:
        await self.keep_caption(job.benchmark, caption)
        self.watcher.captioned(job.benchmark, job.sample)
