"""Tables of text in sections, for terminals and pages alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from caliper.adapters.phrases import number, with_interval
from caliper.core.report import Estimate

if TYPE_CHECKING:
    # They import numpy, which commands do without until they analyse.
    from caliper.analysis.agreement import Coefficient
    from caliper.analysis.rankings import RankingPair

TextRow = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of text. The first column of a row is its label.

    Pages draw `bars`, one per row, under the head `chart`, and above the table `points`: for each
    row its figures along both `axes`; or `radar`: of each column its name, and the figures of the
    first rows. Terminals do without.
    """

    title: str
    heads: TextRow
    rows: tuple[TextRow, ...]
    note: str = ""
    chart: str = ""
    bars: tuple[Estimate, ...] = ()
    axes: tuple[str, str] = ("", "")
    points: tuple[tuple[str, Estimate, Estimate], ...] = ()
    radar: tuple[tuple[str, tuple[Estimate, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class TableSection:
    """The tables of one analysis; `remark` says why there are none, or not all."""

    name: str
    title: str
    tables: tuple[TextTable, ...]
    remark: str = ""


def bar_of(coefficient: Coefficient) -> Estimate:
    """A coefficient as pages draw it."""
    return Estimate(coefficient.value, coefficient.low, coefficient.high)


def share_text(count: int, whole: int) -> str:
    """A count in percent of the whole; empty without a whole."""
    return number(100 * count / whole) if whole else ""


def value_text(value: float | None) -> str:
    """A number; empty for None."""
    return "" if value is None else number(value)


def ranking_table(title: str, ranking: RankingPair, values: tuple[str, str]) -> TextTable:
    """Two rankings of the same contestants, their `values` under these heads."""
    correlation = ranking.correlation
    note = correlation.remark or (
        f"Kendall's tau {with_interval(correlation.kendall)}, "
        f"Spearman's rho {with_interval(correlation.spearman)}."
    )
    if correlation.remark and correlation.kendall.value is not None:
        note = (
            f"Kendall's tau {number(correlation.kendall.value)}, Spearman's rho "
            f"{number(correlation.spearman.value)}; {correlation.remark}."
        )
    rows = (
        (
            change.name,
            number(change.before),
            number(change.after),
            f"{change.place_before} \N{RIGHTWARDS ARROW} {change.place_after}",
        )
        for change in ranking.changes
    )
    return TextTable(title, ("", *values, "place"), tuple(rows), note)
