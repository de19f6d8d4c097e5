"""Which verdicts the page lets people browse, out of any number of them."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from caliper.core.report import VerdictRow

LIMIT = 500
_Stratum = tuple[int, str, str]
# (minus rank, index, row): the least of a heap is the row with the greatest rank.
_Kept = list[tuple[int, int, VerdictRow]]


@dataclass(frozen=True, slots=True)
class Sample:
    """A verdict to browse, with the caption it is about (empty when there is none)."""

    row: VerdictRow
    caption: str


def choose(
    verdicts: Iterable[VerdictRow],
    captions: Mapping[tuple[str, str], str],
    limit: int = LIMIT,
) -> tuple[Sample, ...]:
    """At most `limit` verdicts: wrong and Unscored ones first, then the rest, then correct.

    `captions` go by (benchmark, sample). Benchmarks share the limit evenly, and what one
    cannot fill goes to the others; within a benchmark dimensions and outcomes take turns.
    Which verdicts of many stand for a dimension is decided by a digest of their question,
    so the same verdicts give the same choice in whatever order they come.
    """
    kept = _keep(verdicts, limit)
    ordered = {name: _take_turns(strata) for name, strata in kept.items()}
    room = _share_out({name: len(rows) for name, rows in ordered.items()}, limit)
    chosen = [
        (urgency, turn, name, row)
        for name in sorted(ordered)
        for turn, (urgency, row) in enumerate(ordered[name][: room[name]])
    ]
    # Benchmarks take turns too; sorting is stable, so the rest of the order stays.
    chosen.sort(key=lambda entry: entry[:3])
    return tuple(Sample(row, captions.get((row.benchmark, row.sample), "")) for *_, row in chosen)


def _keep(verdicts: Iterable[VerdictRow], limit: int) -> dict[str, dict[_Stratum, _Kept]]:
    """The `limit` rows of least rank of every stratum: all that can ever be chosen."""
    kept: dict[str, dict[_Stratum, _Kept]] = {}
    for row in verdicts:
        stratum = (_urgency(row), row.dimension, row.outcome)
        heap = kept.setdefault(row.benchmark, {}).setdefault(stratum, [])
        entry = (-_rank(row), row.index, row)
        if len(heap) < limit:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)
    return kept


def _urgency(row: VerdictRow) -> int:
    if row.score is None or row.outcome == "wrong":
        return 0
    return 2 if row.outcome == "correct" else 1


def _rank(row: VerdictRow) -> int:
    name = f"{row.question_id}\0{row.repeat}\0{row.index}"
    return int.from_bytes(sha256(name.encode("utf-8", "surrogatepass")).digest()[:8])


def _take_turns(strata: Mapping[_Stratum, _Kept]) -> list[tuple[int, VerdictRow]]:
    """(urgency, row): the most urgent first, within an urgency one of each stratum a round."""
    rounds = [
        (stratum[0], turn, stratum[1:], row)
        for stratum, heap in strata.items()
        for turn, (_, _, row) in enumerate(sorted(heap, key=lambda entry: (-entry[0], entry[1])))
    ]
    rounds.sort(key=lambda entry: entry[:3])
    return [(urgency, row) for urgency, _, _, row in rounds]


def _share_out(wanted: Mapping[str, int], limit: int) -> dict[str, int]:
    """Even shares of `limit`, none above what is wanted, in order of need."""
    shares: dict[str, int] = {}
    left = limit
    for place, name in enumerate(sorted(wanted, key=lambda name: (wanted[name], name))):
        shares[name] = min(wanted[name], left // (len(wanted) - place))
        left -= shares[name]
    return shares
