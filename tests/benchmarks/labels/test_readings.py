"""The default readings on labelled replies. Every set has to reach the same aims."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from tests.benchmarks.labels.tables import COLUMNS, found, lines, rows, table

FOLDER = Path(__file__).parent
REPLIES = (
    "replies_development.jsonl",
    "replies_development_2.jsonl",
    "replies_development_3.jsonl",
    "replies_development_4.jsonl",
    "replies_heldout.jsonl",
)
JUDGEMENTS = (
    "judgements_development.jsonl",
    "judgements_development_2.jsonl",
    "judgements_heldout.jsonl",
)
HELD_OUT = "heldout"
FIDELITY = Path(__file__).parents[3] / "docs" / "fidelity.md"


@cache
def counted(name: str) -> Counter[tuple[str, str]]:
    return table(rows(FOLDER / name))


def test_no_labelled_file_is_left_out() -> None:
    assert {path.name for path in FOLDER.glob("*.jsonl")} == {*REPLIES, *JUDGEMENTS}


@pytest.mark.parametrize("name", REPLIES)
def test_replies_of_readers(name: str) -> None:
    counts = counted(name)
    shown = "\n".join(lines(counts))
    sizes = {kind: sum(counts[kind, column] for column in COLUMNS) for kind, _ in counts}
    shares = {kind: counts[kind, "right"] / size for kind, size in sizes.items()}
    assert shares["clear"] >= 0.97, shown
    assert shares["cannot_words"] >= 0.90, shown
    for kind, size in sizes.items():
        assert counts[kind, "wrong"] <= 0.015 * size, shown


@pytest.mark.parametrize("name", JUDGEMENTS)
def test_replies_of_judges(name: str) -> None:
    labelled = rows(FOLDER / name)
    shown = "\n".join(lines(table(labelled)))
    wrong = [row for row in labelled if found(row) == "wrong"]
    assert len(wrong) <= (0.02 * len(labelled) if HELD_OUT in name else 0), shown
    clear = [found(row) == "right" for row in labelled if row["expect"] != ["none"]]
    assert sum(clear) / len(clear) >= 0.85, shown


@pytest.mark.parametrize("name", [*REPLIES, *JUDGEMENTS])
def test_the_table_is_written_down(name: str) -> None:
    counts = counted(name)
    assert "\n".join(lines(counts)) in (FOLDER / "README.md").read_text("utf-8")
    if HELD_OUT in name:
        sums = [sum(counts[each] for each in counts if each[1] == column) for column in COLUMNS]
        row = " | ".join(map(str, (sum(sums), *sums)))
        assert f"s | {row} |\n" in FIDELITY.read_text("utf-8")
