"""Job handlers of the examining and captioning stages, shared by the CLI and the services.

A callback supplies the examiner or captioner of each job. If it returns None, the job is
acknowledged without work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from caliper.core.caption import Caption
from caliper.core.envelopes import Message
from caliper.core.errors import (
    BudgetSpent,
    CaliperError,
    DataLoss,
    FunctionFailed,
    InvalidInput,
    ModelChanged,
    NotFound,
)
from caliper.core.messages import CaptionJob, ExamineJob, MessageValue, Verdicts
from caliper.core.outcome import Reason
from caliper.core.question import Failure, Source
from caliper.core.run import RunSpec
from caliper.pipeline.asking.captioner import Captioner
from caliper.pipeline.asking.examiner import Examiner
from caliper.pipeline.asking.failure_verdicts import failure_verdicts, unscored_job
from caliper.pipeline.asking.replies import traits_of_job
from caliper.pipeline.planning.publisher import VERDICTS, RunJobs
from caliper.pipeline.store.runs import SPEC
from caliper.pipeline.work.worker import Attempt
from caliper.ports.codec import Codec
from caliper.ports.stream import JobStream

ExaminerOf = Callable[[ExamineJob], Awaitable[Examiner | None]]
CaptionerOf = Callable[[CaptionJob], Awaitable[Captioner | None]]
OnVerdicts = Callable[[ExamineJob, Verdicts], None]
RecordUsage = Callable[[ExamineJob | CaptionJob], Awaitable[None]]
SaveCaption = Callable[[CaptionJob, Caption], Awaitable[Caption]]
"""Returns the caption that the run has from now on: another worker may have been first."""
OnRunFailure = Callable[[str, CaliperError], Awaitable[None]]


_OF_RUNS = (ModelChanged, DataLoss, FunctionFailed)
"""Errors of a run: its jobs are not at fault, nor are other runs."""


async def raise_error(_: str, error: CaliperError) -> None:
    """The default for a process with one run: the run's failure ends the worker."""
    raise error


def ignore_verdicts(_: ExamineJob, __: Verdicts) -> None:
    """The default `on_verdicts` callback: does nothing."""


@dataclass(frozen=True, slots=True)
class ExamineHandler:
    """Examines jobs and publishes their verdicts. Equal jobs are worked on one at a time.

    `record_usage` is called with a job before its results are published, and `on_verdicts` after
    its verdicts are. `on_run_failure` is called with a run whose model has changed or whose
    function fails, or that lost an object: the job is not at fault.
    """

    stream: JobStream
    codec: Codec
    examiner_of: ExaminerOf
    record_usage: RecordUsage
    on_verdicts: OnVerdicts = ignore_verdicts
    on_run_failure: OnRunFailure = raise_error
    locks: WeakValueDictionary[object, asyncio.Lock] = field(
        default_factory=WeakValueDictionary, init=False
    )

    def lock_of(self, job: ExamineJob | CaptionJob, spec: RunSpec) -> asyncio.Lock:
        """The lock of equal jobs of any run: a second one waits and then finds the replies."""
        return self.locks.setdefault(traits_of_job(spec, job), asyncio.Lock())

    async def handle(self, attempt: Attempt) -> Exception | None:
        """Examine one job. On the final attempt, returns the error that became Unscored, if any.

        Raises what the examiner raises, InvalidInput for a malformed job.
        """
        job = self.codec.read_examine_job(attempt.data)
        try:
            examiner = await self.examiner_of(job)
            if examiner is None:
                return None
            async with self.lock_of(job, examiner.spec):
                result = await examiner.conclude(job)
        except _OF_RUNS as error:
            await self.on_run_failure(job.run, error)
            return None
        return await self.settle(job, result, attempt)

    async def settle(
        self, job: ExamineJob, result: tuple[Verdicts, Exception | None], attempt: Attempt
    ) -> Exception | None:
        """Publish the verdicts of a job, unless an error means that it is retried.

        Raises that error if the job is retried. On the final attempt, returns the error, which
        became Unscored.
        """
        verdicts, trouble = result
        if trouble is not None and not attempt.final:
            raise trouble
        await self.publish(job, verdicts)
        return trouble

    async def give_up(self, data: MessageValue, error: BaseException) -> None:
        """Publish Unscored for a job that is not retried."""
        try:
            job = self.codec.read_examine_job(data)
        except InvalidInput:
            # Its questions are unreadable. The job is preserved as a dead letter.
            return
        await self.conclude(job, error)

    async def conclude(self, job: ExamineJob, error: BaseException) -> None:
        """Publish Unscored for all questions of a job, unless its run has lost its spec."""
        if isinstance(error, NotFound):
            await self.on_run_failure(job.run, DataLoss.missing(SPEC))
            return
        await self.publish(job, failure_verdicts(job, error))

    async def publish(self, job: ExamineJob, verdicts: Verdicts) -> None:
        """Publish the verdicts of a job."""
        await self.record_usage(job)
        key = f"{verdicts.run}/{verdicts.benchmark}/{verdicts.sample}"
        await self.stream.publish(Message(VERDICTS, key, self.codec.write(verdicts)))
        self.on_verdicts(job, verdicts)


@dataclass(frozen=True, slots=True)
class CaptionHandler:
    """Captions samples and publishes the jobs that examine the captions.

    Media questions are answered here, and their verdicts published. `save_caption` is called with
    every caption before its examination is published.
    """

    examining: ExamineHandler
    captioner_of: CaptionerOf
    save_caption: SaveCaption

    async def handle(self, attempt: Attempt) -> Exception | None:
        """Caption one sample, or answer its media questions.

        On the final attempt, returns the error that became Unscored, if any. Raises what the
        captioner raises, InvalidInput for a malformed job.
        """
        job = self.examining.codec.read_caption_job(attempt.data)
        try:
            captioner = await self.captioner_of(job)
            if captioner is None:
                return None
            async with self.examining.lock_of(job, captioner.spec):
                if job.items[0].source is not Source.MEDIA:
                    await self._caption(job, captioner)
                    return None
                result = await captioner.answer(job)
        except _OF_RUNS as error:
            await self.examining.on_run_failure(job.run, error)
            return None
        return await self.examining.settle(_examine_job(job), result, attempt)

    async def _caption(self, job: CaptionJob, captioner: Captioner) -> None:
        try:
            caption = await captioner.caption(job)
        except BudgetSpent as error:
            # It fails the sample, not the job.
            caption = Failure(Reason.BUDGET, str(error))
        if isinstance(caption, Failure):
            examine_job = _examine_job(job)
            await self.examining.publish(examine_job, unscored_job(examine_job, caption))
            return
        caption = await self.save_caption(job, caption)
        await self.examining.record_usage(job)
        jobs = RunJobs(job.run, self.examining.codec, {}, job.cap)
        await self.examining.stream.publish(jobs.examination(job.items, caption).message)

    async def give_up(self, data: MessageValue, error: BaseException) -> None:
        """Publish Unscored for all questions of a sample whose job is not retried."""
        try:
            job = self.examining.codec.read_caption_job(data)
        except InvalidInput:
            return
        await self.examining.conclude(_examine_job(job), error)


def _examine_job(job: CaptionJob) -> ExamineJob:
    """The job that examines the same items without a caption."""
    return ExamineJob(job.run, job.benchmark, job.sample, None, job.items, job.cap)
