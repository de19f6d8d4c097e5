import csv
import io

import pytest

from caliper.adapters.exports.csv_text import csv_text
from caliper.adapters.exports.leaderboard import leaderboard_csv
from caliper.analysis.leaderboard import Board, LeaderboardRow
from caliper.core.report import Estimate


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r"])
def test_no_text_is_a_formula(first: str) -> None:
    name = f'{first}HYPERLINK("http://example.org","a")'
    ((cell, number),) = csv.reader(io.StringIO(csv_text([(name, -0.5)]), newline=""))
    assert cell == f"'{name}"
    assert float(number) == -0.5


def test_a_checkpoint_may_be_named_like_a_formula() -> None:
    row = LeaderboardRow(0, "=1+1", 1, (Estimate(None),), 1.0, partial=False)
    assert leaderboard_csv(Board("Average", (), 0, (row,))).splitlines()[1].startswith("1,'=1+1,")


def test_other_texts_stay_as_they_are() -> None:
    assert csv_text([("a=b", None, 'with "quotes"'), ("'=a", 0.25, "")]) == (
        'a=b,,"with ""quotes"""\n\'=a,0.25,\n'
    )
