"""Captions from mappings, data frames, tables and paths."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from caliper.core.errors import InvalidInput
from caliper.lazy import lazy_module
from caliper.library.captions import caption_places
from caliper.local.sample_captions import captions_as_named

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import polars as pl
    import pyarrow as pa
else:
    pd, pl, pa = lazy_module("pandas"), lazy_module("polars"), lazy_module("pyarrow")

NAMES = ("captionqa", "comprecap")
BOTH = {"captionqa": {"a": "A dog."}, "comprecap": {"a": "A dog."}}


def saved(given: Any, folder: Path, names: tuple[str, ...] = NAMES) -> dict[str, dict[str, str]]:
    places = caption_places(given, names, folder)
    return {name: captions_as_named(name, place) for name, place in places.items()}


def test_a_mapping_is_for_every_benchmark_or_by_benchmark(tmp_path: Path) -> None:
    assert saved({"a": "A dog.", "b": None}, tmp_path) == BOTH
    by_name = {"captionqa": {"a": "A dog."}, "comprecap": {"a": "A cat."}}
    assert saved(by_name, tmp_path) == by_name
    with pytest.raises(InvalidInput, match="captions of capability, which is not evaluated"):
        saved({"capability": {}}, tmp_path)
    with pytest.raises(InvalidInput, match="captions: no captions for comprecap"):
        saved({"captionqa": {"a": "A dog."}}, tmp_path)


def test_data_frames_and_tables(tmp_path: Path) -> None:
    texts = ["A dog.", math.nan, pd.NA, None]
    frame = pd.DataFrame({"sample": ["a", "b", "c", 7], "caption": texts, "picture": [b""] * 4})
    assert saved(frame, tmp_path) == BOTH
    assert saved(frame.astype({"caption": "string"}), tmp_path) == BOTH
    columns = {"sample": ["a", "b"], "caption": ["A dog.", None]}
    for table in (pl.DataFrame(columns), pd.DataFrame(columns), pa.table(columns)):
        assert saved(table, tmp_path) == BOTH
    columns = {"sample_id": ["a", "b"], "response": ["A", "B"], "benchmark": list(NAMES)}
    assert saved(pa.table(columns), tmp_path) == {"captionqa": {"a": "A"}, "comprecap": {"b": "B"}}
    with pytest.raises(InvalidInput, match="expected the columns sample and caption, found words"):
        saved(pl.DataFrame({"words": ["A dog."]}), tmp_path)
    with pytest.raises(InvalidInput, match=r"jsonl:2: caption: expected a caption, found 1"):
        saved(pd.DataFrame({"sample": ["a", "b"], "caption": ["A dog.", 1]}), tmp_path)


def test_paths_stay_where_they_are(tmp_path: Path) -> None:
    file = tmp_path / "captions.csv"
    assert caption_places(str(file), NAMES, tmp_path) == dict.fromkeys(NAMES, file)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": 1}, "a: expected a caption, found 1"),
        ({1: "A dog.", "1": "A cat."}, "1: it has two captions"),
        (7, "captions: expected a mapping, a data frame, a path or a function, found int"),
    ],
)
def test_what_is_no_caption(given: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        caption_places(given, NAMES, tmp_path)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("name", "texts"),
    [("captionqa", {"a": "Ein Hund, größer."}), ("capability", {"OCR/1": "A", "scene/1": "B"})],
)
def test_saved_captions_are_read_as_they_are(
    name: str, texts: dict[str, str], tmp_path: Path
) -> None:
    assert saved(texts, tmp_path, (name,)) == {name: texts}
    places = [
        caption_places(given, (name,), tmp_path) for given in (texts, {**texts, "OCR/2": "C"})
    ]
    assert caption_places(texts, (name,), tmp_path) == places[0] != places[1]
