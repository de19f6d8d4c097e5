"""Caption length against score: do longer captions state more, and are they right?

The paper asks all models for elaborate captions (Fig. A2) and prints no lengths; CaptionQA (5.2)
and CompreCap (4.3) do. Tasks differ in length and in difficulty, so length is compared within
tasks: each task's captions are split into quarters by length, and correlations are of what is left
when a task's means are subtracted. Elements of one medium depend on each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from caliper.analysis.agreement import Coefficient
from caliper.analysis.capability.verdict_sets import (
    AVERAGE,
    METRICS,
    Estimates,
    JudgedRun,
    Mask,
    Scores,
    VerdictSet,
    left_out,
    rounded,
)
from caliper.analysis.correlation import CorrelationEstimate, estimate_correlation
from caliper.analysis.intervals import estimate
from caliper.benchmarks.capability.reporting import report

QUARTERS = ("shortest", "shorter", "longer", "longest")
_NONE = "no run has its captions"


@dataclass(frozen=True, slots=True)
class LengthQuarter:
    """A quarter of each task's captions by length: their mean words, and the averages over tasks.

    Captions of one length are in one quarter, so a task may have none in another: then it is left
    out of all of them.
    """

    quarter: str
    captions: int
    words: float
    metrics: Estimates


@dataclass(frozen=True, slots=True)
class LengthAgainstScore:
    """The mean words of a run's captions, its quarters, and the correlation of length with an
    element being stated (`told`) and with its being mentioned (`mentioned`), within tasks.
    """

    name: str
    words: float
    metrics: Estimates
    told: Coefficient
    mentioned: Coefficient
    quarters: tuple[LengthQuarter, ...]


@dataclass(frozen=True, slots=True)
class CaptionLength:
    """Length against score in every run, and over runs: mean words with each average."""

    runs: tuple[LengthAgainstScore, ...] = ()
    over_runs: dict[str, CorrelationEstimate] | None = None
    remark: str = ""


def caption_length(verdicts: VerdictSet) -> CaptionLength:
    """Caption length against score, of the runs that have captions."""
    runs = tuple(_run(run, verdicts) for run in verdicts.runs if run.words)
    if not runs:
        return CaptionLength(remark=_NONE)
    if len(runs) < 2:
        return CaptionLength(runs)
    over_runs = {metric: _over_runs(runs, metric) for metric in METRICS}
    return CaptionLength(runs, over_runs, left_out(verdicts.tasks, verdicts.shared))


def _over_runs(runs: tuple[LengthAgainstScore, ...], metric: str) -> CorrelationEstimate:
    pairs = [(run.words, run.metrics[metric].value) for run in runs]
    points = [(words, value) for words, value in pairs if value is not None]
    return estimate_correlation([x for x, _ in points], [y for _, y in points], noun="runs")


def _run(run: JudgedRun, verdicts: VerdictSet) -> LengthAgainstScore:
    words = np.array(
        [run.words.get(element.sample, np.nan) for element in verdicts.elements], dtype=np.float64
    )
    quarters = _quarters(run, verdicts, words)
    parts = (
        _quarter(run, verdicts, quarters == place, (name, words))
        for place, name in enumerate(QUARTERS)
    )
    scores = run.scores
    return LengthAgainstScore(
        run.name,
        round(run.mean_words or 0.0, 6),
        verdicts.averages[run.name],
        _within_tasks(verdicts, words, np.where(np.isnan(scores), np.nan, scores == 1)),
        _within_tasks(verdicts, words, np.where(np.isnan(scores), np.nan, scores != 0)),
        tuple(part for part in parts if part is not None),
    )


def _quarters(run: JudgedRun, verdicts: VerdictSet, words: Scores) -> NDArray[np.int_]:
    """The quarter of each scored element, -1 for none."""
    quarters = np.full(len(words), -1)
    usable = ~np.isnan(words) & ~np.isnan(run.scores).all(axis=0)
    for mask in verdicts.tasks.values():
        here = mask & usable
        if here.any():
            bounds = np.quantile(words[here], (0.25, 0.5, 0.75))
            quarters[here] = np.searchsorted(bounds, words[here])
    places = np.unique(quarters[quarters >= 0])
    for mask in verdicts.tasks.values():
        if not np.isin(places, quarters[mask]).all():
            quarters[mask] = -1
    return quarters


def _quarter(
    run: JudgedRun, verdicts: VerdictSet, mask: Mask, named: tuple[str, Scores]
) -> LengthQuarter | None:
    name, words = named
    tally = verdicts.tally(run.scores, mask)
    figures = {figure.path: figure for figure in report(tally, run.settings).figures}
    if not figures:
        return None
    samples = {verdicts.elements[place].sample: words[place] for place in np.flatnonzero(mask)}
    metrics = {each: rounded(estimate(figures[AVERAGE, each], tally)) for each in METRICS}
    mean = round(float(np.mean(list(samples.values()))), 6)
    return LengthQuarter(name, len(samples), mean, metrics)


def _within_tasks(verdicts: VerdictSet, words: Scores, values: Scores) -> Coefficient:
    """Pearson's r of length with the mean value of an element, each minus its task's mean."""
    scored = ~np.isnan(values)
    counts = scored.sum(axis=0)
    sums = np.where(scored, values, 0.0).sum(axis=0)
    points: list[tuple[float, float]] = []
    media: list[str] = []
    for mask in verdicts.tasks.values():
        here = mask & (counts > 0) & ~np.isnan(words)
        if here.any():
            x, y = words[here], sums[here] / counts[here]
            # Rounded: means of equal values may differ from them in the last bit.
            left = ((each - each.mean()).round(9).tolist() for each in (x, y))
            points += zip(*left, strict=True)
            media += (verdicts.elements[place].cluster for place in np.flatnonzero(here))
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return estimate_correlation(xs, ys, noun="captions", images=media).pearson
