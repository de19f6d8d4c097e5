"""Runs of whole benchmarks whose true figures are known: many cells, and media that belong to
several of them, with several questions each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from numpy.random import Generator

from caliper.benchmarks.capability.tasks import NAMES
from caliper.benchmarks.captionqa.domains import DOMAINS
from caliper.benchmarks.registry import benchmark
from caliper.core.report import Figure, Path
from caliper.core.tally import Tally

_MEDIA, _PICTURES, _SCENES = 25, 15, 30
_TWENTIETHS = 20
_REPEATS = 2


@dataclass(frozen=True)
class Known:
    """A figure of a benchmark, a function that draws a pair of runs, and its true value in each."""

    benchmark: str
    path: Path
    pair: Callable[[Generator], tuple[Tally, Tally]]
    truths: tuple[float, float]

    def figure(self, tally: Tally) -> Figure:
        layout = benchmark(self.benchmark).report(tally, {})
        return next(figure for figure in layout.figures if figure.path == self.path)


def _tasks(draw: Generator) -> tuple[Tally, Tally]:
    """13 tasks of 25 media: videos shared by action and event, up to 11 objects to count in one
    picture, and pictures with one question. Half of the answers that are not right are wrong, half
    not mentioned.
    """
    sides = (Tally(), Tally())
    shared = draw.beta(2, 2, size=_MEDIA)
    for task in NAMES:
        together = task in ("action", "event")
        ease = shared if together else draw.beta(2, 2, size=_MEDIA)
        most = 11 if task == "dynamic_object_number" else 1
        sizes = draw.integers(1, most, size=_MEDIA, endpoint=True)
        for tally, power in zip(sides, (1.0, 0.8), strict=True):
            right = draw.binomial(sizes, ease**power)
            hit = right + draw.binomial(sizes - right, 0.5)
            for medium, (n, cor, told) in enumerate(
                zip(sizes.tolist(), right.tolist(), hit.tolist(), strict=True)
            ):
                name = f"video-{medium}" if together else f"{task}-{medium}"
                tally.add(f"caption/{task}/0", name, scored=n, correct=cor, hit=told, unscored=0)
    return sides


def _power_of_beta(power: float) -> float:
    """The mean of a beta(2, 2) number to a power: 6 (1 / (power + 2) - 1 / (power + 3))."""
    return 6 * (1 / (power + 2) - 1 / (power + 3))


def _f1(right: float) -> float:
    return 200 * right / (1 + right + (1 - right) / 2)


def _domains(draw: Generator) -> tuple[Tally, Tally]:
    """Four domains of 15 pictures with 1 to 12 questions. A fifth of the answers that are not right
    say that the caption does not tell; there are four options.
    """
    sides = (Tally(), Tally())
    for domain in DOMAINS:
        sizes = draw.integers(1, 12, size=_PICTURES, endpoint=True)
        ease = draw.beta(2, 2, size=_PICTURES)
        for tally, power in zip(sides, (1.0, 0.8), strict=True):
            right = draw.binomial(sizes, ease**power)
            cannot = draw.binomial(sizes - right, 0.2)
            for medium, (n, cor, open_) in enumerate(
                zip(sizes.tolist(), right.tolist(), cannot.tolist(), strict=True)
            ):
                amounts = {"scored": n, "correct": cor, "offered": n, "cannot": open_}
                points = cor + open_ * _CANNOT
                tally.add(f"caption/{domain}", f"{domain}-{medium}", points=points, **amounts)
    return sides


_CANNOT = Fraction(1, 4) + Fraction(1, 20)


def _score(right: float) -> float:
    return 100 * (right + (1 - right) * 0.2 * float(_CANNOT))


def _scenes(draw: Generator) -> tuple[Tally, Tally]:
    """30 pictures with objects, attributes and, in four of five, relations. All three are easier in
    an easy picture, and two repeats of the judging differ a little.
    """
    sides = (Tally(), Tally())
    ease = draw.beta(2, 2, size=_SCENES)
    related = draw.random(_SCENES) < 0.8
    for tally, power in zip(sides, (1.0, 0.8), strict=True):
        chances = (ease**power).tolist()
        for picture, chance in enumerate(chances):
            name = f"picture-{picture}"
            amount = _twentieth(draw, chance)
            tally.add("objects", name, sum=amount, n=1)
            for repeat in range(_REPEATS):
                for cell in ("attribute", "relation")[: 1 + int(related[picture])]:
                    tally.add(f"{cell}/{repeat}", name, sum=5 * _twentieth(draw, chance), n=1)
    return sides


def _twentieth(draw: Generator, chance: float) -> Fraction:
    return Fraction(int(draw.binomial(_TWENTIETHS, chance)), _TWENTIETHS)


def _unified(right: float) -> float:
    # All parts have the same mean, and the weights add up to one.
    return 100 * right


def _known(
    name: str,
    path: Path,
    pair: Callable[[Generator], tuple[Tally, Tally]],
    value: Callable[[float], float],
) -> Known:
    before, after = (value(_power_of_beta(power)) for power in (1.0, 0.8))
    return Known(name, path, pair, (before, after))


KNOWN: Sequence[Known] = (
    _known("capability", ("average", "f1"), _tasks, _f1),
    _known("captionqa", ("overall", "score"), _domains, _score),
    _known("comprecap", ("s_unified",), _scenes, _unified),
)
