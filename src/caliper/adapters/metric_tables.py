"""Metrics of captions, and their correlation with people's scores, as tables of text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from caliper.adapters.phrases import number, with_interval
from caliper.adapters.text_tables import TableSection, TextTable, bar_of, value_text
from caliper.analysis.correlation import CorrelationEstimate
from caliper.analysis.human_scores import Measures
from caliper.core.report import Estimate

_DECIMALS = 4
_COEFFICIENTS = {
    "Pearson's r": "pearson",
    "Kendall's tau-b": "kendall",
    "tau-c": "kendall_c",
    "Spearman's rho": "spearman",
}


def metric_section(measures: Measures, images: int, embedders: Sequence[str] = ()) -> TableSection:
    """A row per metric and a column per model. One model has bars, several have a radar."""
    by_metric = list(zip(*measures.values(), strict=True))
    rows = tuple(
        (some[0].name, *(with_interval(one.whole, _DECIMALS) for one in some)) for some in by_metric
    )
    alone = len(measures) == 1
    table = TextTable(
        f"Over {images:,} images",
        ("", *measures),
        rows,
        f"CLIP: {', '.join(embedders)}." if embedders else "",
        chart=next(iter(measures)) if alone else "",
        bars=tuple(some[0].whole for some in by_metric) if alone else (),
        radar=()
        if alone
        else tuple((model, tuple(one.whole for one in some)) for model, some in measures.items()),
    )
    return TableSection("metrics", "Metrics", (table,))


def correlation_section(
    estimates: Mapping[str, CorrelationEstimate], noun: str, others: Iterable[TextTable] = ()
) -> TableSection:
    """The correlation of each metric with people's scores of models or captions, and `others`."""
    remarks = dict.fromkeys(one.remark for one in estimates.values() if one.remark)
    tables = (correlation_table(f"Over {noun}", noun, estimates), *others)
    return TableSection("people", "Correlation with people", tables, "; ".join(remarks))


def correlation_table(
    title: str, noun: str, estimates: Mapping[str, CorrelationEstimate]
) -> TextTable:
    """The coefficients of each metric, and how many models or captions they are over."""
    rows = tuple(
        (
            name,
            f"{one.models:,}",
            *(with_interval(getattr(one, field)) for field in _COEFFICIENTS.values()),
        )
        for name, one in estimates.items()
    )
    bars = tuple(bar_of(one.kendall) for one in estimates.values())
    heads = ("", noun, *_COEFFICIENTS)
    return TextTable(title, heads, rows, chart="Kendall's tau-b", bars=bars)


def scores_table(
    title: str, human: Mapping[str, float], metrics: Mapping[str, Mapping[str, float]], whole: str
) -> TextTable:
    """People's scores and the metrics of each model. Pages draw the metric `whole` against the
    scores.
    """
    names = dict.fromkeys(name for model in human for name in metrics[model])
    rows = [(name, *(value_text(metrics[model].get(name)) for model in human)) for name in names]
    rows.insert(0, ("people", *map(number, human.values())))
    points = tuple(
        (model, Estimate(score), Estimate(metrics[model].get(whole)))
        for model, score in human.items()
    )
    axes = ("people's score", whole)
    return TextTable(title, ("", *human), tuple(rows), axes=axes, points=points)
