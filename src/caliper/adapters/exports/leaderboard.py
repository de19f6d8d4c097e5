"""Leaderboards as CSV, Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from caliper.adapters import phrases
from caliper.adapters.exports.csv_text import csv_text
from caliper.adapters.exports.markdown import grid, plain
from caliper.analysis.leaderboard import Board, LeaderboardRow


def leaderboard_csv(board: Board) -> str:
    """One row per checkpoint: place, name, then value, low and high of every column.

    Figures have full precision; missing data is empty.
    """
    heads = (f"{name}{end}" for name in _names(board) for end in ("", " low", " high"))
    rows: list[Sequence[object]] = [
        ("place", "checkpoint", *heads, "coverage", "partial", "lacks", "stuffed")
    ]
    for row in board.standings:
        numbers = (number for e in row.estimates for number in (e.value, e.low, e.high))
        partial, stuffed = (str(each).lower() for each in (row.partial, row.stuffed))
        state = (row.coverage, partial, ", ".join(row.lacking), stuffed)
        rows.append((row.place, row.name, *numbers, *state))
    return csv_text(rows)


def _names(board: Board) -> tuple[str, ...]:
    return tuple(column.label for column in board.columns)


def leaderboard_markdown(board: Board) -> str:
    """A heading, a table with one row per checkpoint, and remarks on them."""
    head = ("", *_names(board), "Behind the best")
    table = grid(head, [_row(row) for row in board.standings])
    blocks = [f"### {plain(board.title)}", table]
    if remarks := list(_remarks(board)):
        blocks.append("\n".join(f"- {plain(remark)}" for remark in remarks))
    return "\n\n".join(blocks) + "\n"


def _row(row: LeaderboardRow) -> tuple[str, ...]:
    figures = (phrases.number(estimate.value) for estimate in row.estimates)
    return (f"{row.place}. {row.name}", *figures, phrases.distance_to_best(row))


def _remarks(board: Board) -> Iterator[str]:
    for row in board.standings:
        if state := phrases.exclusion(row):
            late = "; placed after complete runs" if row.partial or row.lacking else ""
            yield f"{row.name}: {state}{late}"
        for remark in row.remarks:
            yield f"{row.name} differs: {remark}"


def leaderboard_json(boards: Sequence[Board]) -> str:
    """Every board with its rows as JSON: sorted keys, figures at full precision."""
    return json.dumps([_board(board) for board in boards], indent=2, sort_keys=True) + "\n"


def _board(board: Board) -> dict[str, Any]:
    return {
        "title": board.title,
        "columns": [
            {"benchmark": column.benchmark, "label": column.label, "path": ".".join(column.path)}
            for column in board.columns
        ],
        "ranked_by": board.columns[board.by].label,
        "rows": [
            {name: value for name, value in asdict(row).items() if name != "run"}
            for row in board.standings
        ],
    }
