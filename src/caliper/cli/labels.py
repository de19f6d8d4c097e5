"""Reads people's labels: the scores that they gave to questions of a run.

Labels are JSON Lines with one row per question, like verdicts.jsonl; only these fields are read:

    {"question_id": "4f1c...", "repeat": 0, "score": -1}

`repeat` is optional. A score of null means that the person gave none. A score that the question
cannot have is refused; questions that are in none of the runs are ignored.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from caliper.adapters.datasets import jsonrows
from caliper.core.errors import InvalidInput
from caliper.core.rows import Row

Labels = dict[tuple[str, int], str | None]
"""The label by question id and repeat."""
Possible = Mapping[str, Sequence[float]]
"""The possible scores of each question, by question id; empty if it is measured, not judged."""


def label_of(score: float | None) -> str | None:
    """A score as a label: equal scores are equal texts."""
    return None if score is None else f"{score:g}"


def read_labels(path: Path, possible: Possible) -> Labels:
    """The labels in a file. Raises InvalidInput naming file, line and field."""
    labels: Labels = {}
    for row in jsonrows.line_rows(path):
        key, label = _label(row)
        if key in labels:
            raise row.error("question_id", "the question appears twice")
        if key[0] in possible and label is not None:
            _refuse_impossible(label, possible[key[0]], row)
        labels[key] = label
    if not labels:
        raise InvalidInput("no labels", file=str(path))
    return labels


def _refuse_impossible(label: str, scores: Sequence[float], row: Row) -> None:
    allowed = [label_of(score) for score in scores]
    if label not in allowed:
        message = (
            f"the question has no score of {label}; it can have: {', '.join(filter(None, allowed))}"
            if allowed
            else "the question is measured, and nobody judges it"
        )
        raise row.error("score", message)


def _label(row: Row) -> tuple[tuple[str, int], str | None]:
    question, repeat = row.fields.get("question_id"), row.fields.get("repeat", 0)
    if not isinstance(question, str) or not question:
        raise row.error("question_id", "expected a text")
    if not isinstance(repeat, int) or isinstance(repeat, bool):
        raise row.error("repeat", "expected a whole number")
    if "score" not in row.fields or not _is_score(row.fields["score"]):
        raise row.error("score", "expected a number or null")
    return (question, repeat), label_of(row.fields["score"])


def _is_score(value: object) -> bool:
    if isinstance(value, int | float) and not isinstance(value, bool):
        # JSON has whole numbers that are too large for a float.
        return abs(value) <= sys.float_info.max
    return value is None
