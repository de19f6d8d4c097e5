"""Publishing what is missing: the plan's jobs whose outcomes are not known yet.

One rule for a new run, a run taken up again after Ctrl-C, and a lost topic.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import groupby

from caliper.benchmarks.registry import benchmark
from caliper.core.caps import TokenCap
from caliper.core.caption import Caption, CutShort
from caliper.core.envelopes import Message
from caliper.core.messages import CaptionJob, ExamineJob, Verdicts
from caliper.core.outcome import Reason
from caliper.core.question import Failure, Item, Source
from caliper.pipeline.asking.unscored import left_unscored
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.store.plan import Captions, PlanReader
from caliper.ports.codec import Codec
from caliper.ports.stream import JobStream

PLAN_JOBS = "plan-jobs"
CAPTION_JOBS = "caption-jobs"
JUDGE_JOBS = "judge-jobs"
QA_JOBS = "qa-jobs"
VERDICTS = "verdicts"
RUNS = "runs"
# Messages on their way at once: one by one, a broker's confirmations would set the pace of a run.
_AT_ONCE = 64
_TOPIC_OF_ROLE = {"judge": JUDGE_JOBS, "reader": QA_JOBS}

LEFT_OUT = Failure(Reason.BUDGET, "the cap on calls leaves no room for it")

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

    async def publish(
        self,
        plan: PlanReader,
        asked: Checkpoint,
        ledger: Ledger | None = None,
        end: int | None = None,
    ) -> int:
        """Publish the jobs of a plan, those alone that the ledger lacks an outcome of where one is
        given; returns how many. From the index `end` on, which a cap on calls gives, Unscored is
        published in their place.

        What is `asked` of the checkpoint becomes caption-jobs: samples without a known
        caption, and questions from the media.
        """
        published = 0
        async for items in before(plan, end)():
            found = [job for job in jobs(items) if ledger is None or any(map(ledger.lacks, job))]
            await _in_turn(found, lambda job: self._publish(job, asked))
            published += len(found)
        async for items in _after(plan, end)():
            await _in_turn(list(jobs(items)), self._leave_out)
        return published

    async def _leave_out(self, items: tuple[Item, ...]) -> None:
        first = items[0]
        told = Verdicts(self._run, first.benchmark, first.sample, left_unscored(items, LEFT_OUT))
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


def before(plan: PlanReader, end: int | None) -> PlanReader:
    """The plan up to that dense index; all of it for None."""

    async def read() -> AsyncIterator[list[Item]]:
        async for items in plan():
            kept = [item for item in items if end is None or item.first < end]
            if kept:
                yield kept
            if len(kept) < len(items):
                return

    return read


def _after(plan: PlanReader, end: int | None) -> PlanReader:
    """The plan from that dense index on; nothing of it for None."""

    async def read() -> AsyncIterator[list[Item]]:
        if end is None:
            return
        async for items in plan():
            kept = [item for item in items if item.first >= end]
            if kept:
                yield kept

    return read


def jobs(items: list[Item]) -> Iterator[tuple[Item, ...]]:
    """The items of each job: one benchmark, one sample, one source."""
    for _, members in groupby(items, key=lambda item: (item.benchmark, item.sample)):
        together = tuple(members)
        for source in Source:
            job = tuple(item for item in together if item.source is source)
            if job:
                yield job
