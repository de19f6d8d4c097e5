"""Has a checkpoint write captions without asking anything about them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.envelopes import Message
from caliper.core.question import Item, Source
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.planning.publisher import CAPTION_JOBS, JobMessage, RunJobs, publish_jobs
from caliper.pipeline.store.plan import Captions
from caliper.pipeline.store.runs import read_starts
from caliper.pipeline.work.handlers import SaveCaption, ignore_verdicts
from caliper.pipeline.work.worker import first_failure
from caliper.wiring.stages import Checkpoint, ModelStages, Stage


class CaptionStream(MemoryStream):
    """A stream of caption-jobs. What follows on them is left to the run that gets the captions."""

    async def publish(self, message: Message) -> None:
        if message.topic == CAPTION_JOBS:
            await super().publish(message)


async def write_captions(
    stage: Stage, stream: CaptionStream, jobs: AsyncIterator[JobMessage]
) -> None:
    """Work on caption-jobs until all are done. Raises what the stage raises."""
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(stage.worker().run())
            await publish_jobs(stream, jobs)
            await stream.close_topic(CAPTION_JOBS)
    except BaseExceptionGroup as failures:
        raise first_failure(failures) from None


@dataclass(frozen=True, slots=True)
class CaptionWriting:
    """Has the checkpoint of a run write its captions by `stages`; each is given to `keep`."""

    stages: ModelStages
    checkpoint: Checkpoint
    keep: SaveCaption

    async def complete(self, run: RunLedger, known: Captions) -> None:
        """Write the captions of a planned run that are not known. Raises what the stage raises."""
        stream, starts = CaptionStream(), await read_starts(run.store)
        ground = replace(self.stages.ground, stream=stream, logs=stream)
        stages = replace(self.stages, ground=ground, examined=ignore_verdicts)
        cap = starts.terms.token_cap(starts.number)

        async def about_captions() -> AsyncIterator[list[Item]]:
            async for items in run.plan():
                yield [item for item in items if item.source is Source.CAPTION]

        jobs = RunJobs(run.run, ground.codec, known, cap).of(
            about_captions, {part.name: part.checkpoint_sources for part in run.spec.benchmarks}
        )
        await write_captions(stages.captioning(self.checkpoint, self.keep), stream, jobs)
