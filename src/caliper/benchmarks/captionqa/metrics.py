"""The figures of CaptionQA as functions of sums (paper 3.4).

A cell's sums: `scored` questions, `points` (their scores added up), `correct` ones,
`offered` (those that had the cannot option), `cannot` (those that chose it), `unscored`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from caliper.core.report import Figure, Kind, Path
from caliper.core.tally import Amount, Sums, add_up


@dataclass(frozen=True, slots=True)
class ShareMetric:
    """A share in percent: `part` over `whole`. A score is no proportion: it has partial credit."""

    name: str
    part: str
    whole: str
    kind: Kind = Kind.PROPORTION


METRICS = (
    ShareMetric("score", "points", "scored", Kind.RATIO),
    ShareMetric("accuracy", "correct", "scored"),
    # The paper's tables divide by the questions that have the option, the released script by all.
    ShareMetric("cannot", "cannot", "offered"),
    ShareMetric("cannot_of_all", "cannot", "scored"),
)
SCORE = METRICS[0]
Pairs = tuple[tuple[str, str], ...]
COUNTS = (("n_scored", "scored"), ("n_unscored", "unscored"))


def percent(metric: ShareMetric, cells: tuple[str, ...], sums: Mapping[str, Sums]) -> float | None:
    """The metric over all questions of the cells, in percent; None without data."""
    return _plain(_share(metric, cells, sums))


def mean_percent(
    metric: ShareMetric, cells: tuple[str, ...], sums: Mapping[str, Sums]
) -> float | None:
    """The unweighted mean of the metric over the cells, in percent; None if one has no data.
    What cells `sums` does not hold is asked of the others.
    """
    return _plain(_mean(metric, cells, sums))


def gap(reading: str, pairs: Pairs, sums: Mapping[str, Sums]) -> float | None:
    """The utility gap (paper 5): the score on the image minus that on the caption, in points.

    `pairs` holds (image cell, caption cell) of each domain; `reading` is that of the overall,
    domains or questions.
    """
    of = OVERALL[reading]
    on_image = of(SCORE, tuple(image for image, _ in pairs), sums)
    on_caption = of(SCORE, tuple(caption for _, caption in pairs), sums)
    return None if on_image is None or on_caption is None else _plain(on_image - on_caption)


def count(amount: str, cells: tuple[str, ...], sums: Mapping[str, Sums]) -> float:
    """The amount, added up over the cells."""
    return float(_summed(cells, sums).get(amount, 0))


def _share(
    metric: ShareMetric, cells: tuple[str, ...], sums: Mapping[str, Sums]
) -> Fraction | None:
    totals = _summed(cells, sums)
    whole = totals.get(metric.whole, 0)
    return Fraction(totals.get(metric.part, 0)) / whole * 100 if whole else None


def _mean(metric: ShareMetric, cells: tuple[str, ...], sums: Mapping[str, Sums]) -> Fraction | None:
    values = [_share(metric, (cell,), sums) for cell in cells if cell in sums]
    present = [value for value in values if value is not None]
    return (
        sum(present, Fraction()) / len(values) if values and len(present) == len(values) else None
    )


OVERALL = {"domains": _mean, "questions": _share}
"""A metric over several cells, by the reading of the overall; None without data."""


def _summed(cells: tuple[str, ...], sums: Mapping[str, Sums]) -> Mapping[str, Amount]:
    return add_up(sums.get(cell, {}) for cell in cells)


def _plain(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def over_questions(path: Path, cells: tuple[str, ...]) -> list[Figure]:
    """All metrics and counts over the questions of the cells, below `path`."""
    shares = [
        Figure(
            (*path, metric.name),
            cells,
            partial(percent, metric, cells),
            metric.kind,
            shares=(metric.part, metric.whole) if metric.kind is Kind.PROPORTION else None,
            denominator=(metric.whole,),
            parts=_domains(metric, cells) if len(cells) > 1 else (),
        )
        for metric in METRICS
    ]
    return shares + _counts(path, cells)


def over_domains(path: Path, totals: Mapping[str, Sums]) -> list[Figure]:
    """All metrics as the unweighted mean over the cells, and the counts, below `path`.

    A cell in which a metric has no data takes no part in its mean.
    """
    means = []
    for metric in METRICS:
        cells = tuple(cell for cell, sums in totals.items() if sums.get(metric.whole, 0))
        means.append(
            Figure(
                (*path, metric.name),
                cells,
                partial(mean_percent, metric, cells),
                denominator=(metric.whole,),
                parts=_domains(metric, cells),
                weights=(1 / max(1, len(cells)),) * len(cells),
            )
        )
    return means + _counts(path, tuple(totals))


def _domains(metric: ShareMetric, cells: tuple[str, ...]) -> tuple[Figure, ...]:
    """The metric of every domain's cell."""
    return tuple(
        Figure(
            ("domains", cell.split("/")[1], metric.name),
            (cell,),
            partial(percent, metric, (cell,)),
            denominator=(metric.whole,),
        )
        for cell in cells
    )


def _counts(path: Path, cells: tuple[str, ...]) -> list[Figure]:
    return [
        Figure(
            (*path, name),
            cells,
            partial(count, amount, cells),
            Kind.COUNT,
            scale=1.0,
            bounds=(0.0, math.inf),
        )
        for name, amount in COUNTS
    ]


def gap_figure(path: Path, reading: str, pairs: Pairs) -> Figure:
    """The utility gap over some domains, at `path`."""
    cells = tuple(cell for pair in pairs for cell in pair)
    return Figure(
        path,
        cells,
        partial(gap, reading, pairs),
        bounds=(-100.0, 100.0),
        denominator=(SCORE.whole,),
        parts=_gaps(reading, pairs) if len(pairs) > 1 else (),
    )


def _gaps(reading: str, pairs: Pairs) -> tuple[Figure, ...]:
    return tuple(
        gap_figure(("utility_gap", image.split("/")[1]), reading, ((image, caption),))
        for image, caption in pairs
    )
