"""Pairs the questions of two runs and finds which got better or worse.

Scores come from the ledgers, so texts are read only for the questions that are listed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

from caliper.analysis.flips import Change, Changes, Flip, Flips
from caliper.core.outcome import Outcome, Scored
from caliper.core.question import Item
from caliper.core.report import VerdictRow
from caliper.core.run import BenchmarkSpec
from caliper.pipeline.ledger.report import id_of, verdict_rows
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.store.plan import Captions

_Row = tuple[bytes, str, int, Outcome | None]


@dataclass(slots=True)
class Questions:
    """The questions of a run that have an outcome: index and score by a key that is the same in
    every run. About 200 bytes per question. `unknown` are the keys of the other planned ones.
    """

    scores: dict[bytes, tuple[int, float | None]] = field(default_factory=dict)
    unknown: set[bytes] = field(default_factory=set)

    @classmethod
    async def of(cls, run: RunLedger) -> Questions:
        """The questions of a run. Raises InvalidInput when its plan is lost, StoreUnavailable."""
        questions = cls()
        async for rows in _rows(run):
            for key, _, index, outcome in rows:
                if outcome is None:
                    questions.unknown.add(key)
                else:
                    questions.scores[key] = (index, _score(outcome))
        return questions

    async def changes(self, run: RunLedger, limit: int) -> Changes:
        """The changes from this run to another. Raises as `of` does."""
        result, paired = Changes(limit), 0
        async for rows in _rows(run):
            changes: list[Change] = []
            for key, benchmark, index, outcome in rows:
                place, before = self.scores.get(key, (None, None))
                paired += place is not None
                after = _score(outcome)
                if place is None or before is None or after is None:
                    result.unpaired += place is not None or outcome is not None
                    if place is not None and before is not None:
                        result.left_out[0].add(place)
                    elif after is not None and (place is not None or key in self.unknown):
                        result.left_out[1].add(index)
                elif before == after:
                    result.same += 1
                else:
                    changes.append(Change(benchmark, place, index, after - before))
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


def _score(outcome: Outcome | None) -> float | None:
    return float(outcome.score) if isinstance(outcome, Scored) else None


async def _rows(run: RunLedger) -> AsyncIterator[Iterator[_Row]]:
    parts = {part.name: part for part in run.spec.benchmarks}
    async for items in run.plan():
        yield (row for item in items for row in _positions(run, parts[item.benchmark], item))


def _positions(run: RunLedger, part: BenchmarkSpec, item: Item) -> Iterator[_Row]:
    for index, question, repeat in item.positions():
        key = f"{item.benchmark}/{id_of(part, item, question)}/{repeat}"
        yield key.encode(), item.benchmark, index, run.ledger.outcome(index)
