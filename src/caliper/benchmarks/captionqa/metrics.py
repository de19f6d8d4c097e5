"""The figures of CaptionQA as functions of sums (paper 3.4).

A cell's sums: `scored` questions, `points` (the sum of their scores), `correct` answers,
`offered` (scored questions with the cannot option), `cannot` (answers that chose it),
`unscored` questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from caliper.benchmarks.base import count_figure
from caliper.core.report import Figure, Kind, Path
from caliper.core.tally import Sums, add_up


@dataclass(frozen=True, slots=True)
class ShareMetric:
    """A percentage, `part` of `whole`. A score is not a proportion: it has partial credit."""

    name: str
    part: str
    whole: str
    kind: Kind = Kind.PROPORTION


METRICS = (
    ShareMetric("score", "points", "scored", Kind.RATIO),
    ShareMetric("accuracy", "correct", "scored"),
    # The paper's tables divide by questions with the option, the released script by all.
    ShareMetric("cannot", "cannot", "offered"),
    ShareMetric("cannot_of_all", "cannot", "scored"),
)
SCORE = METRICS[0]
Pairs = tuple[tuple[str, str], ...]
COUNTS = (("n_scored", "scored"), ("n_unscored", "unscored"))


def percent(
    reading: str, metric: ShareMetric, cells: tuple[str, ...], sums: Mapping[str, Sums]
) -> float | None:
    """Compute the metric over several cells, in percent; None without data.

    `reading` is `questions`, over all questions of the cells, or `domains`: the unweighted mean
    over the cells in `sums`, None if one of them has no data.
    """
    return _plain(OVERALL[reading](metric, cells, sums))


def gap(reading: str, pairs: Pairs, sums: Mapping[str, Sums]) -> float | None:
    """Compute the utility gap (paper 5): score on the image minus score on the caption, in points.

    `pairs` holds (image cell, caption cell) per domain; `reading` selects how the overall is
    computed, over domains or questions.
    """
    of = OVERALL[reading]
    on_image = of(SCORE, tuple(image for image, _ in pairs), sums)
    on_caption = of(SCORE, tuple(caption for _, caption in pairs), sums)
    return None if on_image is None or on_caption is None else _plain(on_image - on_caption)


def _share(
    metric: ShareMetric, cells: tuple[str, ...], sums: Mapping[str, Sums]
) -> Fraction | None:
    totals = add_up(sums.get(cell, {}) for cell in cells)
    whole = totals.get(metric.whole, 0)
    return Fraction(100 * totals.get(metric.part, 0), whole) if whole else None


def _mean(metric: ShareMetric, cells: tuple[str, ...], sums: Mapping[str, Sums]) -> Fraction | None:
    values = [_share(metric, (cell,), sums) for cell in cells if cell in sums]
    present = [value for value in values if value is not None]
    return (
        sum(present, Fraction()) / len(values) if values and len(present) == len(values) else None
    )


OVERALL = {"domains": _mean, "questions": _share}
"""Functions that compute a metric over several cells, by reading of the overall."""


def _plain(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def over_questions(path: Path, cells: tuple[str, ...]) -> list[Figure]:
    """Return all metrics and counts over the questions of the cells, below `path`."""
    shares = [
        Figure(
            (*path, metric.name),
            cells,
            partial(percent, "questions", metric, cells),
            metric.kind,
            shares=(metric.part, metric.whole) if metric.kind is Kind.PROPORTION else None,
            denominator=(metric.whole,),
            parts=_domains(metric, cells) if len(cells) > 1 else (),
        )
        for metric in METRICS
    ]
    return shares + [count_figure((*path, name), cells, amount) for name, amount in COUNTS]


def over_domains(path: Path, totals: Mapping[str, Sums]) -> list[Figure]:
    """Return all metrics as unweighted means over the cells, and the counts, below `path`.

    Cells without data for a metric are left out of its mean.
    """
    means = []
    for metric in METRICS:
        cells = tuple(cell for cell, sums in totals.items() if sums.get(metric.whole, 0))
        means.append(
            Figure(
                (*path, metric.name),
                cells,
                partial(percent, "domains", metric, cells),
                denominator=(metric.whole,),
                parts=_domains(metric, cells),
                weights=(1 / max(1, len(cells)),) * len(cells),
            )
        )
    return means + [count_figure((*path, name), tuple(totals), amount) for name, amount in COUNTS]


def _domains(metric: ShareMetric, cells: tuple[str, ...]) -> tuple[Figure, ...]:
    """Return the metric for each domain's cell."""
    return tuple(
        Figure(
            ("domains", cell.split("/")[1], metric.name),
            (cell,),
            partial(percent, "questions", metric, (cell,)),
            denominator=(metric.whole,),
        )
        for cell in cells
    )


def gap_figure(path: Path, reading: str, pairs: Pairs) -> Figure:
    """Return the figure at `path` for the utility gap over some domains."""
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
