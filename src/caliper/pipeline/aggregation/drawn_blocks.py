"""Asks the questions of runs block by block, until a rule says that the answer is sure.

A block is published once all outcomes of the blocks before it are in, and the rule has looked at
them; questions it no longer needs are left out. So the questions asked, and the end of the run,
depend on the outcomes alone: not on their order of arrival, nor on crashes and takeovers.
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Container,
    Iterable,
    Iterator,
    Mapping,
)
from dataclasses import dataclass, field, replace
from weakref import WeakKeyDictionary

from caliper.core.outcome import Reason, Scored
from caliper.core.question import Failure, Item, Question
from caliper.core.run import RunSpec
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.planning.job_queue import write_queue
from caliper.pipeline.planning.publication_order import read_shuffled
from caliper.pipeline.planning.publisher import JobMessage, RunJobs
from caliper.pipeline.store.runs import read_starts
from caliper.ports.codec import Codec
from caliper.ports.stages import StopRule

RuleOf = Callable[[RunLedger], Awaitable[StopRule]]
CaptionsOf = Callable[
    [RunSpec, Iterable[tuple[str, str]]], Awaitable[Mapping[tuple[str, str], str | Failure]]
]
"""Finds the captions of some samples of a run, by benchmark and name, or why there is none."""
PublishBlock = Callable[[RunLedger, AsyncIterator[JobMessage]], Awaitable[None]]


@dataclass(slots=True)
class _Draw:
    """The draw of a run: its rule, the indices of its blocks by the first repeat of each question,
    the number of blocks `seen` by the rule, and the questions `drawn` from them.
    """

    rule: StopRule
    blocks: list[dict[int, range]]
    seen: int = 0
    drawn: dict[int, range] = field(default_factory=dict)

    @classmethod
    async def of(cls, run: RunLedger, rule: StopRule) -> _Draw:
        """The draw of a run from its first block."""
        return cls(rule, await _blocks(run, rule))

    @property
    def is_over(self) -> bool:
        """Whether the rule has seen all blocks."""
        return self.seen == len(self.blocks)

    def block(self) -> dict[int, range]:
        """The part of the next block that the rule needs."""
        return {
            index: span
            for index, span in self.blocks[self.seen].items()
            if self.rule.is_drawn(index)
        }

    def outcomes(self, run: RunLedger) -> dict[int, float | None]:
        """The score of every question drawn up to and with the next block, None without a score.
        Counts that block as seen.
        """
        self.drawn |= self.block()
        self.seen += 1
        return {index: mean_score(run, span) for index, span in self.drawn.items()}


@dataclass(slots=True)
class _Progress:
    """The draw of a `start` of a run, and the number of blocks `published`."""

    start: int
    draw: _Draw
    published: int = 0


class DrawnBlocks:
    """Publishes the blocks of runs by `publish`. A reopened run is looked at from its first block
    again, and only the missing part of the unanswered block is published.
    """

    def __init__(
        self, codec: Codec, rule_of: RuleOf, captions_of: CaptionsOf, publish: PublishBlock
    ) -> None:
        self._codec, self._rule_of = codec, rule_of
        self._captions_of, self._publish = captions_of, publish
        # By ledger in memory: a reopened run, here or elsewhere, begins again.
        self._progress = WeakKeyDictionary[RunLedger, _Progress]()

    async def advance(self, run: RunLedger) -> None:
        """Look at every answered block, then publish the next one, or end the run.

        A run waits for the plan of its first start. Raises what the rule raises, DataLoss when the
        plan is lost, StoreUnavailable, StreamUnavailable.
        """
        if not run.start:
            return
        progress = await self._progress_of(run)
        draw = progress.draw
        while not draw.is_over:
            missing = _missing(run, draw.block())
            if missing and progress.published <= draw.seen:
                await self._publish(run, self._jobs(run, missing))
                progress.published = draw.seen + 1
            if missing:
                return
            outcomes = draw.outcomes(run)
            # In a thread: a look takes up to a second.
            is_sure = await asyncio.to_thread(draw.rule.is_sure, outcomes, draw.seen)
            if run.start != progress.start or run.due_state is not None:
                # A later start changes the outcomes, and a failed run is not decided.
                return
            if is_sure or draw.is_over:
                run.decide()
                return

    async def _progress_of(self, run: RunLedger) -> _Progress:
        progress = self._progress.get(run)
        if progress is None or progress.start != run.start:
            start, rule = run.start, await self._rule_of(run)
            progress = self._progress[run] = _Progress(start, await _Draw.of(run, rule))
        return progress

    async def _jobs(self, run: RunLedger, indices: Container[int]) -> AsyncIterator[JobMessage]:
        starts, captions = await read_starts(run.store), dict[str, dict[str, str]]()
        lacking = dict[str, dict[str, Failure]]()
        cap = starts.terms.token_cap(starts.number)

        async def batches() -> AsyncIterator[list[Item]]:
            async for items in read_shuffled(run.store, run.summary, run.spec.seed):
                marked = (_drawn(item, indices) for item in items)
                drawn_items = [item for item in marked if item is not None]
                samples = {(item.benchmark, item.sample) for item in drawn_items}
                for (name, sample), caption in (await self._captions_of(run.spec, samples)).items():
                    if isinstance(caption, str):
                        captions.setdefault(name, {})[sample] = caption
                    else:
                        lacking.setdefault(name, {})[sample] = caption
                yield drawn_items

        sources = {part.name: part.checkpoint_sources for part in run.spec.benchmarks}
        async for job in RunJobs(run.run, self._codec, captions, cap, lacking).of(batches, sources):
            yield job


async def queue_block(run: RunLedger, jobs: AsyncIterator[JobMessage]) -> None:
    """Put the jobs of a block into the queue of the run, for the dispatcher. The block before is
    answered, so its queue is not needed. Raises StoreUnavailable or StoreFull.
    """
    start = run.start
    shards = await write_queue(run.store, start, jobs)
    # A later start has its own queue, and draws again.
    if run.start == start:
        run.queue_block(shards)


def _missing(run: RunLedger, block: Mapping[int, range]) -> set[int]:
    indices = (index for spans in block.values() for index in spans)
    return {i for i in indices if i in run.retries or run.ledger.lacks(range(i, i + 1))}


def _drawn(item: Item, indices: Container[int]) -> Item | None:
    """The item with its other questions marked as not drawn; None if none is drawn."""
    ordinals = {question.ordinal for index, question, _ in item.positions() if index in indices}
    questions = (
        question
        if question.ordinal in ordinals or question.unscored is not None
        else replace(question, unscored=Reason.NOT_DRAWN)
        for question in item.questions
    )
    return replace(item, questions=tuple(questions)) if ordinals else None


async def _blocks(run: RunLedger, rule: StopRule) -> list[dict[int, range]]:
    """The indices of every block, by the first repeat of each question."""
    spans: dict[int, range] = {}
    async for items in run.plan():
        spans |= {span.start: span for item in items for _, span in question_spans(item)}
    blocks = [{index: spans.pop(index) for index in block} for block in rule.blocks]
    if not blocks:
        return [spans]
    blocks[0] |= spans
    return blocks


def mean_score(run: RunLedger, span: range) -> float | None:
    """The mean score of the repeats of a question, None if none has one."""
    outcomes = map(run.ledger.outcome, span)
    scores = [outcome.score for outcome in outcomes if isinstance(outcome, Scored)]
    return float(sum(scores) / len(scores)) if scores else None


def question_spans(item: Item) -> Iterator[tuple[Question[object], range]]:
    """The questions of an item, each with the dense indices of its repeats."""
    first = item.first
    for question in item.questions:
        yield question, range(first, first + question.repeats)
        first += question.repeats


async def decide_again(run: RunLedger, rule: StopRule) -> int:
    """Show a rule the blocks of an ended run, as long as all that it needs of them was drawn, and
    return how many it saw.
    """
    draw = await _Draw.of(run, rule)
    while not draw.is_over:
        indices = (index for span in draw.block().values() for index in span)
        if any(run.ledger.outcome(index) is None for index in indices):
            break
        if rule.is_sure(draw.outcomes(run), draw.seen):
            break
    return draw.seen
