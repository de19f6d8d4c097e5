from __future__ import annotations

import csv
from pathlib import Path

import pytest

from caliper.cli.correlation import read_scores
from caliper.core.errors import InvalidInput


def people(path: Path, text: str) -> Path:
    path = path / "people.csv"
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("name", ["a\nb", "a\r\nb", "a\u2028b", "a,b", 'a "b"', "a\x85b"])
def test_a_model_is_named_as_it_is_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / "people.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["model", "score"], [name, 3.5], ["c", 1]])
    assert read_scores(path, "score") == {name: 3.5, "c": 1.0}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_end_of_a_line_and_a_byte_order_mark(tmp_path: Path, end: str) -> None:
    text = end.join(("\ufeffmodel,score", "a,1", "b,2", ""))
    assert read_scores(people(tmp_path, text), "score") == {"a": 1.0, "b": 2.0}


@pytest.mark.parametrize(
    ("text", "line"),
    [("model,score\na,1\n" + "b" * 200_000 + ",2\n", 3), ("model," + "s" * 200_000 + "\na,1\n", 1)],
    ids=["row", "heading"],
)
def test_a_field_that_is_too_long_is_named_by_its_line(
    tmp_path: Path, text: str, line: int
) -> None:
    path = people(tmp_path, text)
    with pytest.raises(InvalidInput, match="broken CSV: field larger than") as caught:
        read_scores(path, "score")
    assert (caught.value.file, caught.value.line) == (str(path), line)
