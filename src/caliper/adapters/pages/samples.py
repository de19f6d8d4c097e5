"""Selects the verdicts to browse on the page, from any number of them."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from caliper.core.report import VerdictRow
from caliper.pipeline.store.plan import Captions

LIMIT = 500
_Stratum = tuple[int, str, str]
# A heap of (-rank, index, row): its smallest entry is the row of the highest rank.
_Heap = list[tuple[int, int, VerdictRow]]


@dataclass(frozen=True, slots=True)
class Sample:
    """A verdict to browse, with its caption (empty if there is none)."""

    row: VerdictRow
    caption: str


def choose(
    verdicts: Iterable[VerdictRow], captions: Captions, limit: int = LIMIT
) -> tuple[Sample, ...]:
    """Choose at most `limit` verdicts: wrong and Unscored ones first, correct ones last.

    Benchmarks share the limit evenly; shares that
    one cannot fill go to the others. Within a benchmark, dimensions and outcomes take turns.
    A digest of the question decides which verdicts represent a dimension, so the choice does
    not depend on the order of the verdicts.
    """
    heaps = _lowest_ranks(verdicts, limit)
    ordered = {name: _take_turns(strata) for name, strata in heaps.items()}
    shares = _share_out({name: len(rows) for name, rows in ordered.items()}, limit)
    chosen = [
        (urgency, turn, name, row)
        for name in sorted(ordered)
        for turn, (urgency, row) in enumerate(ordered[name][: shares[name]])
    ]
    # Benchmarks take turns too; the sort is stable and keeps the order within them.
    chosen.sort(key=lambda entry: entry[:3])
    return tuple(
        Sample(row, captions.get(row.benchmark, {}).get(row.sample, "")) for *_, row in chosen
    )


def _lowest_ranks(verdicts: Iterable[VerdictRow], limit: int) -> dict[str, dict[_Stratum, _Heap]]:
    """The `limit` rows of lowest rank per stratum: no others can be chosen."""
    heaps: dict[str, dict[_Stratum, _Heap]] = {}
    for row in verdicts:
        stratum = (_urgency(row), row.dimension, row.outcome)
        heap = heaps.setdefault(row.benchmark, {}).setdefault(stratum, [])
        entry = (-_rank(row), row.index, row)
        if len(heap) < limit:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)
    return heaps


def _urgency(row: VerdictRow) -> int:
    if row.score is None or row.outcome == "wrong":
        return 0
    return 2 if row.outcome == "correct" else 1


def _rank(row: VerdictRow) -> int:
    name = f"{row.question_id}\0{row.repeat}\0{row.index}"
    return int.from_bytes(sha256(name.encode("utf-8", "surrogatepass")).digest()[:8])


def _take_turns(strata: Mapping[_Stratum, _Heap]) -> list[tuple[int, VerdictRow]]:
    """(urgency, row), most urgent first; strata of equal urgency take turns."""
    rounds = [
        (stratum[0], turn, stratum[1:], row)
        for stratum, heap in strata.items()
        for turn, (_, _, row) in enumerate(sorted(heap, key=lambda entry: (-entry[0], entry[1])))
    ]
    rounds.sort(key=lambda entry: entry[:3])
    return [(urgency, row) for urgency, _, _, row in rounds]


def _share_out(demand: Mapping[str, int], limit: int) -> dict[str, int]:
    """Even shares of `limit`, none above its demand; the smallest demand is served first."""
    shares: dict[str, int] = {}
    left = limit
    for place, name in enumerate(sorted(demand, key=lambda name: (demand[name], name))):
        shares[name] = min(demand[name], left // (len(demand) - place))
        left -= shares[name]
    return shares
