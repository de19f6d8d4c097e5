"""The state of a comparison before its first verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from caliper.analysis.draw_order import Unit
from caliper.analysis.sequential.estimate import Population
from caliper.analysis.sequential.measure import Array, Codes, Measure
from caliper.analysis.significance import mcnemar

Scores = Mapping[int, float | None]
DRIFT_LEVEL = 0.01
_SHRINKAGE = 10.0


@dataclass(frozen=True, slots=True)
class KnownScores:
    """Scores by index; None for a question without one.

    `baseline` has the verdicts of the baseline, and `rules` those of lexical rules on the
    captions of baseline and candidate. The verdicts of `reused` questions are the baseline's, since
    the requests are identical. `repeats` are fresh verdicts on the baseline's captions of a random
    subset: without any, the judge counts as one that flips half of its verdicts. `deterministic`:
    the judge is rules or a replay, and gives the same verdict every time.
    """

    baseline: Scores
    rules: Sequence[Scores] = ()
    reused: frozenset[int] = frozenset()
    repeats: Scores = field(default_factory=dict)
    deterministic: bool = False

    def drift(self) -> float:
        """The p-value of no drift between the baseline's verdicts and their repeats (McNemar)."""
        pairs = [(self.baseline.get(index), fresh) for index, fresh in self.repeats.items()]
        known = [(old, new) for old, new in pairs if old is not None and new is not None]
        return mcnemar(sum(new < old for old, new in known), sum(new > old for old, new in known))


@dataclass(frozen=True, slots=True)
class Strata:
    """The questions that a check is about, with a score in the baseline.

    `codes` are the strata by index, `population` what is known of them, `controls` the influences
    in the baseline and of rules by index (see `estimate`). `on_pair` (K, 2) are the factors of c
    and h in an influence at the baseline's figures.
    """

    codes: Mapping[int, int]
    population: Population
    controls: Mapping[int, Array]
    on_pair: Array


def strata_of(
    units: Sequence[Unit], names: Sequence[str], measure: Measure, known: KnownScores
) -> Strata:
    """The questions of the strata `names`, in this order."""
    places = {name: place for place, name in enumerate(names)}
    codes = {
        unit.index: places[unit.stratum]
        for unit in units
        if unit.stratum in places and known.baseline.get(unit.index) is not None
    }
    indexes = list(codes)
    code = np.fromiter(codes.values(), dtype=np.intp)
    is_open = np.array([index not in known.reused for index in indexes], dtype=bool)
    pairs = _filled_pairs(measure, known.baseline, indexes)
    count = len(names)
    whole, size = np.bincount(code, minlength=count), np.bincount(code[is_open], minlength=count)
    correct, hit = (
        np.bincount(code[~is_open], pairs[~is_open, column], minlength=count).astype(np.float64)
        for column in (0, 1)
    )
    base, *factors = measure.at(*_means(pairs, code, count))
    on_pair = np.column_stack(factors)
    noise = np.zeros(count)
    if not known.deterministic:
        noise = 2 * _noise(known, measure, codes, on_pair)
    open_, all_ = size.astype(np.float64), whole.astype(np.float64)
    columns = [
        _centred_influence(_filled_pairs(measure, scores, indexes), measure, code, is_open)
        for scores in (known.baseline, *known.rules)
    ]
    controls = dict(zip(indexes, np.column_stack(columns), strict=True))
    return Strata(codes, Population(open_, all_, correct, hit, base, noise), controls, on_pair)


def _filled_pairs(measure: Measure, scores: Scores, indexes: Sequence[int]) -> Array:
    """Pairs (c, h), shape (n, 2): nan where there is no score."""
    values = [scores.get(index) for index in indexes]
    pairs = measure.pairs(0.0 if value is None else value for value in values)
    pairs[[value is None for value in values]] = np.nan
    return pairs


def _means(pairs: Array, code: Codes, count: int) -> tuple[Array, Array]:
    present = ~np.isnan(pairs[:, 0])
    number = np.maximum(np.bincount(code[present], minlength=count), 1)
    sums = [np.bincount(code[present], pairs[present, one], minlength=count) for one in (0, 1)]
    return sums[0] / number, sums[1] / number


def _centred_influence(pairs: Array, measure: Measure, code: Codes, is_open: Array) -> Array:
    """Influences, centred over the open questions of each stratum; 0 where there is no score."""
    count = int(code.max(initial=-1)) + 1
    _, on_correct, on_hit = measure.at(*_means(pairs, code, count))
    influence = on_correct[code] * pairs[:, 0] + on_hit[code] * pairs[:, 1]
    counted = is_open & ~np.isnan(influence)
    number = np.maximum(np.bincount(code[counted], minlength=count), 1)
    mean = np.bincount(code[counted], influence[counted], minlength=count) / number
    centred: Array = np.nan_to_num(influence - mean[code])
    return centred


def _noise(known: KnownScores, measure: Measure, codes: Mapping[int, int], on_pair: Array) -> Array:
    """The variance of an influence if the same is judged again; shape (K,).

    Half the squared change, with one more flip than was seen: a judge that flipped none of thirty
    verdicts may flip 3%. A stratum's own repeats count beside ten like those of all strata.
    """
    indexes = [
        index
        for index, fresh in known.repeats.items()
        if fresh is not None and index in codes and index not in known.reused
    ]
    changes = _filled_pairs(measure, known.repeats, indexes) - _filled_pairs(
        measure, known.baseline, indexes
    )
    code = np.array([codes[index] for index in indexes], dtype=np.intp)
    products = changes[:, :, None] * changes[:, None, :] / 2
    pooled = (products.sum(axis=0) + np.eye(2) / 2) / (len(indexes) + 1)
    sums = np.zeros((len(on_pair), 2, 2))
    np.add.at(sums, code, products)
    number = np.bincount(code, minlength=len(on_pair))[:, None, None]
    own = (sums + _SHRINKAGE * pooled) / (number + _SHRINKAGE)
    noise: Array = np.einsum("ki,kij,kj->k", on_pair, own, on_pair)
    return noise
