"""The questions of two runs, paired by what they are: which got better or worse.

Scores come from the ledgers, so that texts are read of those questions alone that are listed.
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
    """The questions of a run that have an outcome: the index and the score of each by a key
    that is free of the run, some 200 bytes a question.
    """

    known: dict[bytes, tuple[int, float | None]] = field(default_factory=dict)

    @classmethod
    async def of(cls, run: RunLedger) -> Questions:
        """Those of a run. Raises InvalidInput when its plan is lost, StoreUnavailable."""
        found = cls()
        async for rows in _scores(run):
            found.known.update((key, (index, score)) for key, _, index, score in rows)
        return found

    async def changes(self, run: RunLedger, limit: int) -> Changes:
        """What changed from these to another run's. Raises as `of` does."""
        counted, met = Changes(limit), 0
        async for rows in _scores(run):
            changes: list[Change] = []
            for key, benchmark, index, score in rows:
                before = self.known.get(key)
                met += before is not None
                if before is None or before[1] is None or score is None:
                    counted.unpaired += 1
                elif before[1] == score:
                    counted.same += 1
                else:
                    changes.append(Change(benchmark, before[0], index, score - before[1]))
            counted.take(changes)
        counted.unpaired += len(self.known) - met
        return counted


Captioned = tuple[RunLedger, Captions]
"""A run with its captions."""


async def flips(first: Captioned, second: Captioned, counted: Changes) -> Flips:
    """The counted changes, with rows and captions of the largest: first those for the worse.

    Raises InvalidInput when plan or evidence are lost, StoreUnavailable.
    """
    listed = [*counted.largest(better=False), *counted.largest(better=True)]
    before = await _told(*first, {change.first for change in listed})
    after = await _told(*second, {change.second for change in listed})
    return Flips(
        better=counted.better,
        worse=counted.worse,
        same=counted.same,
        unpaired=counted.unpaired,
        listed=tuple(_flip(before[one.first], after[one.second]) for one in listed),
    )


_Told = tuple[VerdictRow, str]


def _flip(before: _Told, after: _Told) -> Flip:
    return Flip(before[0], after[0], (before[1], after[1]))


async def _told(run: RunLedger, captions: Captions, wanted: set[int]) -> dict[int, _Told]:
    """Rows by index, each with its caption."""
    if not wanted:
        return {}
    rows = verdict_rows(run.spec, run.plan, run.ledger, wanted)
    found = {row.index: row async for shard in rows for row in shard}
    return {
        index: (row, captions.get(row.benchmark, {}).get(row.sample, ""))
        for index, row in found.items()
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
