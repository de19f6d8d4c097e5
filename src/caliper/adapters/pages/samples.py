"""Selects the verdicts to browse on the page, from any number of them."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from caliper.core.report import VerdictRow
from caliper.pipeline.reports.facets import Facet, facet_of
from caliper.pipeline.store.plan import Captions

LIMIT = 500
_Stratum = tuple[str, str]
# A heap of (-rank, index, row): its smallest entry is the row of the highest rank.
_Heap = list[tuple[int, int, VerdictRow]]


@dataclass(frozen=True, slots=True)
class Sample:
    """A verdict to browse, with its caption (empty if there is none)."""

    row: VerdictRow
    caption: str

    def has(self, text: str) -> bool:
        """Whether one of the texts that pages search has this one, in lower case."""
        row = self.row
        texts = (row.question, row.expected, row.explanation, row.reply, row.item, row.sample)
        return any(text in each.lower() for each in (self.caption, *texts))


@dataclass(frozen=True, slots=True)
class Selection:
    """Verdicts to browse, and how many the run has of each facet."""

    samples: tuple[Sample, ...] = ()
    counts: Mapping[Facet, int] = field(default_factory=dict)


def select_all(verdicts: Iterable[VerdictRow], captions: Captions) -> Selection:
    """All verdicts, in their order."""
    rows = list(verdicts)
    return Selection(
        tuple(Sample(row, _caption(row, captions)) for row in rows), Counter(map(facet_of, rows))
    )


def choose(verdicts: Iterable[VerdictRow], captions: Captions, limit: int = LIMIT) -> Selection:
    """Choose at most `limit` verdicts of every kind; wrong and Unscored ones come first.

    Benchmarks share the limit evenly; shares that one cannot fill go to the others. Within a
    benchmark, each outcome of each dimension has a turn, as long as it has verdicts. A digest of
    the question decides which verdicts represent a dimension, so the choice does not depend on the
    order of the verdicts.
    """
    heaps, counts = _lowest_ranks(verdicts, limit)
    ordered = {name: _take_turns(strata) for name, strata in heaps.items()}
    shares = _share_out({name: len(rows) for name, rows in ordered.items()}, limit)
    entries = [
        (_urgency(row), turn, name, row)
        for name in sorted(ordered)
        for turn, row in enumerate(ordered[name][: shares[name]])
    ]
    # Benchmarks take turns too; the sort is stable and keeps the order within them.
    entries.sort(key=lambda entry: entry[:3])
    return Selection(tuple(Sample(row, _caption(row, captions)) for *_, row in entries), counts)


def _caption(row: VerdictRow, captions: Captions) -> str:
    return captions.get(row.benchmark, {}).get(row.sample, "")


def _lowest_ranks(
    verdicts: Iterable[VerdictRow], limit: int
) -> tuple[dict[str, dict[_Stratum, _Heap]], Counter[Facet]]:
    """The `limit` rows of lowest rank per stratum (no others can be chosen), and the counts."""
    heaps: dict[str, dict[_Stratum, _Heap]] = {}
    counts: Counter[Facet] = Counter()
    for row in verdicts:
        counts[facet_of(row)] += 1
        stratum = (row.dimension, row.outcome)
        heap = heaps.setdefault(row.benchmark, {}).setdefault(stratum, [])
        entry = (-_rank(row), row.index, row)
        if len(heap) < limit:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)
    return heaps, counts


def _urgency(row: VerdictRow) -> int:
    if row.score is None or row.outcome == "wrong":
        return 0
    return 2 if row.outcome == "correct" else 1


def _rank(row: VerdictRow) -> int:
    name = f"{row.question_id}\0{row.repeat}\0{row.index}"
    return int.from_bytes(sha256(name.encode("utf-8", "surrogatepass")).digest()[:8])


def _take_turns(strata: Mapping[_Stratum, _Heap]) -> list[VerdictRow]:
    """The rows, one of every stratum after the other."""
    rounds = [
        (turn, stratum, row)
        for stratum, heap in strata.items()
        for turn, (_, _, row) in enumerate(sorted(heap, key=lambda entry: (-entry[0], entry[1])))
    ]
    rounds.sort(key=lambda entry: entry[:2])
    return [row for *_, row in rounds]


def _share_out(demand: Mapping[str, int], limit: int) -> dict[str, int]:
    """Even shares of `limit`, none above its demand; the smallest demand is served first."""
    shares: dict[str, int] = {}
    left = limit
    for place, name in enumerate(sorted(demand, key=lambda name: (demand[name], name))):
        shares[name] = min(demand[name], left // (len(demand) - place))
        left -= shares[name]
    return shares
