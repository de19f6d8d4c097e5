from __future__ import annotations

import json
from pathlib import Path

import pytest

from caliper.cli.labels import read_labels
from caliper.core.errors import InvalidInput


def labels(path: Path, text: str) -> Path:
    path = path / "anna.jsonl"
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x1c"])
def test_verdicts_whose_replies_hold_odd_line_ends_are_read(tmp_path: Path, mark: str) -> None:
    row = {"question_id": "q", "score": 1, "raw": f"one{mark}two"}
    text = json.dumps(row, ensure_ascii=mark == "\x1c")
    assert read_labels(labels(tmp_path, f"{text}\r\n\n"), {}) == {("q", 0): "1"}


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    text = '\ufeff{"question_id": "q", "repeat": 2, "score": null}\n'
    assert read_labels(labels(tmp_path, text), {}) == {("q", 2): None}


@pytest.mark.parametrize(
    ("score", "field", "told"),
    [
        ("NaN", "", "NaN is not JSON"),
        ("-Infinity", "", "-Infinity is not JSON"),
        ("1e999", "", "too large"),
        ("1" * 400, "score", "expected a number or null"),
        ("-" + "1" * 400, "score", "expected a number or null"),
        ("1" * 5000, "", "unusable JSON"),
        ("[" * 100_000, "", "nested too deeply"),
        ('1, "score": 1', "'score'", "twice"),
        ("true", "score", "expected a number or null"),
    ],
    ids=["nan", "inf", "1e999", "long", "negative", "longer", "deep", "twice", "boolean"],
)
def test_scores_that_are_no_numbers(tmp_path: Path, score: str, field: str, told: str) -> None:
    good = '{"question_id": "p", "score": 0}\n'
    path = labels(tmp_path, f'{good}{{"question_id": "q", "score": {score}}}\n')
    with pytest.raises(InvalidInput, match=told) as caught:
        read_labels(path, {})
    assert (caught.value.file, caught.value.line) == (str(path), 2)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", ":1: expected a JSON object"),
        ('{"score": 1}', ":1: question_id: expected a text"),
        ('{"question_id": "q"}', ":1: score: expected a number or null"),
        ('{"question_id": "q", "score": 1}\n' * 2, ":2: question_id: the question appears twice"),
        ("", ": no labels"),
    ],
)
def test_labels_that_are_none(tmp_path: Path, text: str, told: str) -> None:
    path = labels(tmp_path, text)
    with pytest.raises(InvalidInput) as caught:
        read_labels(path, {})
    assert str(caught.value).startswith(f"{path}{told}")
