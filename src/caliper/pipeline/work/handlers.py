"""The stages as handlers of jobs, the same in one process and as services.

Who examines or captions for a job is asked of the outside: None acknowledges it without work.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from caliper.core.caption import Caption
from caliper.core.envelopes import Message
from caliper.core.errors import BudgetSpent, InvalidInput, ModelChanged
from caliper.core.messages import CaptionJob, ExamineJob, MessageValue, Verdicts
from caliper.core.outcome import Reason
from caliper.core.question import Failure, Source
from caliper.pipeline.asking.captioner import Captioner
from caliper.pipeline.asking.examiner import Examiner
from caliper.pipeline.asking.unscored import give_up, unscored
from caliper.pipeline.planning.publisher import VERDICTS, Publisher
from caliper.pipeline.work.worker import Attempt
from caliper.ports.codec import Codec
from caliper.ports.stream import JobStream

ExaminerOf = Callable[[ExamineJob], Awaitable[Examiner | None]]
CaptionerOf = Callable[[CaptionJob], Awaitable[Captioner | None]]
Examined = Callable[[ExamineJob, Verdicts], None]
Used = Callable[[ExamineJob | CaptionJob], Awaitable[None]]
KeepCaption = Callable[[CaptionJob, Caption], Awaitable[None]]


ModelWasChanged = Callable[[str, ModelChanged], Awaitable[None]]


async def end_all(_: str, error: ModelChanged) -> None:
    """Let the failure of a run end the worker: for a process with one run."""
    raise error


def nobody_listens(_: ExamineJob, __: Verdicts) -> None:
    """Tell nobody that a job was examined."""


@dataclass(frozen=True, slots=True)
class ExamineHandler:
    """Examines jobs and publishes their verdicts; `examined` is told of each, `changed` of a
    run whose model is another one by now, `used` of a job before what came of it is published.
    """

    stream: JobStream
    codec: Codec
    examiner_of: ExaminerOf
    used: Used
    examined: Examined = nobody_listens
    changed: ModelWasChanged = end_all

    async def handle(self, attempt: Attempt) -> Exception | None:
        """Examine one job; gives what became Unscored at the last try.

        Raises what its examiner raises, InvalidInput for no job.
        """
        job = self.codec.read_examine_job(attempt.data)
        examiner = await self.examiner_of(job)
        if examiner is None:
            return None
        try:
            found = await examiner.conclude(job)
        except ModelChanged as error:
            await self.changed(job.run, error)
            return None
        return await self.settle(job, found, attempt)

    async def settle(
        self, job: ExamineJob, found: tuple[Verdicts, Exception | None], attempt: Attempt
    ) -> Exception | None:
        """Publish what was found, unless there was trouble and the job is tried again.

        Gives the trouble that became Unscored; raises it where the job is tried again.
        """
        verdicts, trouble = found
        if trouble is not None and not attempt.final:
            raise trouble
        await self.tell(job, verdicts)
        return trouble

    async def give_up(self, data: MessageValue, error: BaseException) -> None:
        """Publish Unscored for a job that is not tried again."""
        try:
            job = self.codec.read_examine_job(data)
        except InvalidInput:
            # Nobody can say which questions it held; the dead letter keeps it.
            return
        await self.conclude(job, error)

    async def conclude(self, job: ExamineJob, error: BaseException) -> None:
        """Publish Unscored for all questions of a job."""
        await self.tell(job, give_up(job, error))

    async def tell(self, job: ExamineJob, verdicts: Verdicts) -> None:
        """Publish the verdicts of a job."""
        await self.used(job)
        key = f"{verdicts.run}/{verdicts.benchmark}/{verdicts.sample}"
        await self.stream.publish(Message(VERDICTS, key, self.codec.write(verdicts)))
        self.examined(job, verdicts)


@dataclass(frozen=True, slots=True)
class CaptionHandler:
    """Captions samples and publishes the jobs that examine the captions; questions from the
    media are answered here, and their verdicts published.

    `keep` is handed every caption before it is examined.
    """

    examining: ExamineHandler
    captioner_of: CaptionerOf
    keep: KeepCaption

    async def handle(self, attempt: Attempt) -> Exception | None:
        """Show one sample to the checkpoint; gives what became Unscored at the last try.

        Raises what its captioner raises, InvalidInput for no job.
        """
        job = self.examining.codec.read_caption_job(attempt.data)
        captioner = await self.captioner_of(job)
        if captioner is None:
            return None
        try:
            if job.items[0].source is not Source.MEDIA:
                await self._caption(job, captioner)
                return None
            found = await captioner.answer(job)
        except ModelChanged as error:
            await self.examining.changed(job.run, error)
            return None
        return await self.examining.settle(_without_caption(job), found, attempt)

    async def _caption(self, job: CaptionJob, captioner: Captioner) -> None:
        caption = await _written(captioner, job)
        if isinstance(caption, Failure):
            without = _without_caption(job)
            await self.examining.tell(without, unscored(without, caption))
            return
        await self.keep(job, caption)
        await self.examining.used(job)
        publisher = Publisher(job.run, self.examining.stream, self.examining.codec, {}, job.cap)
        await publisher.examine(job.items, caption)

    async def give_up(self, data: MessageValue, error: BaseException) -> None:
        """Publish Unscored for all questions of a sample that is not tried again."""
        try:
            job = self.examining.codec.read_caption_job(data)
        except InvalidInput:
            return
        await self.examining.conclude(_without_caption(job), error)


async def _written(captioner: Captioner, job: CaptionJob) -> Caption | Failure:
    """What the captioner wrote; where nothing was left to use, that is no failed job."""
    try:
        return await captioner.caption(job)
    except BudgetSpent as error:
        return Failure(Reason.BUDGET, str(error))


def _without_caption(job: CaptionJob) -> ExamineJob:
    return ExamineJob(job.run, job.benchmark, job.sample, None, job.items, job.cap)
