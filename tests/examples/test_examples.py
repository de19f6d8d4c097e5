"""The example set keeps its promises: media, sources, CAPability rows, caption ids."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import av
import pytest
from PIL import Image
from tests.fakes import tiny
from tests.fakes.sources import EXAMPLES, load

MEDIA = EXAMPLES / "media"
CAPTIONS = EXAMPLES / "captions"
SETS = ("careful", "careless")

VIDEO_TASKS = ("dynamic_object_number", "action", "camera_movement", "event")
TASKS = (
    "object_category",
    "object_number",
    "object_color",
    "spatial_relation",
    "scene",
    "camera_angle",
    "OCR",
    "style",
    "character_identification",
    *VIDEO_TASKS,
)
OPEN_ENDED = {"object_color", "OCR", "character_identification"}
CATEGORIES = {
    "style": {
        "realistic",
        "animated",
        "special effect",
        "old-fashioned",
        "pixel art",
        "sketch art",
        "abstract art",
        "impressionism art",
        "cubism art",
    },
    "camera_angle": {"level angle", "high angle", "low angle", "dutch angle"},
    "camera_movement": {"left", "right", "up", "down", "in", "out", "fixed"},
}


def annotations(task: str) -> list[dict[str, Any]]:
    return tiny.read_lines(EXAMPLES / "capability" / f"{task}.jsonl")


def media_files() -> list[Path]:
    return sorted(path for folder in ("images", "videos") for path in (MEDIA / folder).iterdir())


def source_rows() -> dict[str, list[str]]:
    """The cells of the rows of SOURCES.md by file."""
    rows = {}
    for line in (MEDIA / "SOURCES.md").read_text(encoding="utf-8").splitlines():
        if line.startswith(("| images/", "| videos/")):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            rows[cells[0]] = cells
    return rows


@pytest.mark.parametrize("path", media_files(), ids=lambda path: path.name)
def test_media_file_opens_and_is_modest(path: Path) -> None:
    if path.suffix == ".mp4":
        with av.open(str(path)) as container:
            frames = list(container.decode(video=0))
            rate = container.streams.video[0].average_rate
        assert rate is not None
        assert 2 <= len(frames) / float(rate) <= 4
        assert (frames[0].width, frames[0].height) == (480, 320)
    else:
        with Image.open(path) as picture:
            picture.load()
            assert max(picture.size) <= 1024


def test_media_are_small_together_and_every_file_has_its_source() -> None:
    files = media_files()
    assert sum(path.stat().st_size for path in files) < 12_000_000
    rows = source_rows()
    assert set(rows) == {path.relative_to(MEDIA).as_posix() for path in files}
    assert all(len(cells) == 5 and all(cells) for cells in rows.values())


def test_there_are_enough_photographs() -> None:
    text = (MEDIA / "SOURCES.md").read_text(encoding="utf-8")
    section = text.split("## Photographs")[1].split("##")[0]
    assert len(re.findall(r"^\| images/", section, flags=re.MULTILINE)) >= 18


def test_every_media_file_is_used() -> None:
    used = {row["file_path"] for task in TASKS for row in annotations(task)}
    used |= {path for sample in load("captionqa", "questions.json") for path in sample["images"]}
    assert used == {path.relative_to(MEDIA).as_posix() for path in media_files()}


@pytest.mark.parametrize("task", TASKS)
def test_capability_rows(task: str) -> None:
    rows = annotations(task)
    assert len(rows) >= 6
    assert len({row["file_id"] for row in rows}) == len(rows)
    kind = "video" if task in VIDEO_TASKS else "image"
    for row in rows:
        assert set(row) == {"file_id", "file_path", "annotation", "task", "data_type"}
        assert (row["task"], row["data_type"]) == (task, kind)
        assert (MEDIA / row["file_path"]).is_file()


@pytest.mark.parametrize("task", TASKS)
def test_capability_annotation_values(task: str) -> None:
    values = [row["annotation"] for row in annotations(task)]
    if task in CATEGORIES:
        assert set(values) == CATEGORIES[task]
    elif task in {"object_number", "dynamic_object_number"}:
        assert all(isinstance(n, int) and n > 0 for value in values for n in value.values())
        assert all(len(value) == 1 for value in values) or task == "dynamic_object_number"
    elif task == "object_color":
        assert all(len(value) == 1 and all(value.values()) for value in values)
    else:
        assert all(isinstance(value, str) and value.strip() == value != "" for value in values)


def test_action_shares_the_clips_of_event() -> None:
    events = {row["file_id"]: row["file_path"] for row in annotations("event")}
    assert {row["file_id"]: row["file_path"] for row in annotations("action")} == events
    assert all(re.fullmatch(r"event_\d+", file_id) for file_id in events)


@pytest.mark.parametrize("task", TASKS)
def test_capability_questions_join_the_annotations(task: str) -> None:
    questions = tiny.read_lines(EXAMPLES / "capability_qa" / f"{task}.jsonl")
    assert [row["question_id"] for row in questions] == list(range(len(questions)))
    expected = []
    for row in annotations(task):
        things = list(row["annotation"]) if task == "dynamic_object_number" else [""]
        expected += [(row["file_path"], thing) for thing in things]
    assert [row["file_path"] for row in questions] == [path for path, _ in expected]
    for row, (_, thing) in zip(questions, expected, strict=True):
        assert thing in row["question"]
        assert ("options" in row) is (task not in OPEN_ENDED)


@pytest.mark.parametrize("task", TASKS)
def test_capability_answers_agree_with_the_annotations(task: str) -> None:
    questions = tiny.read_lines(EXAMPLES / "capability_qa" / f"{task}.jsonl")
    truths: list[Any] = []
    for row in annotations(task):
        value = row["annotation"]
        truths += list(value.values()) if isinstance(value, dict) else [value]
    for row, truth in zip(questions, truths, strict=True):
        if task in OPEN_ENDED:
            assert row["answer"] == truth
            continue
        options = dict(option.split(". ", 1) for option in row["options"])
        assert list(options) == list("ABCD"[: len(options)])
        if task in CATEGORIES or task.endswith("number"):
            assert options[row["answer"]] == str(truth)
        elif "Yes." in options.values():
            assert options[row["answer"]] == "Yes."
        else:
            assert row["answer"] in options


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("task", TASKS)
def test_capability_captions_have_the_ids_of_the_annotations(name: str, task: str) -> None:
    rows = tiny.read_lines(CAPTIONS / name / "capability" / f"{task}.jsonl")
    assert all(set(row) == {"file_id", "caption"} and row["caption"] for row in rows)
    assert [row["file_id"] for row in rows] == [row["file_id"] for row in annotations(task)]


@pytest.mark.parametrize("name", SETS)
def test_other_captions_have_the_ids_of_the_annotations(name: str) -> None:
    samples = load("captions", name, "captionqa.json")
    assert set(samples) == {sample["id"] for sample in load("captionqa", "questions.json")}
    scenes = load("captions", name, "comprecap.json")
    assert set(scenes) == {scene["image"] for scene in load("comprecap", "anno.json")}
    assert all([*samples.values(), *scenes.values()])


def test_careful_captions_are_longer() -> None:
    words = [
        sum(len(text.split()) for text in load("captions", name, "captionqa.json").values())
        for name in SETS
    ]
    assert words[0] > 2 * words[1]
