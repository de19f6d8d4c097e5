"""The difference of every stratum and its variance, from sums over drawn questions.

A drawn question is a vector g = (1, c, h, x): c and h of the candidate (see `measure`), and
controls x that are known of all questions, centred at their mean over the stratum: the influence in
the baseline, and those of lexical rules on both captions. All that is estimated depends on sums of
g g' only, so arrays may have further dimensions in front, one for each simulated path.

    D = theta_B - theta_A + mean(e)       e = u_B - u_A - b' x, u_B centred over what is drawn
    V = s^2(e) (1 / n - 1 / N) + 2 s_judge^2 / N

The slopes b are fitted on the blocks of other folds, so chance in a block cannot explain itself. A
ridge pulls them to 0, where rules are ignored and the baseline counts in full. Source: regression
estimators, Cochran, Sampling Techniques (1977), chapter 7; folds as in Wager, Du, Taylor and
Tibshirani, High-dimensional regression adjustments in randomized experiments (PNAS 113, 2016).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from caliper.analysis.sequential.measure import Array, Codes, Measure

FOLDS = 4
"""Block b belongs to fold b modulo this."""
_POOLED_BELOW = 50
_RIDGE = 5.0
_NONE = 1e-12


@dataclass(frozen=True, slots=True)
class Population:
    """K strata before anything is drawn. Every array has the shape (K,).

    `open` counts the questions that can be asked, `whole` also those whose verdict is reused.
    `correct` and `hit` are the sums of c and h over the reused ones. `base` is the
    baseline's figure, 0 without a baseline. `noise` is the variance of an influence if the same is
    judged again, of baseline and candidate together. `paired`: the first control is the baseline.
    """

    open: Array
    whole: Array
    correct: Array
    hit: Array
    base: Array
    noise: Array
    paired: bool = True

    @property
    def open_share(self) -> Array:
        """The share of questions that can be asked; shape (K,)."""
        return self.open / np.maximum(self.whole, 1)


@dataclass(frozen=True, slots=True)
class StratumEstimates:
    """Differences (..., K), the variance of residuals per question, and the number drawn, in the
    same shape. `rows` (..., fold, K, q) times g is a question's residual, `centre` its mean.
    """

    difference: Array
    spread: Array
    drawn: Array
    rows: Array
    centre: Array

    def variance(self, population: Population) -> Array:
        """The variance V of the differences as figures of these questions; shape (..., K)."""
        open_ = np.maximum(population.open, 1)
        sampling = self.spread * np.maximum(1 / np.maximum(self.drawn, 1) - 1 / open_, 0)
        return population.open_share**2 * (sampling + population.noise / open_)


def estimate(folds: Array, population: Population, measure: Measure) -> StratumEstimates:
    """Estimate from the sums of g g' by fold and stratum; shape (..., FOLDS, K, q, q)."""
    total = folds.sum(axis=-4)
    drawn = total[..., 0, 0]
    number = np.maximum(drawn, 1)
    means = total[..., 0, 1] / number, total[..., 0, 2] / number
    reused, whole = (population.correct, population.hit), np.maximum(population.whole, 1)
    correct, hit = (
        (known + population.open * mean) / whole for known, mean in zip(reused, means, strict=True)
    )
    figure, on_correct, on_hit = measure.at(correct, hit)
    row = np.zeros_like(total[..., 0])
    row[..., 0] = -(on_correct * means[0] + on_hit * means[1])
    row[..., 1], row[..., 2] = on_correct, on_hit
    if population.paired:
        row[..., 3] = -1
    rows = np.empty_like(folds[..., 0])
    rows[:] = row[..., None, :, :]
    if folds.shape[-1] > 3:
        slopes = _slopes(total[..., None, :, :, :] - folds, row[..., None, :, :])
        # Where all is drawn, chance explains nothing any more, and the difference is exact.
        mean = (slopes * folds[..., 0, 0, None]).sum(axis=-3) / number[..., None]
        share = np.minimum(drawn / np.maximum(population.open, 1), 1)[..., None, :, None]
        rows[..., 3:] -= slopes + share * (mean[..., None, :, :] - slopes)
    products = (folds @ rows[..., None])[..., 0]
    centre = products[..., 0].sum(axis=-2) / number
    squares = (products * rows).sum(axis=(-3, -1)) - drawn * centre**2
    return StratumEstimates(
        figure - population.base + population.open_share * centre,
        _spread(np.maximum(squares, 0), drawn),
        drawn,
        rows,
        centre,
    )


def _spread(squares: Array, drawn: Array) -> Array:
    """The variance per question, with one more question that is like those of all strata: one
    stratum may show no difference by chance.
    """
    degrees = np.maximum(drawn - 1, 0).sum(axis=-1, keepdims=True)
    pooled = squares.sum(axis=-1, keepdims=True) / np.maximum(degrees, 1)
    spread: Array = (squares + pooled) / np.maximum(drawn, 1)
    return spread


def _slopes(rest: Array, row: Array) -> Array:
    """Ridge regression of the difference on the controls within strata; shape (..., fold, K, p).

    Strata with fewer than 50 pairs in the other folds are pooled.
    """
    number = np.maximum(rest[..., 0, 0], 1)[..., None]
    sums = rest[..., 0, 3:]
    squares = rest[..., 3:, 3:] - sums[..., :, None] * sums[..., None, :] / number[..., None]
    product = (rest @ row[..., None])[..., 0]
    crossed: Array = product[..., 3:] - sums * product[..., :1] / number
    few = (number < _POOLED_BELOW).astype(np.float64)
    if few.any():
        crossed += few * (crossed.sum(axis=-2, keepdims=True) - crossed)
        squares += few[..., None] * (squares.sum(axis=-3, keepdims=True) - squares)
        number += few * (number.sum(axis=-2, keepdims=True) - number)
    diagonal = np.diagonal(squares, axis1=-2, axis2=-1) * _RIDGE / number + _NONE
    ridge = diagonal[..., None] * np.eye(squares.shape[-1])
    solved = np.linalg.solve(squares + ridge, crossed[..., None])[..., 0]
    return solved.astype(np.float64, copy=False)


def clustered(
    estimates: StratumEstimates,
    vectors: Array,
    places: tuple[Codes, Codes],
    media: Codes,
    scale: Array,
) -> Array:
    """The variance of a weighted difference as a figure of questions like these, with media as
    units: residuals of one medium are added up first.

    `vectors` (m, n, q) are the drawn g of m estimates, `places` their folds and strata, `media`
    their media from 0, `scale` (K,) the weights. Returns the shape (m,).
    """
    fold, stratum = places
    rows = estimates.rows[..., fold, stratum, :]
    residuals = (rows * vectors).sum(axis=-1) - estimates.centre[..., stratum]
    residuals *= (scale / np.maximum(estimates.drawn, 1))[..., stratum]
    count = int(media.max(initial=0)) + 1
    sums = np.array([np.bincount(media, one, minlength=count) for one in residuals])
    variance: Array = (sums**2).sum(axis=-1) * count / max(count - 1, 1)
    return variance
