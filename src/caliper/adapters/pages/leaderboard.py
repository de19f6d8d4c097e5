"""The leaderboard page: one self-contained file."""

from __future__ import annotations

from collections.abc import Sequence

from caliper.adapters import phrases
from caliper.adapters.pages import charts
from caliper.adapters.pages.page import render
from caliper.analysis.leaderboard import Board


def render_leaderboard(boards: Sequence[Board]) -> str:
    """Render the page: a table and bars with whiskers for every board."""
    return render(
        "leaderboard.html",
        boards=boards,
        axis_of=_axis,
        behind=phrases.distance_to_best,
        standing=phrases.exclusion,
    )


def _axis(board: Board) -> charts.Scale | None:
    return charts.scale(row.estimates[board.by] for row in board.standings)
