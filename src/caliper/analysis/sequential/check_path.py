"""One check of a sequential comparison, look by look."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from caliper.analysis.draw_order import LEAST_UNITS, Unit
from caliper.analysis.sequential.bound import (
    SPREAD,
    half_width,
    p_value,
    rare_losses_p,
    share_needed,
)
from caliper.analysis.sequential.estimate import FOLDS, StratumEstimates, clustered, estimate
from caliper.analysis.sequential.measure import Array, Measure
from caliper.analysis.sequential.strata import KnownScores, Scores, Strata, strata_of
from caliper.analysis.significance import detectable_difference

LEAST_DISCORDANT = 20
"""With fewer questions whose verdicts differ, the estimate is not taken for normal."""
_ROUNDING = 1e-8
_MANY_DEGREES = 10_000


class Finding(StrEnum):
    """The finding of a check. `IMPROVED`: better than the baseline, and by less than the margin."""

    REGRESSED = "regressed"
    PASSED = "passed"
    IMPROVED = "improved and equivalent"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class StopCheck:
    """A figure that has to be decided. `weights` says how much each stratum counts in it. `margin`
    is the allowed drop in the unit of scores; None stands for the margin of the target.
    """

    name: str
    weights: Mapping[str, float]
    measure: Measure = Measure.MEAN
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class StopTarget:
    """The decision to make: `margin` in the unit of scores (0.01 is one point), `alpha` one-sided.

    `similar`: the finding is about questions like these, with media as units, not about these.
    `alarm_alpha` is that of a regression, where it is not that of a pass.
    """

    margin: float
    alpha: float
    checks: tuple[StopCheck, ...]
    similar: bool = False
    alarm_alpha: float | None = None

    @property
    def alphas(self) -> tuple[float, float]:
        """The alphas of a pass and of a regression."""
        return self.alpha, self.alpha if self.alarm_alpha is None else self.alarm_alpha


@dataclass(frozen=True, slots=True)
class CheckLook:
    """A check at a look. `difference` is candidate minus baseline in the unit of scores, `low` and
    `high` its bounds, each of which holds at every look with probability 1 - its alpha. Of
    questions without a verdict, `low` takes the worst and `high` the best.

    `similar` is that of the target. `drawn` of `questions` are judged, beside `reused` ones;
    `discordant` of them differ from the baseline. `needed_more` is about how many more questions
    would decide the check: None if it is decided or no number would. `p_regressed` and `p_passed`
    are the least p-values of all looks, not adjusted.
    """

    name: str
    finding: Finding
    difference: float
    low: float
    high: float
    margin: float
    drawn: int
    questions: int
    reused: int
    discordant: int
    needed_more: int | None
    p_regressed: float
    p_passed: float
    similar: bool = False


@dataclass(slots=True)
class PValues:
    """The least p-values of all looks so far, of the four hypotheses that findings exclude."""

    regressed: float = 1.0
    passed: float = 1.0
    gain: float = 1.0
    within: float = 1.0

    def lower(self, regressed: float, passed: float, gain: float, within: float) -> None:
        """Take the values of another look into account."""
        self.regressed = min(self.regressed, regressed)
        self.passed = min(self.passed, passed)
        self.gain = min(self.gain, gain)
        self.within = min(self.within, within)


@dataclass(slots=True)
class _DrawnQuestions:
    """The drawn questions: g at the worst and the best score of those without one."""

    vectors: list[Array] = field(default_factory=list)
    folds: list[int] = field(default_factory=list)
    strata: list[int] = field(default_factory=list)
    media: list[str] = field(default_factory=list)
    losses: int = 0
    gains: int = 0


class CheckPath:
    """The state of a check. Questions without a score in the baseline are left out of it."""

    def __init__(
        self, units: Sequence[Unit], target: StopTarget, check: StopCheck, known: KnownScores
    ) -> None:
        self.check, self._target = check, target
        self.margin = target.margin if check.margin is None else check.margin
        self._strata: Strata = strata_of(units, list(check.weights), check.measure, known)
        self._weights = np.array(list(check.weights.values()), dtype=np.float64)
        self._media = {unit.index: unit.medium for unit in units}
        scores = [score for score in known.baseline.values() if score is not None]
        worst = -1.0 if check.measure.is_of_mentions else min([0.0, *scores])
        self._ends = check.measure.pairs((worst, max([1.0, *scores])))
        size = 4 + len(known.rules)
        self._sums = np.zeros((2, FOLDS, len(self._weights), size, size))
        self._questions = _DrawnQuestions()
        self._known = known
        self._spread = SPREAD * (self.margin or self._detectable()) ** 2
        self.p_values = PValues()
        self.finding = Finding.UNDECIDED

    def _detectable(self) -> float:
        """The least difference that all questions would find, if both runs were unrelated."""
        population, variances = self._strata.population, np.zeros(len(self._weights))
        for index, code in self._strata.codes.items():
            variances[code] += self._strata.controls[index][0] ** 2
        errors = 2 * (self._weights / np.maximum(population.whole, 1)) ** 2 * variances
        return detectable_difference(math.sqrt(errors.sum()) or 1.0, _MANY_DEGREES)

    def add(self, block: int, outcomes: Scores) -> None:
        """Take in the verdicts of a block."""
        known, strata = self._known, self._strata
        indexes = [one for one in outcomes if one in strata.codes and one not in known.reused]
        scores = [outcomes[index] for index in indexes]
        both = np.repeat(self.check.measure.pairs(one or 0.0 for one in scores)[None], 2, axis=0)
        both[:, [one is None for one in scores]] = self._ends[:, None, :]
        before = self.check.measure.pairs(known.baseline[index] or 0.0 for index in indexes)
        code = np.array([strata.codes[index] for index in indexes], dtype=np.intp)
        changes = ((both[0] - before) * strata.on_pair[code]).sum(axis=-1)
        self._questions.losses += int((changes < 0).sum())
        self._questions.gains += int((changes > 0).sum())
        vectors = np.ones((2, len(indexes), self._sums.shape[-1]))
        vectors[..., 1:3] = both
        vectors[..., 3:] = [strata.controls[index] for index in indexes] or 0
        for place in np.unique(code):
            members = vectors[:, code == place]
            self._sums[:, block % FOLDS, place] += np.swapaxes(members, 1, 2) @ members
        if self._target.similar:
            self._questions.vectors.append(vectors)
            self._questions.folds += [block % FOLDS] * len(indexes)
            self._questions.strata += code.tolist()
            self._questions.media += [self._media[index] for index in indexes]

    def look(self, looks: int) -> CheckLook:
        """The estimates after the blocks so far, of `looks` in all. Lowers the p-values."""
        estimates = estimate(self._sums, self._strata.population, self.check.measure)
        difference = (estimates.difference * self._weights).sum(axis=-1)
        variance = self._variance(estimates)
        self._test(estimates, difference, variance, looks)
        half = [
            half_width(side, self._spread, alpha)
            for side, alpha in zip(variance, self._target.alphas, strict=True)
        ]
        middle = float(difference.mean())
        drawn = int(self._sums[0, :, :, 0, 0].sum())
        return CheckLook(
            self.check.name,
            self.finding,
            middle,
            float(difference[0] - half[0]),
            float(difference[1] + half[1]),
            self.margin,
            drawn,
            int(self._strata.population.open.sum()),
            int((self._strata.population.whole - self._strata.population.open).sum()),
            self._questions.losses + self._questions.gains,
            self._needed(middle, float(variance.max()), drawn),
            self.p_values.regressed,
            self.p_values.passed,
            self._target.similar,
        )

    def _variance(self, estimates: StratumEstimates) -> Array:
        if self._target.similar:
            questions = self._questions
            scale = self._weights * self._strata.population.open_share
            places = np.array(questions.folds), np.array(questions.strata)
            media = np.unique(questions.media, return_inverse=True)[1]
            return clustered(
                estimates, np.concatenate(questions.vectors, axis=1), places, media, scale
            )
        variance = estimates.variance(self._strata.population)
        total: Array = (variance * self._weights**2).sum(axis=-1)
        return total

    def _test(
        self, estimates: StratumEstimates, difference: Array, variance: Array, looks: int
    ) -> None:
        open_ = self._strata.population.open
        drawn = estimates.drawn[0]
        if (drawn < np.minimum(open_, LEAST_UNITS)).any():
            return
        discordant = self._questions.losses + self._questions.gains
        if discordant < LEAST_DISCORDANT and (self._target.similar or (drawn < open_).any()):
            if not self._target.similar:
                self.p_values.lower(1.0, self._exact(drawn, looks), 1.0, 1.0)
            return
        low, high, margin = difference[0], difference[1], self.margin
        distances = (-high - margin, low + margin + _ROUNDING, low, margin - high)
        sides = (1, 0, 0, 1)
        values = (
            float(p_value(np.array(one), variance[side], self._spread))
            for one, side in zip(distances, sides, strict=True)
        )
        self.p_values.lower(*values)

    def _exact(self, drawn: Array, looks: int) -> float:
        """The p-value of a drop beyond the margin, from the number of losses.

        Every question counts as the one that moves the figure most, strata as drawn no further than
        the least drawn one, gains as nothing but those seen. The judge's noise takes two standard
        errors of the margin. Bonferroni over all looks makes it hold at each.
        """
        population = self._strata.population
        open_ = np.maximum(population.open, 1)
        noise = population.noise * (self._weights * population.open_share) ** 2 / open_
        margin = self.margin - 2 * math.sqrt(noise.sum())
        reach = self._reach() * self._weights * population.open_share / open_
        whole = int(population.open.sum())
        least = math.ceil(margin / reach.max() - _ROUNDING)
        share = float((drawn / open_)[population.open > 0].min(initial=1.0))
        return min(
            1.0, looks * rare_losses_p(self._questions.losses, int(share * whole), whole, least)
        )

    def _reach(self) -> Array:
        """How much one question can change the influence of its stratum; shape (K,)."""
        silent = self.check.measure.pairs((0.0,))
        moves = np.concatenate((self._ends, silent)) @ self._strata.on_pair.T
        reach: Array = moves.max(axis=0) - moves.min(axis=0)
        return reach

    def _needed(self, difference: float, variance: float, drawn: int) -> int | None:
        whole = float(self._strata.population.open.sum())
        if self.finding is not Finding.UNDECIDED or not drawn:
            return None
        population, share = self._strata.population, drawn / whole
        scale = (self._weights * population.open_share) ** 2
        rest = float((scale * population.noise / np.maximum(population.open, 1)).sum())
        sampling = (variance - rest) / (1 / share - 1) if share < 1 else 0.0
        if self._target.similar:
            sampling = rest = variance * share
        distance = difference + self.margin
        target = self._spread, self._target.alphas[distance < 0]
        needed = share_needed(distance, share, sampling, rest, target)
        return None if needed is None else max(1, math.ceil((needed - share) * whole))
