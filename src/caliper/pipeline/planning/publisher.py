"""The jobs of a plan as messages: all of them, or those whose outcomes are not known yet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType

from caliper.benchmarks.registry import benchmark
from caliper.core.caption import Caption, CutShort
from caliper.core.envelopes import Message
from caliper.core.messages import CaptionJob, ExamineJob, Verdicts
from caliper.core.outcome import Reason
from caliper.core.question import Failure, Item, Source
from caliper.core.terms import TokenCap
from caliper.pipeline.asking.failure_verdicts import unscored_items
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

Lacking = Mapping[str, Mapping[str, Failure]]
"""Why samples have no caption, by benchmark and sample."""
NOTHING_LACKING: Lacking = MappingProxyType({})
Checkpoint = Mapping[str, frozenset[Source]]
"""What the checkpoint is asked for, by benchmark (`BenchmarkSpec.checkpoint_sources`)."""


@dataclass(frozen=True, slots=True)
class JobMessage:
    """A message about the questions at `indices` of a plan, and the topics of the stages that its
    job goes through; none for verdicts.
    """

    message: Message
    indices: tuple[range, ...]
    stages: tuple[str, ...]


class RunJobs:
    """The jobs of one run as messages. `captions` holds the known captions, and `lacking` why
    samples have none; `cap` limits the tokens of the run.
    """

    def __init__(
        self,
        run: str,
        codec: Codec,
        captions: Captions,
        cap: TokenCap | None = None,
        lacking: Lacking = NOTHING_LACKING,
    ) -> None:
        self._run, self._codec = run, codec
        self._captions, self._cap, self._lacking = captions, cap, lacking

    async def of(
        self,
        plan: PlanReader,
        checkpoint: Checkpoint,
        ledger: Ledger | None = None,
        end: int | None = None,
    ) -> AsyncIterator[JobMessage]:
        """The jobs of a plan, in the order in which it is read.

        With a ledger, only jobs that lack an outcome there. From index `end` on, where a cap on
        calls cuts the plan, Unscored verdicts instead, as for samples that lack a caption.

        What is asked of the `checkpoint` becomes caption-jobs: samples without a known caption,
        and media questions.
        """
        async for items in plan():
            within = [item for item in items if end is None or item.first < end]
            beyond = [item for item in items if end is not None and item.first >= end]
            for job in jobs(within):
                if ledger is None or any(map(ledger.needs_outcome, job)):
                    yield self._job(job, checkpoint)
            for job in jobs(beyond):
                yield self._unscored(job, LEFT_OUT)

    def _unscored(self, items: tuple[Item, ...], failure: Failure) -> JobMessage:
        first = items[0]
        verdicts = unscored_items(items, failure)
        message = Verdicts(self._run, first.benchmark, first.sample, verdicts)
        return self._message(message, items, VERDICTS)

    def _job(self, items: tuple[Item, ...], checkpoint: Checkpoint) -> JobMessage:
        first = items[0]
        text = None
        if first.source is Source.CAPTION:
            failure = self._lacking.get(first.benchmark, {}).get(first.sample)
            if failure is not None:
                return self._unscored(items, failure)
            text = self._captions.get(first.benchmark, {}).get(first.sample)
        if text is not None or first.source not in checkpoint.get(first.benchmark, ()):
            truncated = type(text) is CutShort
            caption = None if text is None else Caption(first.sample, text, truncated)
            return self.examination(items, caption)
        job = CaptionJob(self._run, first.benchmark, first.sample, items, self._cap)
        # The checkpoint answers questions about media itself; captions are examined.
        then = () if first.source is Source.MEDIA else (_examining_topic(first),)
        return self._message(job, items, CAPTION_JOBS, CAPTION_JOBS, *then)

    def examination(self, items: tuple[Item, ...], caption: Caption | None) -> JobMessage:
        """The job that examines one caption, or one sample's media."""
        first = items[0]
        job = ExamineJob(self._run, first.benchmark, first.sample, caption, items, self._cap)
        topic = _examining_topic(first)
        return self._message(job, items, topic, topic)

    def _message(
        self,
        message: CaptionJob | ExamineJob | Verdicts,
        items: tuple[Item, ...],
        topic: str,
        *stages: str,
    ) -> JobMessage:
        key = f"{message.run}/{message.benchmark}/{message.sample}"
        indices = tuple(range(item.first, item.first + item.size) for item in items)
        return JobMessage(Message(topic, key, self._codec.write(message)), indices, stages)


def _examining_topic(item: Item) -> str:
    return _TOPIC_OF_ROLE[benchmark(item.benchmark).role]


async def publish_all(stream: JobStream, messages: Sequence[Message]) -> list[Exception | None]:
    """Publish messages concurrently, and return the error of each. Sends begin in order, so
    messages of one key are appended in order.
    """
    errors: list[Exception | None] = []
    for start in range(0, len(messages), _IN_FLIGHT):
        sends = map(stream.publish, messages[start : start + _IN_FLIGHT])
        for error in await asyncio.gather(*sends, return_exceptions=True):
            if error is not None and not isinstance(error, Exception):
                raise error
            errors.append(error)
    return errors


async def publish_jobs(stream: JobStream, messages: AsyncIterator[JobMessage]) -> int:
    """Publish jobs and return how many; verdicts are not counted. Raises StreamUnavailable."""
    published, batch = 0, list[Message]()
    async for job in messages:
        published += bool(job.stages)
        batch.append(job.message)
        if len(batch) == _IN_FLIGHT:
            await _publish_batch(stream, batch)
            batch = []
    await _publish_batch(stream, batch)
    return published


async def _publish_batch(stream: JobStream, batch: list[Message]) -> None:
    for error in await publish_all(stream, batch):
        if error is not None:
            raise error


def jobs(items: list[Item]) -> Iterator[tuple[Item, ...]]:
    """Group items into jobs: one benchmark, one sample, one source."""
    for _, group in groupby(items, key=lambda item: (item.benchmark, item.sample)):
        members = tuple(group)
        for source in Source:
            job = tuple(item for item in members if item.source is source)
            if job:
                yield job
