"""The page of analyses: one self-contained file."""

from __future__ import annotations

from collections.abc import Sequence

from caliper.adapters.pages import charts
from caliper.adapters.pages.page import TABLES, render
from caliper.adapters.text_tables import TableSection, TextTable


def render_analyses(
    title: str, sections: Sequence[TableSection], runs: Sequence[str] = (), note: str = ""
) -> str:
    """Render the page: a section for each analysis. Texts of runs and questions are escaped."""
    return render(
        "analyses.html",
        scripts=TABLES,
        title=title,
        sections=sections,
        runs=runs,
        note=note,
        axis_of=_axis,
        scatter=charts.scatter,
        radar_of=_radar,
    )


def _axis(table: TextTable) -> charts.Scale | None:
    return charts.scale(table.bars)


def _radar(table: TextTable) -> charts.Radar | None:
    spokes = len(table.radar[0][1]) if table.radar else 0
    return charts.radar([row[0] for row in table.rows[:spokes]], table.radar)
