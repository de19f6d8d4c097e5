"""Confusion tables of the default readings on replies that people labelled.

    python -m tests.benchmarks.labels.tables tests/benchmarks/labels/replies_development.jsonl

A row of `replies_*.jsonl` is {id, question, shown, reply, expect, kind}: `expect` holds the
letters that may be read, or "none"; `kind` is clear, cannot_words or none. A row of
`judgements_*.jsonl` is {id, form, reply, expect} with `known` labels where the form is labels.
The people who labelled did not write the readings, but for the rows `d3-` and `d4-`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from caliper.benchmarks.capability.reading import read_labels
from caliper.benchmarks.capability.reading import read_score as read_verdict
from caliper.benchmarks.captionqa.reading import READERS
from caliper.benchmarks.comprecap.reading import read_score as read_integer
from caliper.core.outcome import Scored

COLUMNS = ("right", "unscored", "wrong")
NONE = "none"


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def letter(row: dict[str, Any], reading: str = "lenient") -> str:
    """The letter that a reading of CaptionQA finds, or `none`."""
    place = READERS[reading](row["reply"], tuple(row["shown"]), row["question"]).place
    return NONE if place is None else chr(ord("A") + place)


def judgement(row: dict[str, Any]) -> str:
    """What the default reading of a judge's reply finds, or `none`.

    A label outside the task's list is none here. (For the score it is a wrong label.)
    """
    if row["form"] == "integer":
        outcome = read_integer(row["reply"]).outcome
        return str(outcome.score) if isinstance(outcome, Scored) else NONE
    if row["form"] == "score":
        verdict = read_verdict(row["reply"], lenient=True)
        return NONE if verdict is None else str(verdict.value)
    known = tuple(row["known"])
    labels = read_labels(row["reply"], known, lenient=True)
    stated = labels is not None and set(labels.value) <= {*known, "n/a"}
    return ", ".join(labels.value) if labels and stated else NONE


def found(row: dict[str, Any], reading: str = "lenient") -> str:
    """The column of a row: right, unscored, or wrong for what nobody may read there."""
    read = judgement(row) if "form" in row else letter(row, reading)
    if read in row["expect"]:
        return "right"
    return "unscored" if read == NONE else "wrong"


def table(labelled: Iterable[dict[str, Any]], reading: str = "lenient") -> Counter[tuple[str, str]]:
    return Counter((_kind(row), found(row, reading)) for row in labelled)


def _kind(row: dict[str, Any]) -> str:
    clear = "none" if row["expect"] == [NONE] else "clear"
    return f"{row['form']}, {clear}" if "form" in row else row["kind"]


def lines(counts: Counter[tuple[str, str]]) -> Iterator[str]:
    yield "| labelled | replies | read right | unscored | read wrong |"
    yield "|---|---|---|---|---|"
    for kind in sorted({kind for kind, _ in counts}):
        cells = [counts[kind, column] for column in COLUMNS]
        yield f"| {kind} | {sum(cells)} | {' | '.join(map(str, cells))} |"


def main(paths: Iterable[str]) -> None:
    """Print the table of each file, and the replies that are not read right."""
    for path in map(Path, paths):
        labelled = rows(path)
        said = [path.name, *lines(table(labelled))]
        if "form" not in labelled[0]:
            said += ["reading=released", *lines(table(labelled, "released"))]
        missed = ((found(row), row) for row in labelled)
        said += [
            f"{column}: {json.dumps(row, ensure_ascii=False)}"
            for column, row in missed
            if column != "right"
        ]
        sys.stdout.write("\n".join([*said, ""]))


if __name__ == "__main__":
    main(sys.argv[1:])
