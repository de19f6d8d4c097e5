"""The figures and tables of CAPability: 13 columns and their unweighted mean (paper, Table 3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from caliper.benchmarks.base import ReportLayout, Settings, count_figure
from caliper.benchmarks.capability.metrics import (
    TaskMean,
    f1_of_one,
    f1_score,
    labels_per_caption,
    mean,
    precision,
    share,
)
from caliper.benchmarks.capability.scoring import CAPTION, KT, QA, Cell
from caliper.benchmarks.capability.settings import notes, setting_value
from caliper.benchmarks.capability.tasks import NAMES, TASKS
from caliper.benchmarks.stability import SPREADS
from caliper.core.report import Figure, Kind, Path, Table, TableRow
from caliper.core.tally import Sums, Tally

Measure = Callable[[Sums], float | None]
Combine = Callable[[Iterable[float | None]], float | None]


@dataclass(frozen=True, slots=True)
class _Metric:
    """A column: its names in report.json and tables, its kind of cells, and how it is computed.

    `denominator` names the sums it is divided by, and `part` the sum that is divided if it is a
    share; `measure` computes what is more than that. `bounds` are its minimum and maximum.
    """

    name: str
    title: str
    kind: str
    denominator: tuple[str, ...]
    part: str = ""
    measure: Measure | None = None
    bounds: tuple[float, float] = (0.0, 100.0)

    def value(self, sums: Sums) -> float | None:
        """Compute the metric from the sums of one cell."""
        measure = self.measure or partial(share, self.part, self.denominator[0])
        return measure(sums)


_METRICS = (
    # Correct among mentioned (equation 1), and among all (equation 2; "Hit" in the README).
    _Metric("precision", "Precision", CAPTION, ("hit",), "correct", precision),
    _Metric("recall", "Recall", CAPTION, ("scored",), "correct"),
    _Metric("f1", "F1", CAPTION, ("hit", "scored"), measure=f1_score),
    # Mentioned among all (equation 3).
    _Metric("hit_rate", "Hit rate", CAPTION, ("scored",), "hit"),
)
_QA_METRICS = (
    _Metric("qa_accuracy", "QA accuracy", QA, ("scored",), "correct"),
    # Known but not told / known (equation 4). Known: the question about the media was answered
    # correctly. Not told: the caption is wrong or silent. Only pairs with both scored count.
    _Metric("kt_bar", "KT-bar", KT, ("known",), "untold"),
)
_LABELS = _Metric(
    "labels",
    "Labels per caption",
    CAPTION,
    ("listed",),
    measure=labels_per_caption,
    bounds=(1.0, math.inf),
)
_ONE_LABEL = _Metric("f1_one", "F1, one label", CAPTION, ("hit", "scored"), measure=f1_of_one)
_STABILITY = (
    ("range", "Range", "The greatest figure less the least, per task; averaged over the tasks."),
    ("std", "Standard deviation", "Of a sample (n - 1), per task; averaged over the tasks."),
)
_COUNTS = {CAPTION: ("n_scored", "n_unscored"), QA: ("qa_n_scored", "qa_n_unscored")}
_Columns = Mapping[tuple[str, str], tuple[str, ...]]
"""The cells of each (kind, task), one per repeat, in order."""


def report(tally: Tally, settings: Settings) -> ReportLayout:
    """Return figures for the tasks in the tally, and tables of them."""
    columns = _columns(tally)
    figures = [
        *_figures_of(_METRICS, columns),
        *_figures_of(_QA_METRICS, columns),
        *_labels(tally, columns, settings),
        *_stability(columns),
        *_counts(columns),
    ]
    paths = frozenset(figure.path for figure in figures)
    scored = [task for task in NAMES if _has_data(tally, columns.get((CAPTION, task), ()))]
    return ReportLayout(
        headline=("average", "f1"),
        figures=tuple(figures),
        tables=tuple(_tables(columns, paths, len(scored))),
        notes=(*_subset_note(scored), *_qa_note(paths), *notes(settings)),
    )


def _columns(tally: Tally) -> _Columns:
    cells_of: dict[tuple[str, str], list[Cell]] = {}
    for cell in map(Cell.parse, tally):
        cells_of.setdefault((cell.kind, cell.task), []).append(cell)
    order = {name: place for place, name in enumerate(NAMES)}
    return {
        column: tuple(cell.name for cell in sorted(cells, key=lambda cell: cell.repeat))
        for column, cells in sorted(cells_of.items(), key=lambda entry: order[entry[0][1]])
    }


def _has_data(tally: Tally, cells: tuple[str, ...]) -> bool:
    return any(tally.total(cell)["scored"] for cell in cells)


def over_repeats(
    measure: Measure, combine: Combine, cells: tuple[str, ...], sums: Mapping[str, Sums]
) -> float | None:
    """Combine the figures of a task's repeats (for one repeat: its figure)."""
    return combine(measure(sums.get(cell, {})) for cell in cells)


def _figures_of(metrics: tuple[_Metric, ...], columns: _Columns) -> list[Figure]:
    return [
        figure
        for metric in metrics
        for figure in _column_figures(metric, metric.name, mean, columns)
    ]


def _labels(tally: Tally, columns: _Columns, settings: Settings) -> list[Figure]:
    """Figures on labels, for category tasks whose verdicts count them.

    They are the labels per caption and, if any label may match, the F1 for exactly one label.
    """
    category = {
        column: cells
        for column, cells in columns.items()
        if column[0] == CAPTION and any(tally.total(cell).get("listed") for cell in cells)
    }
    any_label = setting_value(settings, "category_labels") == "any"
    metrics = (_LABELS, _ONE_LABEL) if any_label else (_LABELS,)
    # No average: it would cover three tasks, next to averages over thirteen.
    return [
        figure
        for metric in metrics
        for figure in _column_figures(metric, metric.name, mean, category)[:-1]
    ]


