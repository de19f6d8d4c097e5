"""The leaderboard page: one self-contained file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from caliper.adapters import phrases
from caliper.adapters.pages import charts
from caliper.adapters.pages.page import TABLES, render
from caliper.analysis.leaderboard import Board


def render_leaderboard(boards: Sequence[Board], **around: Any) -> str:
    """Render the page: a table and bars with whiskers for every board. `around` are further values
    for `page.render`, set when a server renders the page.
    """
    return render(
        "leaderboard.html",
        scripts=TABLES,
        boards=boards,
        axis_of=_axis,
        behind=phrases.distance_to_best,
        standing=phrases.exclusion,
        **around,
    )


def _axis(board: Board) -> charts.Scale | None:
    return charts.scale(row.estimates[board.by] for row in board.standings)
