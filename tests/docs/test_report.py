from __future__ import annotations

import re
from pathlib import Path

from caliper.adapters.exports.parquet import SCHEMA
from caliper.cli.exits import Exit
from caliper.core.outcome import Reason

PAGE = (Path(__file__).parents[2] / "docs" / "report.md").read_text("utf-8")


def explained(heading: str) -> list[str]:
    """What the list below the heading explains, without backticks."""
    listed = PAGE.split(f"\n{heading}\n\n", 1)[1].split("\n\n", 1)[0]
    return [name.strip("`") for name in re.findall(r"^- (.+?): ", listed, re.MULTILINE)]


def test_the_columns_of_the_verdicts_in_their_order() -> None:
    assert explained("Columns:") == SCHEMA.names


def test_all_reasons_in_their_order() -> None:
    assert explained("Reasons:") == [str(reason) for reason in Reason]


def test_all_exit_codes() -> None:
    assert explained("## Exit codes") == [str(int(code)) for code in Exit]
