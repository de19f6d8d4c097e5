"""Supplied captions find their samples by name, with or without folders and extension."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import tiny

from caliper.adapters.datasets.files import DatasetFiles
from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.local.benchmark_config import BenchmarkConfig
from caliper.local.sample_captions import (
    SampleCaptions,
    captions_as_named,
    sample_captions,
)
from caliper.local.sample_names import SampleNames

QUESTION = tiny.choice("Red?", ["Yes", "No"], "Yes", "Attribute - Color")


def question(sample: str, *pictures: str) -> dict[str, Any]:
    return {"id": sample, "domain": "natural", "images": pictures, "questions": [QUESTION]}


@pytest.fixture
def part(tmp_path: Path) -> BenchmarkConfig:
    """Two samples of CaptionQA, each with a picture."""
    rows = [question("nat_1", "images/a.jpg"), question("nat_2", "images/b.jpg")]
    data = tiny.value(tmp_path / "data.json", rows)
    return BenchmarkConfig(data=data, captions=tmp_path / "captions.json")


def supplied(part: BenchmarkConfig, captions: Any, name: str = "") -> SampleCaptions:
    path = part.data.parent / (name or "captions.json")
    write = tiny.value if isinstance(captions, Mapping) else tiny.lines
    write(path, captions)
    read = sample_captions("captionqa", part.model_copy(update={"captions": path}))
    assert read is not None
    return read


@pytest.mark.parametrize(
    ("name", "samples"),
    [
        ("a.jpg", ("a.jpg",)),
        ("a", ("a.jpg",)),
        ("data/images\\a.JPG", ("a.jpg",)),
        ("a.png", ()),
        ("x/b", ("x/b",)),
        ("b.webm", ("x/b", "y/b")),
        ("./x/b.jpg", ("x/b",)),
        ("z/b", ()),
        ("v1.2", ("v1.2",)),
        ("v1", ()),
        ("clips/c.mp4", ("video",)),
        ("c", ("video",)),
        ("d", ()),
        ("/", ()),
    ],
)
def test_names(name: str, samples: tuple[str, ...]) -> None:
    media = {"video": ("clips/c.mp4",), "pages": ("d.jpg", "e.jpg")}
    known = dict.fromkeys(("a.jpg", "x/b", "y/b", "v1.2"), ())
    assert SampleNames({**known, **media}).find(name) == samples


def test_a_picture_is_not_taken_for_the_sample_that_has_its_number() -> None:
    names = SampleNames({"1": ("2.jpg",), "2": ("1.jpg",), "3": ("x/3.jpg",)})
    assert names.find("2.jpg") == ("1",)
    assert names.find("2") == ("2",)
    # Nobody knows which of both is meant.
    assert names.find("images/2.jpg") == ("2", "1")
    assert names.find("3.jpg") == ("3",)


def test_a_benchmarks_own_captions_stay_as_they_are(part: BenchmarkConfig) -> None:
    texts = {"other": "x", "nat_2": "", "nat_1": "A dog."}
    read = supplied(part, {**texts, "nat_3": None})
    assert (list(read.texts.items()), read.note) == (list(texts.items()), "")


def test_a_benchmarks_own_captions_under_other_names(part: BenchmarkConfig) -> None:
    read = supplied(part, {"nat_1": "A dog.", "x/nat_1": "A cow.", "nat_2.jpg": "A cat."})
    assert read.texts == {"nat_1": "A dog.", "x/nat_1": "A cow.", "nat_2": "A cat."}
    assert read.note == "captionqa captions: JSON object, 2 of 2 samples"


def test_the_field_that_names_the_most_samples(part: BenchmarkConfig) -> None:
    rows = [
        {"index": 0, "image_path": "b.jpg", "prediction": ""},
        {"index": 1, "image_path": "c.jpg", "prediction": "A cat."},
    ]
    read = supplied(part, rows, "predictions.jsonl")
    assert read.texts == {"nat_2": "", "c.jpg": "A cat."}
    found = "VLMEvalKit predictions, 1 of 2 samples by image_path"
    assert read.note == f"captionqa captions: {found}"


def numbered(part: BenchmarkConfig) -> None:
    tiny.value(part.data, [question(str(place), f"images/{place}.jpg") for place in range(3)])


def test_a_position_is_no_name_where_there_is_another(part: BenchmarkConfig) -> None:
    numbered(part)
    rows = [
        {"index": place, "image_path": f"images/{name}.jpg", "prediction": name}
        for place, name in enumerate(("2", "1", "other"))
    ]
    texts = supplied(part, rows, "predictions.jsonl").texts
    assert texts == {"2": "2", "1": "1", "images/other.jpg": "other"}
    for row in rows:
        del row["image_path"]
    assert set(supplied(part, rows, "predictions.jsonl").texts) == {"0", "1", "2"}


def test_a_row_whose_fields_name_two_samples(part: BenchmarkConfig) -> None:
    numbered(part)
    rows = [{"id": 0, "image": "0.jpg", "text": "A"}, {"id": 1, "image": "2.jpg", "text": "B"}]
    told = r"mine\.jsonl:2: image: it names the sample 2, but id names 1; keep one"
    with pytest.raises(InvalidInput, match=told):
        supplied(part, rows, "mine.jsonl")


def test_rows_of_a_run_are_those_of_the_benchmark(part: BenchmarkConfig) -> None:
    rows = [
        {"benchmark": "captionqa", "sample": "nat_1", "caption": "A dog."},
        {"benchmark": "comprecap", "sample": "nat_2", "caption": "A cat."},
    ]
    assert supplied(part, rows, "captions.jsonl").texts == {"nat_1": "A dog."}
    with pytest.raises(InvalidInput, match="no captions of captionqa: rows are of comprecap"):
        supplied(part, rows[1:], "others.jsonl")


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (
            [("nat_1", "A"), ("nat_1", "A"), ("x/nat_1", "B"), ("y/nat_2", "C"), ("z/nat_2", "D")],
            "captions.jsonl:5: id: z/nat_2 has another caption in {folder}/captions.jsonl, line 4",
        ),
        (
            [("x", "A")],
            (
                "captions.jsonl: no caption matches a sample: found JSON Lines with id "
                "x; samples are named like nat_1, nat_2"
            ),
        ),
        ([("nat_1", None)], "captions.jsonl: no captions"),
    ],
)
def test_what_cannot_be_matched(part: BenchmarkConfig, rows: Any, told: str) -> None:
    with pytest.raises(InvalidInput) as error:
        supplied(part, [{"id": key, "caption": text} for key, text in rows], "captions.jsonl")
    folder = part.data.parent
    assert str(error.value) == f"{folder}/{told.format(folder=folder)}"


def test_rows_that_name_their_samples_in_different_fields(part: BenchmarkConfig) -> None:
    rows = [{"id": "nat_1", "caption": "A"}, {"image": "b.jpg", "caption": "B"}]
    with pytest.raises(InvalidInput, match=r"mine\.jsonl:2: id: missing"):
        supplied(part, rows, "mine.jsonl")


def test_a_name_of_two_samples(part: BenchmarkConfig, tmp_path: Path) -> None:
    rows = [question("nat_1", "a.jpg"), question("nat_2", "x/a.jpg")]
    tiny.value(part.data, rows)
    with pytest.raises(InvalidInput, match=r"json:1: name: a may be any of nat_1, nat_2"):
        supplied(part, {"a": "A dog."})
    assert supplied(part, {"nat_1": "A", "nat_2": "B"}).note == ""


def test_the_logs_of_lmms_eval_for_several_tasks(tmp_path: Path) -> None:
    for task, file_id in (("scene", "1"), ("OCR", "1"), ("action", "2"), ("event", "2")):
        row = tiny.element(task, file_id, "a park")
        tiny.lines(tmp_path / "data" / f"{task}.jsonl", [row])
        inputs = {"task": task, "file_id": file_id, "caption": task}
        log = {"doc_id": 0, "filtered_resps": [task], "capability_recall": inputs}
        tiny.lines(tmp_path / "model" / f"20261126_samples_capability_{task}.jsonl", [log])
    part = BenchmarkConfig(data=tmp_path / "data", captions=tmp_path / "model")
    read = sample_captions("capability", part)
    assert read is not None
    assert read.texts == {f"{task}": task.split("/")[0] for task in read.texts}
    assert set(read.texts) == {"scene/1", "OCR/1", "action/2", "event/2"}
    assert read.note.startswith("capability captions: lmms-eval log, 4 of 4 samples by ")


@pytest.mark.parametrize(("name", "file"), [("captionqa", "captionqa"), ("comprecap", "anno")])
def test_declared_samples_are_those_of_the_plan(name: str, file: str, tmp_path: Path) -> None:
    tiny.write_all(tmp_path)
    chosen = benchmark(name)
    rows = list(DatasetFiles(tmp_path / f"{file}.json").rows(chosen.data))
    settings = {setting.name: setting.default for setting in chosen.settings}
    items = chosen.plan(rows, PlanRequest(settings=settings))
    assert chosen.samples is not None
    assert dict(chosen.samples(rows)) == {item.sample: item.media for item in items}


def test_where_the_data_are_not_the_first_name_counts(tmp_path: Path) -> None:
    rows = [{"image": "a.jpg", "index": 7, "caption": "A dog."}]
    path = tiny.lines(tmp_path / "a.jsonl", rows)
    assert captions_as_named("captionqa", path) == {"a.jpg": "A dog."}
    own = tiny.value(tmp_path / "a.json", {"nat_1": "A dog."})
    assert captions_as_named("captionqa", own) == {"nat_1": "A dog."}
