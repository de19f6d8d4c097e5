"""Uncertainty that the jackknife of a difference misses: parts that no cluster moves.

If every mention is right in one run, or both runs agree on a task, leaving a medium out changes
nothing; that says little about unseen media. Ours, after Zou and Donner, Construction of confidence
limits about effect measures (Statistics in Medicine 27, 2008): the margins of independent parts
are added in squares.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from caliper.analysis.exact import Cells, Place, constant_width
from caliper.analysis.intervals import bound_of, is_constant, wilson_width
from caliper.analysis.jackknife import NORMAL, JackknifeEstimate, jackknife
from caliper.analysis.observations import (
    ConstantPart,
    contributors,
    max_shift,
    observations,
    weighted_parts,
)
from caliper.core.report import Figure
from caliper.core.tally import Sums, add_up


def subtract(figure: Figure, sums: Mapping[Place, Sums]) -> float | None:
    """The figure of the second run minus that of the first, from the sums of both."""
    before = figure.statistic({cell: sums[0, cell] for cell in figure.cells})
    after = figure.statistic({cell: sums[1, cell] for cell in figure.cells})
    return None if before is None or after is None else after - before


def fewer_observations(figure: Figure, cells: Cells) -> float:
    """The number of observations in the run that has fewer."""
    return min(observations(side, figure.divisor) for side in _sides(figure, cells))


def _sides(figure: Figure, cells: Cells) -> list[list[Mapping[str, Sums]]]:
    return [[cells[run, cell] for cell in figure.cells] for run in (0, 1)]


def error_left_open(figure: Figure, whole: JackknifeEstimate, cells: Cells) -> float:
    """The standard error that the jackknife of the whole misses: of parts, or runs, that no
    cluster moves.
    """
    parts: Iterable[tuple[Figure, float]] = [(figure, 1.0)]
    if figure.weights:
        sums = {cell: add_up(clusters.values()) for (run, cell), clusters in cells.items() if run}
        parts = weighted_parts(figure, sums)
    alike: list[ConstantPart] = []
    alone: tuple[list[ConstantPart], list[ConstantPart]] = ([], [])
    for part, weight in parts:
        part_cells = {(run, cell): cells[run, cell] for run in (0, 1) for cell in part.cells}
        estimate = whole if part is figure else jackknife(part_cells, partial(subtract, part))
        width = weight * (part.bounds[1] - part.bounds[0])
        if estimate is None or estimate.error is None or not math.isfinite(width):
            continue
        if is_constant(estimate):
            alike.append(ConstantPart(width, fewer_observations(part, part_cells)))
            continue
        for run, count in _at_bounds(part, part_cells):
            alone[run].append(ConstantPart(width, count))
    margins = (max_shift(alike, constant_width), *(max_shift(run, wilson_width) for run in alone))
    return math.hypot(*margins) / NORMAL


def _at_bounds(figure: Figure, cells: Cells) -> Iterator[tuple[int, float]]:
    """The runs in which a figure is at one of its bounds, and their observations. None if both
    runs have the same clusters: then the paired differences are enough.
    """
    sides = _sides(figure, cells)
    names = [contributors(side, figure.divisor) for side in sides]
    if names[0] == names[1]:
        return
    for run, side in enumerate(sides):
        value = figure.statistic({cell: add_up(cells[run, cell].values()) for cell in figure.cells})
        if value is not None and bound_of(value, figure.bounds) is not None:
            yield run, observations(side, figure.divisor)
