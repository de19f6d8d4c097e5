"""Asks the questions of a run block by block, until a rule says that the answer is sure.

A block is published once all outcomes of the blocks before it are in, and the rule has looked at
them. So what is asked, and where the run ends, depends on the outcomes alone: not on the order in
which they come, and not on how often the process was killed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field, replace

from caliper.core.outcome import Reason, Scored
from caliper.core.question import Item, Question
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.planning.publication_order import read_shuffled
from caliper.pipeline.planning.publisher import RunJobs, publish_jobs
from caliper.pipeline.store.plan import Captions
from caliper.pipeline.store.runs import read_starts
from caliper.ports.codec import Codec
from caliper.ports.stages import StopRule
from caliper.ports.stream import JobStream

RuleOf = Callable[[RunLedger], Awaitable[StopRule]]


@dataclass(slots=True)
class _Progress:
    """How far a run is: its rule, the indices of its blocks by the first repeat of each question,
    how many blocks the rule has `seen`, and how many were `asked`.
    """

    rule: StopRule
    blocks: list[dict[int, range]]
    seen: int = 0
    asked: int = 0


@dataclass(slots=True)
class DrawnBlocks:
    """Publishes the blocks of one run. `captions` returns the captions that are known, and
    `published` is called with the number of jobs.
    """

    stream: JobStream
    codec: Codec
    rule_of: RuleOf
    captions: Callable[[], Captions]
    published: Callable[[int], None]
    _progress: _Progress | None = field(default=None, init=False)

    async def advance(self, run: RunLedger) -> None:
        """Look at every block that is answered, then publish the next one, or end the run.

        Raises what the rule raises, DataLoss when the plan is lost, StoreUnavailable,
        StreamUnavailable.
        """
        if self._progress is None:
            rule = await self.rule_of(run)
            self._progress = _Progress(rule, await _blocks(run, rule))
        progress = self._progress
        while progress.seen < len(progress.blocks):
            missing = _missing(run, progress.blocks[progress.seen])
            if missing and progress.asked > progress.seen:
                return
            if missing:
                progress.asked = progress.seen + 1
                await self._publish(run, missing)
                return
            progress.seen += 1
            done = progress.blocks[: progress.seen]
            if progress.rule.is_sure(_outcomes(run, done), progress.seen):
                run.decide()
                return

    async def _publish(self, run: RunLedger, indices: Container[int]) -> None:
        starts = await read_starts(run.store)
        cap = starts.terms.token_cap(starts.number)
        jobs = RunJobs(run.run, self.codec, self.captions(), cap)

        async def drawn() -> AsyncIterator[list[Item]]:
            async for items in read_shuffled(run.store, run.summary, run.spec.seed):
                found = (_drawn(item, indices) for item in items)
                yield [item for item in found if item is not None]

        sources = {part.name: part.checkpoint_sources for part in run.spec.benchmarks}
        self.published(await publish_jobs(self.stream, jobs.of(drawn, sources)))


def _missing(run: RunLedger, block: Mapping[int, range]) -> set[int]:
    indices = (index for spans in block.values() for index in spans)
    return {i for i in indices if i in run.retries or run.ledger.lacks(range(i, i + 1))}


def _drawn(item: Item, indices: Container[int]) -> Item | None:
    """The item with its other questions marked as not drawn; None if none is drawn."""
    drawn = {question.ordinal for index, question, _ in item.positions() if index in indices}
    questions = (
        question
        if question.ordinal in drawn or question.unscored is not None
        else replace(question, unscored=Reason.NOT_DRAWN)
        for question in item.questions
    )
    return replace(item, questions=tuple(questions)) if drawn else None


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


def _outcomes(run: RunLedger, blocks: list[dict[int, range]]) -> dict[int, float | None]:
    """The score of every question of some blocks, None without one."""
    return {first: mean_score(run, span) for block in blocks for first, span in block.items()}


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
    """Show a rule the blocks of a run that has ended, and return how many it saw."""
    blocks = await _blocks(run, rule)
    for seen, block in enumerate(blocks):
        drawn = [run.ledger.outcome(index) for span in block.values() for index in span]
        if all(outcome is None for outcome in drawn):
            return seen
        if rule.is_sure(_outcomes(run, blocks[: seen + 1]), seen + 1):
            return seen + 1
    return len(blocks)
