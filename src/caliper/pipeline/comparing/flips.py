"""Pairs the questions of two runs and finds which got better or worse.

Scores come from the ledgers, so texts are read only for the questions that are listed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

from caliper.analysis.flips import Change, Changes, Flip, Flips
from caliper.core.outcome import Scored
from caliper.core.question import Item
from caliper.core.report import VerdictRow
from caliper.core.run import BenchmarkSpec
from caliper.pipeline.ledger.report import id_of, verdict_rows
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.store.plan import Captions

_Row = tuple[bytes, str, int, float | None]


@dataclass(slots=True)
class Questions:
    """The questions of a run that have an outcome: index and score by a key that is the same in
    every run. About 200 bytes per question.
    """

    scores: dict[bytes, tuple[int, float | None]] = field(default_factory=dict)

    @classmethod
    async def of(cls, run: RunLedger) -> Questions:
        """The questions of a run. Raises InvalidInput when its plan is lost, StoreUnavailable."""
        questions = cls()
        async for rows in _scores(run):
            questions.scores.update((key, (index, score)) for key, _, index, score in rows)
        return questions

    async def changes(self, run: RunLedger, limit: int) -> Changes:
        """The changes from this run to another. Raises as `of` does."""
        result, paired = Changes(limit), 0
        async for rows in _scores(run):
            changes: list[Change] = []
            for key, benchmark, index, score in rows:
                before = self.scores.get(key)
                paired += before is not None
                if before is None or before[1] is None or score is None:
                    result.unpaired += 1
                elif before[1] == score:
                    result.same += 1
                else:
                    changes.append(Change(benchmark, before[0], index, score - before[1]))
            result.add(changes)
        result.unpaired += len(self.scores) - paired
        return result


Captioned = tuple[RunLedger, Captions]
"""A run with its captions."""


async def flips(first: Captioned, second: Captioned, changes: Changes) -> Flips:
    """The counts of changes, with rows and captions of the largest; changes for the worse first.

    Raises InvalidInput when plan or evidence are lost, StoreUnavailable.
    """
    listed = [*changes.largest(better=False), *changes.largest(better=True)]
    before = await _captioned_rows(*first, {change.first for change in listed})
    after = await _captioned_rows(*second, {change.second for change in listed})
    return Flips(
        better=changes.better,
        worse=changes.worse,
        same=changes.same,
        unpaired=changes.unpaired,
        listed=tuple(_flip(before[change.first], after[change.second]) for change in listed),
    )


_CaptionedRow = tuple[VerdictRow, str]


def _flip(before: _CaptionedRow, after: _CaptionedRow) -> Flip:
    return Flip(before[0], after[0], (before[1], after[1]))


async def _captioned_rows(
    run: RunLedger, captions: Captions, indices: set[int]
) -> dict[int, _CaptionedRow]:
    """Rows by index, each with its caption."""
    if not indices:
        return {}
    rows = verdict_rows(run.spec, run.plan, run.ledger, indices)
    by_index = {row.index: row async for shard in rows for row in shard}
    return {
        index: (row, captions.get(row.benchmark, {}).get(row.sample, ""))
        for index, row in by_index.items()
    }


async def _scores(run: RunLedger) -> AsyncIterator[Iterator[_Row]]:
    parts = {part.name: part for part in run.spec.benchmarks}
    async for items in run.plan():
        yield (row for item in items for row in _positions(run, parts[item.benchmark], item))


def _positions(run: RunLedger, part: BenchmarkSpec, item: Item) -> Iterator[_Row]:
    for index, question, repeat in item.positions():
        outcome = run.ledger.outcome(index)
        if outcome is not None:
            key = f"{item.benchmark}/{id_of(part, item, question)}/{repeat}"
            score = float(outcome.score) if isinstance(outcome, Scored) else None
            yield key.encode(), item.benchmark, index, score
