"""The default readings on replies that other people labelled, one file a half."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.benchmarks.labelled.tables import COLUMNS, found, lines, rows, table

FOLDER = Path(__file__).parent
REPLIES = sorted(path.name for path in FOLDER.glob("replies_*.jsonl"))
JUDGEMENTS = sorted(path.name for path in FOLDER.glob("judgements_*.jsonl"))
FIDELITY = Path(__file__).parents[3] / "docs" / "fidelity.md"


def test_the_development_half_is_there() -> None:
    assert "replies_development.jsonl" in REPLIES
    assert "judgements_development.jsonl" in JUDGEMENTS


@pytest.mark.parametrize("name", REPLIES)
def test_replies_of_readers(name: str) -> None:
    counts = table(rows(FOLDER / name))
    shown = "\n".join(lines(counts))
    shares = {
        kind: counts[kind, "right"] / sum(counts[kind, column] for column in COLUMNS)
        for kind, _ in counts
    }
    assert shares["clear"] >= 0.97, shown
    assert shares["cannot_words"] >= 0.90, shown
    assert counts["none", "wrong"] == 0, shown


@pytest.mark.parametrize("name", JUDGEMENTS)
def test_replies_of_judges(name: str) -> None:
    labelled = rows(FOLDER / name)
    shown = "\n".join(lines(table(labelled)))
    assert [row for row in labelled if found(row) == "wrong"] == [], shown
    clear = [found(row) == "right" for row in labelled if row["expect"] != ["none"]]
    assert sum(clear) / len(clear) >= 0.85, shown


@pytest.mark.parametrize("name", [*REPLIES, *JUDGEMENTS])
def test_the_documentation_has_the_table(name: str) -> None:
    assert "\n".join(lines(table(rows(FOLDER / name)))) in FIDELITY.read_text("utf-8")
