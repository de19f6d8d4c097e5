"""Captions from mappings, data frames, tables and rows in files."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from caliper.adapters.datasets.files import DatasetFiles
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.library.captions import save, texts_of

NAMES = ("captionqa", "comprecap")
BOTH = {"captionqa": {"a": "A dog."}, "comprecap": {"a": "A dog."}}


class NAType:
    """Like the one of pandas: neither equal nor unequal to anything."""

    def __eq__(self, other: object) -> bool:
        raise TypeError("boolean value of NA is ambiguous")

    __ne__ = __eq__
    __hash__ = object.__hash__


@dataclass
class Series:
    """A column of pandas or polars."""

    values: list[Any]

    def to_list(self) -> list[Any]:
        return self.values


class Frame:
    def __init__(self, **columns: list[Any]) -> None:
        self._columns = columns
        self.columns = list(columns)

    def __getitem__(self, name: str) -> Series:
        return Series(self._columns[name])


def test_a_mapping_is_for_every_benchmark_or_by_benchmark() -> None:
    assert texts_of({"a": "A dog.", "b": None}, NAMES) == BOTH
    by_name = {"captionqa": {"a": "A dog."}}
    assert texts_of(by_name, NAMES) == {"captionqa": {"a": "A dog."}, "comprecap": {}}
    with pytest.raises(InvalidInput, match="captions of capability, which is not evaluated"):
        texts_of({"capability": {}}, NAMES)


def test_data_frames_and_tables() -> None:
    columns = {"sample": ["a", "b", "c", 7], "caption": ["A dog.", math.nan, NAType(), None]}
    assert texts_of(Frame(**columns), NAMES) == BOTH
    table = pa.table({"sample_id": ["a"], "caption": ["A dog."], "benchmark": ["captionqa"]})
    assert texts_of(table, NAMES) == {"captionqa": {"a": "A dog."}, "comprecap": {}}
    with pytest.raises(InvalidInput, match="expected the columns sample and caption"):
        texts_of(Frame(image=["a"], caption=["A dog."]), NAMES)


def test_rows_of_a_run_are_told_from_a_benchmark_of_lines(tmp_path: Path) -> None:
    rows = [
        {"benchmark": "captionqa", "sample": "a", "caption": "A dog."},
        {"benchmark": "capability", "sample": "OCR/1", "caption": "A sign."},
    ]
    file = tmp_path / "captions.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert texts_of(file, NAMES) == {"captionqa": {"a": "A dog."}, "comprecap": {}}
    official = tmp_path / "OCR.jsonl"
    official.write_text('{"file_id": "1", "caption": "A sign."}\n')
    assert texts_of(str(official), ("capability",)) is None
    assert texts_of(tmp_path / "none.jsonl", NAMES) is None
    official.write_text('{"id": "1", "text": "A sign."}\n')
    with pytest.raises(InvalidInput, match=r"OCR\.jsonl:1: expected the columns"):
        texts_of(official, NAMES)
    for wrong, message in (
        ('{"sample": "b"}', "2: expected the columns sample and caption"),
        ('{"sample": "b", "caption": 1}', "2: b: expected a caption, found 1"),
        ('{"sample": "a", "caption": "A cat."}', "2: a: it has two captions"),
    ):
        file.write_text('{"sample": "a", "caption": "A dog."}\n' + wrong)
        with pytest.raises(InvalidInput, match=f"^{file}:{message}"):
            texts_of(file, NAMES)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": 1}, "a: expected a caption, found 1"),
        ({1: "A dog.", "1": "A cat."}, "1: it has two captions"),
        (7, "captions: expected a mapping, a data frame, a path or a function, found int"),
    ],
)
def test_what_is_no_caption(given: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        texts_of(given, NAMES)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("name", "texts"),
    [("captionqa", {"a": "Ein Hund, größer."}), ("capability", {"OCR/1": "A", "scene/1": "B"})],
)
def test_saved_captions_are_read_as_they_are(
    name: str, texts: dict[str, str], tmp_path: Path
) -> None:
    chosen, place = benchmark(name), save(name, texts, tmp_path)
    read = dict(chosen.read_captions(DatasetFiles(place).rows(chosen.captions)))
    assert read == texts
    assert save(name, texts, tmp_path) == place
    assert save(name, {**texts, "OCR/2": "C"}, tmp_path) != place
    with pytest.raises(InvalidInput, match=f"captions: there are none for {name}"):
        save(name, {}, tmp_path)
