"""Reads people's labels: the scores that they gave to questions of a run.

Labels are JSON Lines with one row per question, like verdicts.jsonl; only these fields are read:

    {"question_id": "4f1c...", "repeat": 0, "score": -1}

`repeat` is optional. A score of null means that the person gave none. A score that the question
cannot have is refused; questions that are in none of the runs are ignored.

A JSON list is an export of Label Studio: the tasks of `caliper labels export` with everyone's
labels. Each label must fit the run that its task names.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from caliper.adapters.datasets import jsonrows
from caliper.adapters.datasets.label_studio import PersonLabel, person_labels
from caliper.adapters.exports.label_studio import LABEL
from caliper.core.errors import InvalidInput
from caliper.core.rows import Row
from caliper.pipeline.comparing.question_verdicts import Questions, QuestionVerdicts

Labels = dict[tuple[str, int], str | None]
"""The label by question id and repeat."""
Possible = Mapping[str, Sequence[float]]
"""The possible scores of each question, by question id; empty if it is measured, not judged."""


@dataclass(frozen=True, slots=True)
class StudioLabels:
    """The labels of people in Label Studio by their names, None for a skipped task; by question the
    probability with which a task was drawn at random, if it was; and the doubtful questions.
    """

    people: dict[str, Labels] = field(default_factory=dict)
    probability: dict[str, float | None] = field(default_factory=dict)
    doubtful: set[str] = field(default_factory=set)

    def count(self, *, skipped: bool) -> int:
        """The number of labels, or of skipped ones."""
        return sum(
            (label is None) is skipped
            for labels in self.people.values()
            for label in labels.values()
        )


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
            else "the question is measured, not judged"
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


def read_studio_labels(paths: Sequence[Path], runs: Mapping[str, Questions]) -> StudioLabels:
    """The labels in Label Studio's exports; `runs` are the questions of runs by id.

    Raises InvalidInput naming file, task and field for what does not fit: an unknown run or
    question, a verdict that has changed since, a label that the question cannot have, and a second
    label of a person for a question.
    """
    studio = StudioLabels()
    for path in paths:
        count = 0
        for label in person_labels(path, LABEL):
            question, name = _question(label, runs), label.text("question_id")
            labels = studio.people.setdefault(label.person, {})
            if (name, 0) in labels:
                raise label.error(LABEL, f"{label.person} labelled the question twice")
            labels[name, 0] = _label_of_choice(label, question)
            probability = _probability(label)
            if studio.probability.setdefault(name, probability) != probability:
                raise label.error("probability", "an earlier file has another one for the question")
            if label.data.get("doubts"):
                studio.doubtful.add(name)
            count += 1
        if not count:
            raise InvalidInput("no labels", file=str(path))
    return studio


def _question(label: PersonLabel, runs: Mapping[str, Questions]) -> QuestionVerdicts:
    """The question of a task, as it is in its run."""
    run = label.text("run")
    if run not in runs:
        raise label.error("run", f"a verdict of run {run:.40}, not of {', '.join(runs)}")
    question = runs[run].get(label.text("question_id"))
    if question is None or question.first.question != label.text("question"):
        raise label.error("question", "no such question with a verdict in the run")
    if question.word != label.text("verdict"):
        message = f"the verdict has changed since to {question.word!r}: export the run again"
        raise label.error("verdict", message)
    return question


def _label_of_choice(label: PersonLabel, question: QuestionVerdicts) -> str | None:
    if label.choice is not None and label.choice not in question.words:
        words = ", ".join(question.words)
        raise label.error(LABEL, f"the question has no {label.choice!r:.40}; it can have: {words}")
    return label_of(None if label.choice is None else question.words[label.choice])


def _probability(label: PersonLabel) -> float | None:
    value = label.data.get("probability")
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 1:
        raise label.error("probability", f"expected a number above 0, at most 1: {value!r:.40}")
    return float(value)
