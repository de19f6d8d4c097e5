"""Publishes the missing jobs of a plan: those with outcomes that are not known yet.

The same rule serves a new run, a run resumed after Ctrl-C, and a lost topic.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import groupby

from caliper.benchmarks.registry import benchmark
from caliper.core.caption import Caption, CutShort
from caliper.core.envelopes import Message
from caliper.core.messages import CaptionJob, ExamineJob, Verdicts
from caliper.core.outcome import Reason
from caliper.core.question import Failure, Item, Source
from caliper.core.terms import TokenCap
from caliper.pipeline.asking.unscored_verdicts import unscored_items
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.store.plan import Captions, PlanReader
from caliper.ports.codec import Codec
from caliper.ports.stream import JobStream

PLAN_JOBS = "plan-jobs"
CAPTION_JOBS = "caption-jobs"
JUDGE_JOBS = "judge-jobs"
QA_JOBS = "qa-jobs"
JOB_TOPICS = (PLAN_JOBS, CAPTION_JOBS, JUDGE_JOBS, QA_JOBS)
VERDICTS = "verdicts"
RUNS = "runs"
# Messages in flight: sent one by one, a run would be limited by the broker's confirmations.
_IN_FLIGHT = 64
_TOPIC_OF_ROLE = {"judge": JUDGE_JOBS, "reader": QA_JOBS}

LEFT_OUT = Failure(Reason.BUDGET, "the cap on calls leaves no room for it")

_Job = tuple[Item, ...]

Checkpoint = Mapping[str, frozenset[Source]]
"""What the checkpoint is asked for, by benchmark (`BenchmarkSpec.checkpoint_sources`)."""


class Publisher:
    """Turns the plan of one run into jobs. `captions` holds the known captions; `cap` limits the
    tokens of the run.
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
        checkpoint: Checkpoint,
        ledger: Ledger | None = None,
        end: int | None = None,
    ) -> int:
        """Publish the jobs of a plan in the order in which it is read, and return how many.

        With a ledger, publishes only jobs that lack an outcome there. From index `end` on, where
        a cap on calls cuts the plan, publishes Unscored verdicts instead.

        What is asked of the `checkpoint` becomes caption-jobs: samples without a known caption,
        and media questions.
        """
        published = 0
        async for items in plan():
            within = [item for item in items if end is None or item.first < end]
            beyond = [item for item in items if end is not None and item.first >= end]
            missing = [
                job for job in jobs(within) if ledger is None or any(map(ledger.needs_outcome, job))
            ]
            await _send_all(missing, lambda job: self._publish(job, checkpoint))
            await _send_all(list(jobs(beyond)), self._leave_out)
            published += len(missing)
        return published

    async def _leave_out(self, items: tuple[Item, ...]) -> None:
        first = items[0]
        verdicts = unscored_items(items, LEFT_OUT)
        await self._send(VERDICTS, Verdicts(self._run, first.benchmark, first.sample, verdicts))

    async def _publish(self, items: tuple[Item, ...], checkpoint: Checkpoint) -> None:
        first = items[0]
        text = None
        if first.source is Source.CAPTION:
            text = self._captions.get(first.benchmark, {}).get(first.sample)
        if text is None and first.source in checkpoint.get(first.benchmark, ()):
            job = CaptionJob(self._run, first.benchmark, first.sample, items, self._cap)
            await self._send(CAPTION_JOBS, job)
        else:
            truncated = type(text) is CutShort
            caption = None if text is None else Caption(first.sample, text, truncated)
            await self.examine(items, caption)

    async def examine(self, items: tuple[Item, ...], caption: Caption | None) -> None:
        """Publish the job that examines one caption, or one sample's media."""
        first = items[0]
        job = ExamineJob(self._run, first.benchmark, first.sample, caption, items, self._cap)
        await self._send(_TOPIC_OF_ROLE[benchmark(first.benchmark).role], job)

    async def _send(self, topic: str, message: CaptionJob | ExamineJob | Verdicts) -> None:
        key = f"{message.run}/{message.benchmark}/{message.sample}"
        await self._stream.publish(Message(topic, key, self._codec.write(message)))


async def _send_all(batch: Sequence[_Job], send: Callable[[_Job], Awaitable[None]]) -> None:
    """Send messages about jobs concurrently. Sends begin in order, so messages of the same key
    are appended in order.
    """
    for start in range(0, len(batch), _IN_FLIGHT):
        await asyncio.gather(*map(send, batch[start : start + _IN_FLIGHT]))


def jobs(items: list[Item]) -> Iterator[tuple[Item, ...]]:
    """Group items into jobs: one benchmark, one sample, one source."""
    for _, group in groupby(items, key=lambda item: (item.benchmark, item.sample)):
        members = tuple(group)
        for source in Source:
            job = tuple(item for item in members if item.source is source)
            if job:
                yield job
