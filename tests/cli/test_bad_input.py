import io
import json
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
import yaml
from PIL import Image
from tests.fakes import tiny
from tests.fakes.command import Command

CAPABILITY = ("evaluate", "capability", "--data", "data", "--captions", "captions", "--out", "run")
CAPTIONQA = (
    *("evaluate", "captionqa", "--data", "captionqa.json"),
    *("--captions", "captions/captionqa.json", "--out", "run"),
)
COMPRECAP = (
    *("evaluate", "comprecap", "--data", "anno.json"),
    *("--captions", "captions/comprecap.json", "--out", "run"),
)


def report(folder: Path) -> Any:
    return json.loads((folder / "run" / "report.json").read_text())


def rows(folder: Path) -> list[Any]:
    return tiny.read_lines(folder / "run" / "verdicts.jsonl")


def test_captions_that_are_missing_and_captions_that_are_extra(
    caliper: Command, tmp_path: Path
) -> None:
    tiny.write_scenes(tmp_path, 20)
    file = tmp_path / "captions" / "scene.jsonl"
    kept = tiny.read_lines(file)[12:]
    tiny.lines(file, [*kept, *({"file_id": f"x{n:02}", "caption": "A cat."} for n in range(11))])
    ended = caliper(*CAPABILITY, code=1)
    missing = ", ".join(f"scene/s{number:05}" for number in range(10))
    extra = "scene/x00, scene/x01, scene/x02 and 8 more"
    first, second = ended.err.splitlines()
    assert f"12 samples without a caption ({missing} and 2 more): Unscored(no_caption)" in first
    assert f"11 captions of unknown samples ignored ({extra}); samples are named like " in second
    assert "8 of 20 askable questions scored; unscored: 12 no_caption" in ended.out
    assert report(tmp_path)["state"] == "finished"
    # The same under a floor that allows it is another run, and complete.
    caliper(*CAPABILITY[:-1], "low", "--coverage-floor", "0.4", "--quiet", code=0)


def test_captions_of_action_may_be_a_superset(caliper: Command, tmp_path: Path) -> None:
    tiny.lines(tmp_path / "data" / "action.jsonl", [tiny.element("action", "event_1", "walking")])
    captions = [{"file_id": f"event_{number}", "caption": "A man walks."} for number in range(3)]
    tiny.lines(tmp_path / "captions" / "action.jsonl", captions)
    assert caliper(*CAPABILITY, code=0).err == ""


@pytest.mark.parametrize(
    ("file", "written", "told"),
    [
        ("data/scene.jsonl", "\n{}\n{oops}\n", "scene.jsonl:2: task: missing"),
        ("captions/scene.jsonl", '{"file_id": "a", "caption": "x"}\n{"file_id": "b",\n',
         "captions/scene.jsonl:2: broken JSON at column 17"),
    ],
)  # fmt: skip
def test_a_broken_file_is_told_by_line_and_field(
    caliper: Command, tmp_path: Path, file: str, written: str, told: str
) -> None:
    tiny.write_scenes(tmp_path, 2)
    (tmp_path / file).write_text(written)
    ended = caliper(*CAPABILITY, code=2)
    assert told in ended.err
    assert ended.out == ""
    # Mended, the same command goes: what cannot be planned is nobody's run.
    assert not (tmp_path / "run").exists()


def test_files_that_are_not_there(caliper: Command, config: Path) -> None:
    ended = caliper("evaluate", "captionqa", "--data", "x.json", "--captions", "y.json", code=2)
    assert "it does not exist" in ended.err
    ended = caliper(*CAPABILITY, "--qa", "capability_qa", code=2)
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("command", ["evaluate", "plan"])
def test_a_folder_of_media_that_is_not_there(caliper: Command, config: Path, command: str) -> None:
    """Nothing is asked: the endpoint of the captioner does not exist either."""
    supplied = ("--captions", "captions/captionqa.json")
    for words in (supplied, ("--captioner", "chat:http://127.0.0.1:1#m@1")):
        data = (*("captionqa", "--data", "captionqa.json"), *words)
        ended = caliper(command, *data, "--media", "nope", code=2)
        assert ended.err == "Error: --media: no such folder: nope\n"
    held = yaml.safe_load(config.read_text())
    held["benchmarks"]["comprecap"]["media"] = "nope"
    config.write_text(yaml.safe_dump(held))
    line = config.read_text().splitlines().index("    media: nope") + 1
    ended = caliper(command, "--config", config, code=2)
    place = f"{config}:{line}: benchmarks.comprecap.media"
    assert ended.err == f"Error: {place}: no such folder: {config.parent / 'nope'}\n"


def test_captions_that_are_empty_or_endless(caliper: Command, tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, 4)
    captions = [
        {"file_id": "s00000", "caption": ""},
        {"file_id": "s00001", "caption": " \n\t"},
        {"file_id": "s00002", "caption": "A dog runs through a park. " * 7_500},
        {"file_id": "s00003", "caption": "[/bold]{caption}\ud83d\x00 park" },
    ]  # fmt: skip
    tiny.lines(tmp_path / "captions" / "scene.jsonl", captions)
    caliper(*CAPABILITY, "--coverage-floor", "0.5", code=0)
    told = [(row["outcome"], row["reason"]) for row in rows(tmp_path)]
    assert told == [("not mentioned", "")] * 2 + [("correct", "")] * 2
    page = (tmp_path / "run" / "report.html").read_text()
    assert len(page) < 2_000_000


