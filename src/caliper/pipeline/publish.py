"""Publishing what is missing: the plan's jobs whose outcomes are not known yet.

One rule for a new run, a run taken up again after Ctrl-C, and a lost topic.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby

from caliper.benchmarks.registry import benchmark
from caliper.core.caption import Caption, CutShort
from caliper.core.question import Item, Source
from caliper.pipeline.aggregate import Captions, PlanReader
from caliper.pipeline.ledger import Ledger
from caliper.ports.codec import CaptionJob, Codec, ExamineJob
from caliper.ports.stream import JobStream, Message

PLAN_JOBS = "plan-jobs"
CAPTION_JOBS = "caption-jobs"
JUDGE_JOBS = "judge-jobs"
QA_JOBS = "qa-jobs"
VERDICTS = "verdicts"
RUNS = "runs"
# Messages on their way at once: one by one, a broker's confirmations would set the pace of a run.
_AT_ONCE = 64
_TOPIC_OF_ROLE = {"judge": JUDGE_JOBS, "reader": QA_JOBS}

Checkpoint = Mapping[str, frozenset[Source]]
"""What the checkpoint itself is asked for, by benchmark (`BenchmarkSpec.asked_of_checkpoint`)."""


class Publisher:
    """Turns the plan of one run into jobs. `captions` are the known ones."""

    def __init__(self, run: str, stream: JobStream, codec: Codec, captions: Captions) -> None:
        self._run = run
        self._stream = stream
        self._codec = codec
        self._captions = captions

    async def publish_missing(self, plan: PlanReader, ledger: Ledger, asked: Checkpoint) -> int:
        """Publish every job that the ledger lacks an outcome of; returns how many.

        What is `asked` of the checkpoint becomes caption-jobs: samples without a known
        caption, and questions from the media.
        """
        return await self._publish_all(plan, asked, ledger.lacks)

    async def publish_all(self, plan: PlanReader, asked: Checkpoint) -> int:
        """Publish every job of the plan, whatever is known; returns how many."""
        return await self._publish_all(plan, asked, lambda _: True)

    async def _publish_all(
        self, plan: PlanReader, asked: Checkpoint, wanted: Callable[[Item], bool]
    ) -> int:
        published = 0
        async for items in plan():
            found = [members for members in jobs(items) if any(map(wanted, members))]
            for start in range(0, len(found), _AT_ONCE):
                # They are begun in this order, so that of one key they are appended in it.
                together = found[start : start + _AT_ONCE]
                await asyncio.gather(*(self._publish(job, asked) for job in together))
            published += len(found)
        return published

    async def _publish(self, items: tuple[Item, ...], asked: Checkpoint) -> None:
        first = items[0]
        text = None
        if first.source is Source.CAPTION:
            text = self._captions.get(first.benchmark, {}).get(first.sample)
        if text is None and first.source in asked.get(first.benchmark, ()):
            job = CaptionJob(self._run, first.benchmark, first.sample, items)
            await self._send(CAPTION_JOBS, job)
        else:
            known = None if text is None else Caption(first.sample, text, type(text) is CutShort)
            await self.examine(items, known)

    async def examine(self, items: tuple[Item, ...], caption: Caption | None) -> None:
        """Publish the examination of one caption, or of one sample's media."""
        first = items[0]
        job = ExamineJob(self._run, first.benchmark, first.sample, caption, items)
        await self._send(_TOPIC_OF_ROLE[benchmark(first.benchmark).role], job)

    async def _send(self, topic: str, job: CaptionJob | ExamineJob) -> None:
        key = f"{job.run}/{job.benchmark}/{job.sample}"
        await self._stream.publish(Message(topic, key, self._codec.write(job)))


def jobs(items: list[Item]) -> Iterator[tuple[Item, ...]]:
    """The items of each job: one benchmark, one sample, one source."""
    for _, members in groupby(items, key=lambda item: (item.benchmark, item.sample)):
        together = tuple(members)
        for source in Source:
            job = tuple(item for item in together if item.source is source)
            if job:
                yield job
