"""The coverage of objects by the area of their masks (paper 3.3, 4.3, Fig. 6).

Three readings of S-Cov, each a mean over pictures in percent, with A_i the score of instance i (0
to 5, 0 if it is not mentioned) and M_i the share of the picture's pixels that its mask covers:

    paper   sum_i(A_i M_i) / 5, as printed in 3.3: pixels of several masks count several times
    image   sum over pixels of min(1, sum_i(A_i of the masks there) / 5), per pixel of the picture
    union   the same, per pixel that any mask covers (released script)

The figures by area pool the instances of all pictures: how many are mentioned, their mean score,
and their share of the masks' area that the caption states, sum(A_i M_i) / 5 sum(M_i). Fig. 6 is the
distribution of omitted objects over areas; the paper calls those below 5% tiny (3.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from caliper.analysis.comprecap.scenes import ExaminedScene, SceneRun, SceneSet
from caliper.benchmarks.comprecap.questions import HIGHEST
from caliper.benchmarks.comprecap.scoring import coverage
from caliper.core.outcome import Scored

EDGES = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""Bounds of the bands of area, in percent of the picture; the lower one belongs to a band."""
READINGS = ("paper", "image", "union")
_DECIMALS = 6
_NO_MASKS = "no picture has masks and scores for all its objects"


@dataclass(frozen=True, slots=True)
class AreaBand:
    """The instances whose masks cover `low` to `high` percent of their picture.

    `mentioned` and `covered` are in percent, `score` is from 0 to 5; None without scored ones.
    `omitted` is the percentage of the run's omitted instances that are in this band.
    """

    low: float
    high: float
    instances: int
    unscored: int
    mentioned: float | None
    score: float | None
    covered: float | None
    omitted: float | None


@dataclass(frozen=True, slots=True)
class PixelCoverage:
    """The three readings of a run's S-Cov, over `pictures` pictures; `unscored` ones have no score
    for some instance.
    """

    name: str
    pictures: int
    unscored: int
    paper: float | None
    image: float | None
    union: float | None
    bands: tuple[AreaBand, ...]


@dataclass(frozen=True, slots=True)
class AreaCoverage:
    """The coverage of all runs."""

    runs: tuple[PixelCoverage, ...] = ()
    remark: str = ""


@dataclass(frozen=True, slots=True)
class _Instance:
    """An instance in one repeat, or over all: the mask's area, and the score if it has one."""

    area: float
    score: Fraction | None
    mentioned: bool


def area_coverage(scenes: SceneSet) -> AreaCoverage:
    """The coverage of each run by area."""
    runs = tuple(map(_coverage, scenes.runs))
    if not any(run.pictures for run in runs):
        return AreaCoverage(remark=_NO_MASKS)
    return AreaCoverage(runs)


def _coverage(run: SceneRun) -> PixelCoverage:
    planned = [scene for scene in run.scenes if scene.measure.atoms]
    means = [_readings(scene) for scene in planned]
    complete = [each for each in means if each is not None]
    instances = [each for scene in planned for each in _instances(scene)]
    omitted = sum(_is_omitted(each) for each in instances)
    return PixelCoverage(
        run.name,
        len(complete),
        len(means) - len(complete),
        _mean((each[0] for each in complete), 100),
        _mean((each[1] for each in complete), 100),
        _mean((each[2] for each in complete), 100),
        tuple(_bands(instances, omitted)),
    )


def _readings(scene: ExaminedScene) -> tuple[Fraction, Fraction, Fraction] | None:
    """The readings of a picture as shares; None unless all its instances have scores.

    S-Cov is not linear in the scores, so it is computed per repeat.
    """
    questions = list(scene.attributes)
    repeats = range(max((question.repeats for question in questions), default=0))
    readings = []
    for repeat in repeats:
        outcomes = [scene.outcomes.get((question.ordinal, repeat)) for question in questions]
        scores = [outcome.score for outcome in outcomes if isinstance(outcome, Scored)]
        if len(scores) < len(questions):
            return None
        measure = scene.measure
        weighted = sum(scores[i] * atom.pixels for atom in measure.atoms for i in atom.instances)
        paper = Fraction(weighted) / (HIGHEST * measure.pixels)
        readings.append((paper, *(coverage(measure, scores, over) for over in READINGS[1:])))
    if not readings:
        return None
    paper, image, union = (
        sum(column, Fraction(0)) / len(readings) for column in zip(*readings, strict=True)
    )
    return paper, image, union


def _instances(scene: ExaminedScene) -> Iterator[_Instance]:
    for place, question in enumerate(scene.attributes):
        first = scene.outcomes.get((question.ordinal, 0))
        mentioned = isinstance(first, Scored) and first.mentioned
        yield _Instance(scene.area(place), scene.mean_score(question), mentioned)


def _is_omitted(instance: _Instance) -> bool:
    return instance.score is not None and not instance.mentioned


def _bands(instances: Iterable[_Instance], omitted: int) -> Iterator[AreaBand]:
    for low, high in pairwise(EDGES):
        here = [each for each in instances if in_band(each.area, low, high)]
        scored = [(each.area, each.score) for each in here if each.score is not None]
        left_out = sum(map(_is_omitted, here))
        area = sum(size for size, _ in scored)
        covered = sum(size * float(score) / HIGHEST for size, score in scored)
        yield AreaBand(
            low,
            high,
            len(here),
            len(here) - len(scored),
            _ratio(100 * (len(scored) - left_out), len(scored)),
            _mean([score for _, score in scored]),
            _ratio(100 * covered, area),
            _ratio(100 * left_out, omitted),
        )


def in_band(area: float, low: float, high: float) -> bool:
    """Whether an area belongs to a band; a picture's whole area to the last one."""
    return low <= area < high or area == high == EDGES[-1]


def _mean(values: Iterable[Fraction], scale: int = 1) -> float | None:
    numbers = list(values)
    return _ratio(float(scale * sum(numbers, Fraction(0))), len(numbers))


def _ratio(part: float, whole: float) -> float | None:
    return round(part / whole, _DECIMALS) if whole else None
