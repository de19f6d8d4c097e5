"""People's labels: scores that they gave to questions of a run.

JSON Lines, one row a question, as verdicts.jsonl has them; only these fields are looked at:

    {"question_id": "4f1c...", "repeat": 0, "score": -1}

`repeat` may be left out. A score of null says that the person gave none. A score that the
question cannot have is refused; questions that are in none of the runs are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from caliper.core.errors import InvalidInput

Labels = dict[tuple[str, int], str | None]
"""The label by question id and repeat."""
Possible = Mapping[str, Sequence[float]]
"""The scores that a question can have, by question id; none where nobody judges it."""


def label_of(score: float | None) -> str | None:
    """A score as a label: equal scores are equal texts."""
    return None if score is None else f"{score:g}"


def read_labels(path: Path, possible: Possible) -> Labels:
    """The labels in a file. Raises InvalidInput naming file, line and field."""
    labels: Labels = {}
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot be read: {error}", file=str(path)) from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            key, label = _row(line, path, number)
            if key in labels:
                raise InvalidInput(
                    "the question is there twice", file=str(path), line=number, field="question_id"
                )
            if key[0] in possible and label is not None:
                _refuse_impossible(label, possible[key[0]], path, number)
            labels[key] = label
    if not labels:
        raise InvalidInput("no labels", file=str(path))
    return labels


def _refuse_impossible(label: str, scores: Sequence[float], path: Path, number: int) -> None:
    known = [label_of(score) for score in scores]
    if label not in known:
        message = (
            f"the question has no score of {label}; it can have: {', '.join(filter(None, known))}"
            if known
            else "the question is measured, and nobody judges it"
        )
        raise InvalidInput(message, file=str(path), line=number, field="score")


def _row(line: str, path: Path, number: int) -> tuple[tuple[str, int], str | None]:
    def wrong(message: str, field: str = "") -> InvalidInput:
        return InvalidInput(message, file=str(path), line=number, field=field)

    try:
        row = json.loads(line)
    except ValueError as error:
        raise wrong(f"not JSON: {error}") from error
    if not isinstance(row, dict):
        raise wrong("expected an object")
    question, repeat, score = row.get("question_id"), row.get("repeat", 0), row.get("score")
    if not isinstance(question, str) or not question:
        raise wrong("expected a text", "question_id")
    if not isinstance(repeat, int) or isinstance(repeat, bool):
        raise wrong("expected a whole number", "repeat")
    if "score" not in row or isinstance(score, bool) or not isinstance(score, int | float | None):
        raise wrong("expected a number or null", "score")
    return (question, repeat), label_of(score)
