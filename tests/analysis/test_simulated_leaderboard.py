"""Leaderboards of checkpoints whose true order is known: how often a row is "clear" by chance.

The best is whoever comes out first in the draw, as on a real board.
"""

from collections.abc import Sequence

import numpy as np
import pytest
from tests.fakes.random_runs import RECALL, at_least, at_most, side_by_side

from caliper.analysis.compare import difference
from caliper.analysis.intervals import estimate
from caliper.analysis.leaderboard import Column, LeaderboardRow, add_differences, rank
from caliper.analysis.significance import LEVEL, POWER
from caliper.core.report import BenchmarkReport, Coverage, Report
from caliper.core.tally import Tally

BOARDS = 100
COLUMN = Column("capability", "Recall", RECALL.path)


def report(run: int, tally: Tally) -> Report:
    told = {RECALL.path: estimate(RECALL, tally)}
    part = BenchmarkReport(COLUMN.benchmark, "Simulated", RECALL.path, told, (), Coverage(1, 1))
    return Report(str(run), "complete", (part,))


def drawn(draw: np.random.Generator, shifts: Sequence[float]) -> tuple[LeaderboardRow, ...]:
    """The rows of runs that are right in so much more of all questions."""
    tallies = side_by_side(draw, shifts, max(shifts))
    board = rank("board", (COLUMN,), 0, [report(*each) for each in enumerate(tallies)])
    first, *others = (row.run for row in board.standings)
    apart = {run: difference(RECALL, tallies[first], tallies[run]) for run in others}
    return add_differences(board, apart).standings


@pytest.mark.parametrize("checkpoints", [3, 10])
def test_of_equal_checkpoints_one_is_clear_no_more_often_than_the_level_says(
    checkpoints: int,
) -> None:
    draw = np.random.default_rng(31)
    boards = [drawn(draw, [0.0] * checkpoints) for _ in range(BOARDS)]
    assert at_most(sum(any(row.clear for row in rows) for rows in boards), LEVEL, BOARDS)


def test_those_that_are_worse_are_told_from_those_that_are_as_good_as_the_best() -> None:
    draw, shifts = np.random.default_rng(32), [0.2] * 5 + [0.0] * 5
    boards = [drawn(draw, shifts) for _ in range(BOARDS)]
    wrong = sum(any(row.clear and shifts[row.run] for row in rows) for rows in boards)
    found = sum(row.clear for rows in boards for row in rows if not shifts[row.run])
    assert at_most(wrong, LEVEL, BOARDS)
    assert at_least(found, POWER, 5 * BOARDS)