def test_annotations_that_cannot_be_used(caliper: Command, tmp_path: Path) -> None:
    """Each is Unscored(bad_input) with file, line and field; the rows beside it are scored."""
    data = {
        "object_number": [{"dog": "many"}, {"dog": 2, "cat": 1}, 7, None, {"dog": 2, "cat": None}],
        "object_color": [{"car": 3}, {"car": ""}, ["red"], {"car": "red"}],
        "camera_angle": ["from above", "Low angle", ["low angle"], "low angle"],
        "dynamic_object_number": [{}, {"dog": None}, {"dog": 2.0, "cat": None}],
        "scene": ["", {"a": 1}, "a park"],
    }
    for task, annotations in data.items():
        numbered = list(enumerate(annotations))
        made = [tiny.element(task, f"f{number}", found) for number, found in numbered]
        tiny.lines(tmp_path / "data" / f"{task}.jsonl", made)
        captions = [{"file_id": f"f{number}", "caption": "Two dogs."} for number, _ in numbered]
        tiny.lines(tmp_path / "captions" / f"{task}.jsonl", captions)
    ended = caliper(*CAPABILITY, code=1)
    found = {row["item"]: row for row in rows(tmp_path)}
    scored = [item for item, row in found.items() if row["outcome"] != "unscored"]
    assert scored == [
        *("object_number/f4", "object_color/f3", "scene/f2"),
        *("camera_angle/f3", "dynamic_object_number/f2"),
    ]
    assert {row["reason"] for row in found.values()} == {"", "bad_input"}
    assert len(found) == sum(map(len, data.values()))
    wrong = found["camera_angle/f0"]["explanation"]
    assert wrong.startswith("camera_angle.jsonl:1: annotation: expected one of level angle, high")
    assert "capability: 14 questions cannot be used" in ended.err
    assert "and 4 more" in ended.err


def bomb() -> bytes:
    """A PNG that says in its header that it has 40,000 x 40,000 pixels."""
    made = io.BytesIO()
    Image.new("1", (1, 1)).save(made, "PNG")
    signature, size, rest = made.getvalue()[:12], 40_000, made.getvalue()[24:29]
    header = b"IHDR" + struct.pack(">II", size, size) + rest
    return signature + header + struct.pack(">I", zlib.crc32(header)) + made.getvalue()[33:]


def test_pictures_that_cannot_be_shown(caliper: Command, tmp_path: Path) -> None:
    """Missing, truncated, a bomb, a path out of the folder: the report is made without them."""
    tiny.write_scenes(tmp_path, 5)
    whole = io.BytesIO()
    Image.new("RGB", (32, 24), "green").save(whole, "JPEG")
    data = tmp_path / "data"
    (data / "s00000.jpg").write_bytes(whole.getvalue())
    (data / "s00001.jpg").write_bytes(whole.getvalue()[:300])
    (data / "s00002.jpg").write_bytes(bomb())
    made = tiny.read_lines(data / "scene.jsonl")
    made[4]["file_path"] = "../captions/scene.jsonl"
    tiny.lines(data / "scene.jsonl", made)
    caliper(*CAPABILITY, code=0)
    page = (tmp_path / "run" / "report.html").read_text()
    assert page.count("data:image/jpeg") == 1


def test_the_same_notes_wherever_the_data_lie(caliper: Command, config: Path) -> None:
    """A row that cannot be used is told by its file, not by its folder."""
    caliper(*CAPTIONQA, code=0)
    first = (caliper.folder / "run" / "verdicts.parquet").read_bytes()
    (caliper.folder / "elsewhere").mkdir()
    for name in ("captionqa.json", "captions"):
        os.rename(caliper.folder / name, caliper.folder / "elsewhere" / name)  # noqa: PTH104
    caliper(
        *("evaluate", "captionqa", "--data", caliper.folder / "elsewhere" / "captionqa.json"),
        *("--captions", "elsewhere/captions/captionqa.json", "--out", "again"),
        code=0,
    )
    assert (caliper.folder / "again" / "verdicts.parquet").read_bytes() == first


@pytest.mark.parametrize("field", ["category", "mask_out"])
def test_a_first_picture_that_is_broken(caliper: Command, config: Path, field: str) -> None:
    scenes = json.loads((caliper.folder / "anno.json").read_text())
    scenes[0]["info"][0][field] = 7
    (caliper.folder / "anno.json").write_text(json.dumps(scenes))
    ended = caliper(*COMPRECAP, "--quiet", code=1)
    assert "bad_input" in ended.err.splitlines()[-1]


def test_a_run_directory_of_a_newer_release(caliper: Command, config: Path) -> None:
    caliper(*COMPRECAP, "--quiet", code=0)
    file = caliper.folder / "run" / "run.yaml"
    held = yaml.safe_load(file.read_text())
    file.write_text(yaml.safe_dump(held | {"schema": 2}))
    said = "written with schema 2 by a newer Caliper; this one reads up to 1"
    for words in (COMPRECAP, ("report", "run"), ("compare", "run", "run"), ("validate", "run")):
        assert said in caliper(*words, code=2).err
    file.write_text(yaml.safe_dump(held | {"schema": "two"}))
    assert "no schema number" in caliper("report", "run", code=2).err
    file.write_text("a: [")
    assert "run/run.yaml:1: not YAML: " in caliper("report", "run", code=2).err


def test_replies_that_were_recorded_wrong(caliper: Command, config: Path) -> None:
    judged = caliper.folder / "scenes_judged" / "replies.jsonl"
    tiny.lines(judged, [*tiny.SCENE_JUDGED, tiny.SCENE_JUDGED[0]])
    ended = caliper(*COMPRECAP, "--judge", "replay:scenes_judged", code=2)
    assert "replies.jsonl:4" in ended.err
    ended = caliper(*COMPRECAP, "--judge", "replay:nowhere", code=2)
    assert "it does not exist" in ended.err
    ended = caliper(*COMPRECAP, "--qa", "compreqa", code=2)
    assert "give its captioner, or its recorded replies (qa_replies)" in ended.err
