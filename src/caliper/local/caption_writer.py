"""Has a checkpoint write captions without asking anything about them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.envelopes import Message
from caliper.core.messages import ExamineJob, Verdicts
from caliper.core.outcome import Reason
from caliper.core.question import Item, Source
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.planning.publisher import (
    CAPTION_JOBS,
    VERDICTS,
    JobMessage,
    RunJobs,
    publish_jobs,
)
from caliper.pipeline.store.plan import Captions
from caliper.pipeline.store.runs import read_starts
from caliper.pipeline.work.handlers import SaveCaption
from caliper.pipeline.work.stage import Stage
from caliper.pipeline.work.worker import first_failure
from caliper.wiring.stages import Checkpoint, ModelStages


class CaptionStream(MemoryStream):
    """A stream of caption-jobs alone: later jobs belong to the run that gets the captions."""

    async def publish(self, message: Message) -> None:
        if message.topic == CAPTION_JOBS:
            await super().publish(message)


async def write_captions(
    stage: Stage, stream: CaptionStream, jobs: AsyncIterator[JobMessage]
) -> None:
    """Work on caption-jobs until all are done. Raises what the stage raises."""
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(stage.run())
            await publish_jobs(stream, jobs)
            await stream.close_topic(CAPTION_JOBS)
    except BaseExceptionGroup as failures:
        raise first_failure(failures) from None


@dataclass(frozen=True, slots=True)
class CaptionWriter:
    """Has the checkpoint of a run write its captions in `stages` and passes each to `keep`.

    `failed` holds the verdicts on samples without a caption, by benchmark and sample.
    """

    stages: ModelStages
    checkpoint: Checkpoint
    keep: SaveCaption
    failed: dict[tuple[str, str], Verdicts] = field(default_factory=dict, init=False)

    async def complete(self, run: RunLedger, captions: Captions) -> None:
        """Write a planned run's captions except for `captions`. Raises what the stage raises."""
        self.failed.clear()
        stream, starts = CaptionStream(), await read_starts(run.store)
        ground = replace(self.stages.ground, stream=stream, logs=stream)
        stages = replace(self.stages, ground=ground, examined=self._note_failure)
        cap = starts.terms.token_cap(starts.number)

        async def about_captions() -> AsyncIterator[list[Item]]:
            async for items in run.plan():
                yield [item for item in items if item.source is Source.CAPTION]

        jobs = RunJobs(run.run, ground.codec, captions, cap).of(
            about_captions, {part.name: part.checkpoint_sources for part in run.spec.benchmarks}
        )
        await write_captions(stages.captioning(self.checkpoint, self.keep), stream, jobs)

    def _note_failure(self, job: ExamineJob, verdicts: Verdicts) -> None:
        self.failed[job.benchmark, job.sample] = verdicts

    async def after(self, jobs: AsyncIterator[JobMessage]) -> AsyncIterator[JobMessage]:
        """The run's jobs once captions are written; failed captions are not requested again."""
        async for each in jobs:
            yield self._refusal(each.message, each.indices) or each

    def _refusal(self, message: Message, indices: tuple[range, ...]) -> JobMessage | None:
        if message.topic != CAPTION_JOBS:
            return None
        codec = self.stages.ground.codec
        job = codec.read_caption_job(message.value)
        failed = self.failed.get((job.benchmark, job.sample))
        if failed is None or job.items[0].source is not Source.CAPTION:
            return None
        positions = (each for item in job.items for each in item.positions())
        indices_asked = {
            index for index, each, _ in positions if each.unscored is not Reason.NOT_DRAWN
        }
        some = tuple(each for each in failed.verdicts if each.index in indices_asked)
        verdicts, sample = replace(failed, verdicts=some), (job.run, job.benchmark, job.sample)
        self.stages.examined(ExamineJob(*sample, None, job.items), verdicts)
        return JobMessage(Message(VERDICTS, message.key, codec.write(verdicts)), indices, ())
