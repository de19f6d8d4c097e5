"""Two rankings as a table of text."""

from __future__ import annotations

from caliper.adapters.phrases import number, with_interval
from caliper.adapters.text_tables import TextTable
from caliper.analysis.rankings import RankingPair


def ranking_table(title: str, ranking: RankingPair, values: tuple[str, str]) -> TextTable:
    """Two rankings of the same contestants, their `values` under these heads."""
    found = ranking.correlation
    note = found.remark or (
        f"Kendall's tau {with_interval(found.kendall)}, "
        f"Spearman's rho {with_interval(found.spearman)}."
    )
    if found.remark and found.kendall.value is not None:
        note = (
            f"Kendall's tau {number(found.kendall.value)}, Spearman's rho "
            f"{number(found.spearman.value)}; {found.remark}."
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
