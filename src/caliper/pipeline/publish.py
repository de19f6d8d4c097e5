"""Publishing what is missing: the plan's jobs whose outcomes are not known yet.

One rule for a new run, a run taken up again after Ctrl-C, and a lost topic.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import groupby

from caliper.benchmarks.registry import benchmark
from caliper.core.caps import TokenCap
from caliper.core.caption import Caption, CutShort
from caliper.core.question import Failure, Item, Source
from caliper.pipeline.aggregate import Captions, PlanReader
from caliper.pipeline.examine import left_unscored
from caliper.pipeline.ledger import Ledger
from caliper.ports.codec import CaptionJob, Codec, ExamineJob, Verdicts
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

_Job = tuple[Item, ...]

Checkpoint = Mapping[str, frozenset[Source]]
"""What the checkpoint itself is asked for, by benchmark (`BenchmarkSpec.asked_of_checkpoint`)."""


class Publisher:
    """Turns the plan of one run into jobs. `captions` are the known ones, `cap` is what the run
    may use.
    """

    def __init__(
        self,
        run: str,
        stream: JobStream,
        codec: Codec,
        captions: Captions,
        cap: TokenCap | None = None,
    ) -> None:
        self._run = run
        self._stream = stream
        self._codec = codec
        self._captions = captions
        self._cap = cap

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
            await _in_turn(found, lambda job: self._publish(job, asked))
            published += len(found)
        return published

    async def leave_out(self, plan: PlanReader, why: Failure) -> None:
        """Publish Unscored for every question of a plan in the place of its jobs."""
        async for items in plan():
            await _in_turn(list(jobs(items)), lambda job: self._settle(job, why))

    async def _settle(self, items: tuple[Item, ...], why: Failure) -> None:
        first = items[0]
        told = Verdicts(self._run, first.benchmark, first.sample, left_unscored(items, why))
        await self._send(VERDICTS, told)

    async def _publish(self, items: tuple[Item, ...], asked: Checkpoint) -> None:
        first = items[0]
        text = None
        if first.source is Source.CAPTION:
            text = self._captions.get(first.benchmark, {}).get(first.sample)
        if text is None and first.source in asked.get(first.benchmark, ()):
            job = CaptionJob(self._run, first.benchmark, first.sample, items, self._cap)
            await self._send(CAPTION_JOBS, job)
        else:
            known = None if text is None else Caption(first.sample, text, type(text) is CutShort)
            await self.examine(items, known)

    async def examine(self, items: tuple[Item, ...], caption: Caption | None) -> None:
        """Publish the examination of one caption, or of one sample's media."""
        first = items[0]
        job = ExamineJob(self._run, first.benchmark, first.sample, caption, items, self._cap)
        await self._send(_TOPIC_OF_ROLE[benchmark(first.benchmark).role], job)

    async def _send(self, topic: str, message: CaptionJob | ExamineJob | Verdicts) -> None:
        key = f"{message.run}/{message.benchmark}/{message.sample}"
        await self._stream.publish(Message(topic, key, self._codec.write(message)))


async def _in_turn(found: Sequence[_Job], send: Callable[[_Job], Awaitable[None]]) -> None:
    """Send what is to be said of jobs. It is begun in their order, so that messages of one key
    are appended in it.
    """
    for start in range(0, len(found), _AT_ONCE):
        await asyncio.gather(*map(send, found[start : start + _AT_ONCE]))


def jobs(items: list[Item]) -> Iterator[tuple[Item, ...]]:
    """The items of each job: one benchmark, one sample, one source."""
    for _, members in groupby(items, key=lambda item: (item.benchmark, item.sample)):
        together = tuple(members)
        for source in Source:
            job = tuple(item for item in together if item.source is source)
            if job:
                yield job
