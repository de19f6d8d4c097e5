"""The stages of one run in one process, joined by the stream in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.caption import Caption
from caliper.pipeline.caption import Captioner
from caliper.pipeline.examine import Examiner
from caliper.pipeline.publish import (
    CAPTION_JOBS,
    JUDGE_JOBS,
    QA_JOBS,
    VERDICTS,
    Checkpoint,
    Publisher,
)
from caliper.pipeline.tracked import TrackedRun
from caliper.ports.clock import Clock
from caliper.ports.codec import CaptionJob, Codec, ExamineJob, MessageValue
from caliper.ports.telemetry import Watcher
from caliper.runtime.stages import Captioning, Examining
from caliper.runtime.worker import Attempt, GiveUp, Handle, Limits, Worker, first_failure

_MOST_WAITING = 500
"""Verdicts that may wait to be written."""
_LONGEST_WAITING = 2.0
"""Seconds that a verdict may wait to be written."""


@dataclass(slots=True)
class Stages:
    """Publishes the missing jobs of a run and works until none is left.

    `captioners` by benchmark work on what is `asked` of the checkpoint.

    `keep_caption` is handed the benchmark and the caption of every sample that a captioner
    wrote about, before the caption is examined.
    """

    publisher: Publisher
    examiner: Examiner
    captioners: dict[str, Captioner]
    asked: Checkpoint
    run: TrackedRun
    stream: MemoryStream
    codec: Codec
    watcher: Watcher
    clock: Clock
    limits: Limits
    keep_caption: Callable[[str, Caption], None]
    unwritten: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    async def work(self, end: int | None = None) -> None:
        """Work the run to its end, up to that dense index where a cap on calls gives one.

        Raises ModelChanged or StoreUnavailable as soon as a stage meets one; what is done
        by then is kept.
        """
        try:
            async with asyncio.TaskGroup() as group:
                flushing = group.create_task(self._flush_often())
                async with asyncio.TaskGroup() as stages:
                    stages.create_task(self._publish(end))
                    stages.create_task(self._caption_then_examine())
                    stages.create_task(self._worker(VERDICTS, self._aggregate, _never, at_once=1))
                flushing.cancel()
        except BaseExceptionGroup as failures:
            raise first_failure(failures) from None
        finally:
            # However it ended: what was answered is not to be asked for again.
            await self.run.log.flush()

    async def _publish(self, end: int | None) -> None:
        await self.publisher.publish(self.run.plan, self.asked, self.run.ledger, end)
        await self.stream.close_topic(CAPTION_JOBS)

    async def _caption_then_examine(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._captioning())
            for topic in (JUDGE_JOBS, QA_JOBS):
                stage = self._examining()
                group.create_task(self._worker(topic, stage.handle, stage.give_up))
        await self.stream.close_topic(VERDICTS)

    async def _captioning(self) -> None:
        stage = Captioning(self._examining(), self._captioner, self._keep)
        await self._worker(CAPTION_JOBS, stage.handle, stage.give_up)
        for topic in (JUDGE_JOBS, QA_JOBS):
            await self.stream.close_topic(topic)

    async def _worker(
        self, topic: str, handle: Handle, give_up: GiveUp, *, at_once: int | None = None
    ) -> None:
        consumer = self.stream.consumer(topic, group=topic)
        limits = replace(self.limits, in_flight=at_once or self.limits.in_flight)
        await Worker(consumer, handle, give_up, self.clock, limits).run()

    def _examining(self) -> Examining:
        return Examining(self.stream, self.codec, self._examiner, self.watcher.examined)

    async def _examiner(self, _: ExamineJob) -> Examiner:
        return self.examiner

    async def _captioner(self, job: CaptionJob) -> Captioner:
        return self.captioners[job.benchmark]

    async def _keep(self, job: CaptionJob, caption: Caption) -> None:
        self.keep_caption(job.benchmark, caption)
        self.watcher.captioned(job.benchmark, job.sample)

    async def _aggregate(self, attempt: Attempt) -> None:
        await self.run.merge(self.codec.read_verdicts(attempt.data).verdicts)
        self.unwritten.set()
        if self.run.log.waiting >= _MOST_WAITING:
            await self.run.log.flush()

    async def _flush_often(self) -> None:
        while True:
            await self.unwritten.wait()
            self.unwritten.clear()
            await self.clock.sleep(_LONGEST_WAITING)
            await self.run.log.flush()


async def _never(_: MessageValue, error: BaseException) -> None:
    """A message of verdicts that cannot be read is our own defect: let it be seen."""
    raise error