def _stability(columns: _Columns) -> list[Figure]:
    """Stability over repeated judging, if any: range (paper 4.3) and standard deviation."""
    if all(len(cells) < 2 for (kind, _), cells in columns.items() if kind == CAPTION):
        return []
    return [
        figure
        for name, combine in SPREADS
        for metric in _METRICS
        for figure in _column_figures(metric, f"{name}_{metric.name}", combine, columns)
    ]


def _column_figures(
    metric: _Metric, name: str, combine: Combine, columns: _Columns
) -> list[Figure]:
    """Return a metric's figure for every task with cells, and their average."""
    figures = []
    for (kind, task), cells in columns.items():
        if kind != metric.kind:
            continue
        # Repeats may score different questions, so the mean of shares is not the share of the
        # sums; intervals then come from the jackknife.
        single = bool(metric.part) and len(cells) == 1 and combine is mean
        figures.append(
            Figure(
                path=("tasks", task, name),
                cells=cells,
                statistic=partial(over_repeats, metric.value, combine, cells),
                kind=Kind.PROPORTION if single else _kind(combine),
                shares=(metric.part, metric.denominator[0]) if single else None,
                denominator=metric.denominator,
                bounds=metric.bounds,
            )
        )
    if not figures:
        return []
    average = Figure(
        path=("average", name),
        cells=tuple(cell for figure in figures for cell in figure.cells),
        statistic=TaskMean(figures),
        kind=_kind(combine),
        denominator=metric.denominator,
        parts=tuple(figures),
        weights=(1 / len(figures),) * len(figures),
    )
    return [*figures, average]


def _kind(combine: Combine) -> Kind:
    """A range is not a smooth function of its clusters, so the jackknife does not apply."""
    return Kind.RATIO if combine is mean else Kind.PLAIN


def _counts(columns: _Columns) -> list[Figure]:
    return [
        count_figure(("tasks", task, name), cells, amount)
        for (kind, task), cells in columns.items()
        if kind in _COUNTS
        for name, amount in zip(_COUNTS[kind], ("scored", "unscored"), strict=True)
    ]


def _tables(columns: _Columns, paths: frozenset[Path], scored: int) -> Iterable[Table]:
    main = [metric.name for metric in _METRICS]
    title = "Precision, recall, F1 and hit rate (%)"
    heads = [metric.title for metric in _METRICS]
    yield _table(title, [*heads, "n"], [*main, "n_scored"], paths, _mean_note(scored))
    yield from _label_table(paths)
    qa_names = [metric.name for metric in _QA_METRICS]
    if ("average", "qa_accuracy") in paths:
        heads_qa = [metric.title for metric in _QA_METRICS]
        note = "KT-bar: known when asked, but wrong or missing in the caption; lower is better."
        title = "Questions about the media (%)"
        yield _table(title, [*heads_qa, "n"], [*qa_names, "qa_n_scored"], paths, note)
    if ("average", "range_f1") in paths:
        repeats = max(len(cells) for cells in columns.values())
        for name, title, note in _STABILITY:
            columns_of = [f"{name}_{column}" for column in main]
            yield _table(f"{title} over {repeats} repeats (points)", heads, columns_of, paths, note)


def _label_table(paths: frozenset[Path]) -> Iterator[Table]:
    tasks = [task for task in NAMES if _path(task, _LABELS) in paths]
    metrics = [
        metric
        for metric in (_LABELS, *_METRICS, _ONE_LABEL)
        if metric.name in ("labels", "f1", "f1_one")
        and any(_path(task, metric) in paths for task in tasks)
    ]
    if tasks:
        yield Table(
            "Labels stated in the category tasks",
            tuple(metric.title for metric in metrics),
            tuple(
                TableRow(TASKS[task].title, tuple(_path(task, metric) for metric in metrics))
                for task in tasks
            ),
            "Labels per caption: those that the judge listed, over the captions that state any."
            " F1, one label: as if exactly one had to be stated (category_labels=one).",
        )


def _path(task: str, metric: _Metric) -> Path:
    return ("tasks", task, metric.name)


def _table(
    title: str, heads: list[str], names: list[str], paths: frozenset[Path], note: str
) -> Table:
    """Return a table of tasks by metrics, `average` last; the bar chart shows F1."""
    prefixes = [("tasks", task) for task in NAMES] + [("average",)]
    rows = []
    for prefix in prefixes:
        cells = tuple(path if (path := (*prefix, name)) in paths else None for name in names)
        if any(cells):
            label = TASKS[prefix[1]].title if len(prefix) == 2 else "average"
            rows.append(TableRow(label, cells))
    chart = names.index("f1") if "f1" in names else 0
    return Table(title, tuple(heads), tuple(rows), note, chart)


def _mean_note(scored: int) -> str:
    return f"average: the plain mean of {scored} of the {len(NAMES)} tasks."


def _qa_note(paths: frozenset[Path]) -> tuple[str, ...]:
    if ("average", "qa_accuracy") not in paths:
        return ()
    return ("Open answers about the media are judged by Caliper's own rule over normalised words.",)


def _subset_note(scored: list[str]) -> tuple[str, ...]:
    if len(scored) == len(NAMES):
        return ()
    missing = ", ".join(name for name in NAMES if name not in scored)
    return (f"{_mean_note(len(scored)).capitalize()} Without data: {missing}.",)
