"""Questions with scores of two checkpoints and of rules, whose true difference is known."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import product

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from caliper.analysis.draw_order import block_ends
from caliper.analysis.sequential.measure import Measure

ALPHA = 0.05
Integers = NDArray[np.int64]
Kinds = NDArray[np.uint8]
SCORES: Integers = np.array(list(product((-1, 0, 1), repeat=4)))
"""The scores of every kind of question: of baseline, candidate, rules on the captions of both."""
_PLACES = np.array([27, 9, 3, 1])


class Controls(StrEnum):
    """What the estimate is adjusted by; captions that are written when they are asked about are not
    known to rules. Rules agree with six verdicts in ten beyond chance, are
    `USELESS`, or `ADVERSE`: they say the opposite of every change, and in every other stratum of
    all.
    """

    NONE = "paired"
    BASELINE = "+ baseline"
    BASELINE_RULES = "+ rules on its captions only"
    RULES = "+ rules"
    USELESS = "+ useless rules"
    ADVERSE = "+ adverse rules"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A comparison to simulate. `gain` is the true difference and `margin` the allowed drop, both
    in the unit of scores; `changed` is the share of questions that only one checkpoint has right.

    With `flips`, the judge turns over this share of verdicts, which is not allowed for unless
    `counted`. Media have up to `most` questions
    each, and change together: all their questions get worse, or all better. `reused` is the
    share of questions whose verdict is known to be the baseline's. With `task_margin`, every
    stratum has a check of its own as well; unless it `closes`, it is drawn until all are decided.
    `alarm` is the alpha of a regression.
    """

    name: str
    gain: float
    margin: float = 0.01
    changed: float = 0.1
    strata: int = 13
    size: int = 900
    controls: Controls = Controls.RULES
    measure: Measure = Measure.MEAN
    flips: float = 0.0
    repeats: int = 300
    counted: bool = True
    most: int = 1
    reused: float = 0.0
    task_margin: float = 0.0
    closes: bool = True
    alarm: float = ALPHA

    @property
    def asked(self) -> int:
        """The number of questions of a stratum that can be asked."""
        return round(self.size * (1 - self.reused))

    @property
    def block_of(self) -> Integers:
        """The block of every place in the drawn order of a stratum."""
        return np.searchsorted(block_ends(self.asked), np.arange(self.asked), side="right")


@dataclass(frozen=True, slots=True)
class Questions:
    """The kind of every question, shape (strata, asked), and its medium, from 0."""

    kinds: Kinds
    media: Integers


def questions(scenario: Scenario, draw: Generator) -> Questions:
    """Questions whose mean difference over all, reused ones among them, is exactly `gain`, after
    the judge's flips on average.
    """
    total = scenario.strata * scenario.size
    net = round(scenario.gain * total / (1 - 2 * scenario.flips))
    discordant = max(abs(net), round(scenario.changed * total))
    won = (discordant + net) // 2
    lost = won - net
    count = scenario.strata * scenario.asked
    media = _media(scenario, draw)
    # Where media change together, whole media are taken until the number is reached.
    ranks = draw.permutation(int(media.max()) + 1)[media.ravel()]
    order = np.lexsort((draw.random(count), ranks))
    before = (draw.random(count) < 0.7).astype(np.int64)
    after = before.copy()
    before[order[:lost]], after[order[:lost]] = 1, 0
    before[order[lost : lost + won]], after[order[lost : lost + won]] = 0, 1
    if scenario.measure is Measure.F1:
        # Wrong elements are told wrongly in half of the questions, whoever is wrong.
        told = np.where(draw.random(count) < 0.5, -1, 0)
        before, after = np.where(before == 1, 1, told), np.where(after == 1, 1, told)
    rules = [_rules(scenario, side, before != after, draw) for side in (before, after)]
    shape = scenario.strata, scenario.asked
    columns = [column.reshape(shape) for column in (before, after, *rules)]
    return Questions(_kinds(np.stack(columns, axis=-1)), media)


def _kinds(scores: Integers) -> Kinds:
    kinds: Kinds = ((scores + 1) @ _PLACES).astype(np.uint8)
    return kinds


_TURNED = np.array(
    [
        [
            _kinds(np.where([one, other, False, False], 1 - SCORES, SCORES))
            for other in (False, True)
        ]
        for one in (False, True)
    ]
)
"""Every kind of question with its verdicts as they are and turned over: baseline, candidate."""


def _media(scenario: Scenario, draw: Generator) -> Integers:
    """Media by question, shape (strata, asked): strata share none."""
    count = scenario.strata * scenario.asked
    if scenario.most == 1:
        return np.arange(count).reshape(scenario.strata, -1)
    sizes = draw.integers(1, scenario.most, size=count, endpoint=True)
    media = np.repeat(np.arange(count), sizes)[:count].reshape(scenario.strata, -1)
    # A medium that reaches into the next stratum is another one there.
    return media * scenario.strata + np.arange(scenario.strata)[:, None]


def _rules(
    scenario: Scenario, score: Integers, changed: NDArray[np.bool_], draw: Generator
) -> Integers:
    noise = (draw.random(score.size) < 0.5).astype(np.int64)
    if scenario.controls is Controls.USELESS:
        return noise
    said = np.where(draw.random(score.size) < 0.6, np.maximum(score, 0), noise)
    if scenario.controls is Controls.ADVERSE:
        contrary = np.arange(score.size) // scenario.asked % 2 == 1
        said = np.where(changed | contrary, 1 - np.maximum(score, 0), said)
    return said


def drawn(population: Questions, scenario: Scenario, paths: int, draw: Generator) -> Kinds:
    """The kinds in the order in which they are drawn, shape (paths, strata, asked), with the
    judge's flips.
    """
    media, count = population.media, scenario.asked
    shape = paths, scenario.strata, count
    place = draw.random(shape)
    if scenario.most > 1:
        within = np.argsort(np.argsort(media + place, axis=-1), axis=-1)
        first = np.array([np.searchsorted(np.sort(one), one) for one in media])
        size = np.array([np.searchsorted(np.sort(one), one, side="right") for one in media]) - first
        offset = draw.random((paths, int(media.max()) + 1))[:, media]
        place = (within - first + offset) / size
    order = np.argsort(place, axis=-1)
    kinds = np.take_along_axis(population.kinds[None], order, axis=2)
    if scenario.flips:
        turned = draw.random((*shape, 2)) < scenario.flips
        kinds = _TURNED[turned[..., 0].astype(np.intp), turned[..., 1].astype(np.intp), kinds]
    return kinds
