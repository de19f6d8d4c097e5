"""The verdicts that people are asked about: the doubtful first, or a random sample.

Doubtful is a verdict that another judge contradicts (the lexical judge is one), that repeats of the
same judge contradict, or whose reply had to be repaired; in this order, and the more of it the more
doubtful.

A sample by doubt shows where a judge errs; figures of all questions need a random one. There,
doubtful questions are drawn twice as often, each with a known probability: in each stratum, such as
a task, doubtful and other questions are two simple random samples without replacement. A larger
sample holds the smaller one. Source: stratified sampling, Cochran, Sampling Techniques (1977),
chapter 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b

from caliper.core.report import VerdictRow

_DOUBTFUL_WEIGHT = 2


class Doubt(StrEnum):
    """Why a verdict is doubtful, the strongest reason first."""

    JUDGES = "judges disagree"
    REPEATS = "repeats disagree"
    REPAIRED = "reply repaired"


def doubts_of(
    rows: Sequence[VerdictRow], others: Sequence[Mapping[int, float | None]]
) -> tuple[Doubt, ...]:
    """Why the verdicts of a question, one per repeat, are doubtful. `others` are the scores that
    other judges gave it, by repeat.
    """
    scores = {row.repeat: row.score for row in rows}
    signs = {
        Doubt.JUDGES: any(
            other.get(repeat, score) != score
            for other in others
            for repeat, score in scores.items()
        ),
        Doubt.REPEATS: len(set(scores.values())) > 1,
        Doubt.REPAIRED: any(row.repaired for row in rows),
    }
    return tuple(doubt for doubt in Doubt if signs[doubt])


def confidence_of(doubts: Sequence[Doubt]) -> float:
    """A number for sorting, from 1 without doubts to 0 with all: `JUDGES` outweighs the others."""
    places = list(Doubt)
    bits = sum(1 << (len(places) - 1 - places.index(doubt)) for doubt in doubts)
    return round(1 - bits / ((1 << len(places)) - 1), 3)


@dataclass(frozen=True, slots=True)
class LabelUnit:
    """A question that people may be asked: its id, stratum, and whether its verdict is doubtful."""

    id: str
    stratum: str
    is_doubtful: bool


def draw_for_labels(units: Sequence[LabelUnit], size: int, seed: str) -> dict[str, float]:
    """The ids of `size` questions per stratum, or all, in random order, each with the probability
    that it is drawn.
    """
    groups: dict[str, tuple[list[LabelUnit], list[LabelUnit]]] = {}
    for unit in units:
        groups.setdefault(unit.stratum, ([], []))[unit.is_doubtful].append(unit)
    probabilities: dict[str, float] = {}
    for others, doubtful in groups.values():
        number = _doubtful_number(len(others), len(doubtful), size)
        for group, take in ((doubtful, number), (others, size - number)):
            sample = sorted(group, key=lambda unit: _rank(seed, unit.id))[:take]
            probabilities |= {unit.id: len(sample) / len(group) for unit in sample}
    return dict(sorted(probabilities.items(), key=lambda item: _rank(seed, item[0])))


def _doubtful_number(others: int, doubtful: int, size: int) -> int:
    """How many of `size` questions are doubtful ones: not all, and not none, of what there is."""
    weight = _DOUBTFUL_WEIGHT * doubtful
    number = round(size * weight / (weight + others))
    number = min(max(number, min(doubtful, 1)), size - min(others, 1))
    return min(doubtful, max(number, size - others))


def _rank(seed: str, name: str) -> bytes:
    return blake2b(name.encode("utf-8", "surrogatepass"), key=seed.encode()[:64]).digest()
