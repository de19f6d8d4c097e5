"""The stages of one run in one process, joined by the stream in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.caption import Caption
from caliper.pipeline.following import Follower
from caliper.pipeline.publish import (
    CAPTION_JOBS,
    JUDGE_JOBS,
    QA_JOBS,
    RUNS,
    VERDICTS,
    Checkpoint,
    Publisher,
)
from caliper.pipeline.tracked import TrackedRun
from caliper.ports.clock import Clock
from caliper.ports.codec import CaptionJob, Codec
from caliper.ports.telemetry import Watcher
from caliper.runtime.stages import CaptionerOf, Captioning, ExaminerOf, Examining, Used
from caliper.runtime.worker import GiveUp, Handle, Limits, Worker, first_failure


@dataclass(slots=True)
class Stages:
    """Publishes the missing jobs of a run and works until none is left.

    `examiner_of` and `captioner_of` give who works on a job, `used` is told of it before what came
    of it is published. `asked` is what the checkpoint is asked for. `follower` reads the verdicts
    off the stream.

    `keep_caption` is handed the benchmark and the caption of every sample that a captioner
    wrote about, before the caption is examined.
    """

    publisher: Publisher
    examiner_of: ExaminerOf
    captioner_of: CaptionerOf
    used: Used
    asked: Checkpoint
    follower: Follower
    stream: MemoryStream
    codec: Codec
    watcher: Watcher
    clock: Clock
    limits: Limits
    keep_caption: Callable[[str, Caption], Awaitable[None]]

    async def work(self, run: TrackedRun, end: int | None = None) -> None:
        """Work the run to its end, up to that dense index where a cap on calls gives one.

        Raises ModelChanged or StoreUnavailable as soon as a stage meets one; what is done
        by then is kept.
        """
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._publish(run, end))
                group.create_task(self._caption_then_examine())
                group.create_task(self.follower.run())
        except BaseExceptionGroup as failures:
            raise first_failure(failures) from None

    async def _publish(self, run: TrackedRun, end: int | None) -> None:
        await self.publisher.publish(run.plan, self.asked, run.ledger, end)
        await self.stream.close_topic(CAPTION_JOBS)

    async def _caption_then_examine(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._captioning())
            for topic in (JUDGE_JOBS, QA_JOBS):
                stage = self._examining()
                group.create_task(self._worker(topic, stage.handle, stage.give_up))
        for topic in (VERDICTS, RUNS):
            await self.stream.close_topic(topic)

    async def _captioning(self) -> None:
        stage = Captioning(self._examining(), self.captioner_of, self._keep)
        await self._worker(CAPTION_JOBS, stage.handle, stage.give_up)
        for topic in (JUDGE_JOBS, QA_JOBS):
            await self.stream.close_topic(topic)

    async def _worker(self, topic: str, handle: Handle, give_up: GiveUp) -> None:
        consumer = self.stream.consumer(topic, group=topic)
        await Worker(consumer, handle, give_up, self.clock, self.limits).run()

    def _examining(self) -> Examining:
        examined = self.watcher.examined
        return Examining(self.stream, self.codec, self.examiner_of, self.used, examined)

    async def _keep(self, job: CaptionJob, caption: Caption) -> None:
        await self.keep_caption(job.benchmark, caption)
        self.watcher.captioned(job.benchmark, job.sample)
