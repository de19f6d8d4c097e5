from __future__ import annotations

import re
from pathlib import Path

from caliper.adapters.exports.parquet import SCHEMA
from caliper.cli.exits import Exit
from caliper.core.outcome import Reason

PAGE = (Path(__file__).parents[2] / "docs" / "report.md").read_text("utf-8")


def first_column(heading: str) -> list[str]:
    """The first cells of the table that the heading stands over, without backticks."""
    table = PAGE.split(f"\n| {heading} | meaning |\n", 1)[1].split("\n\n", 1)[0]
    return [cell.strip("`") for cell in re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)]


def test_the_columns_of_the_verdicts_in_their_order() -> None:
    assert first_column("column") == SCHEMA.names


def test_all_reasons_in_their_order() -> None:
    assert first_column("reason") == [str(reason) for reason in Reason]


def test_all_exit_codes() -> None:
    assert first_column("code") == [str(int(code)) for code in Exit]
