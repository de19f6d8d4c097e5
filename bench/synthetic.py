"""Generates datasets of any size from sentences: for measuring, not for scoring."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from caliper.benchmarks.capability.tasks import TASKS

_THINGS = ("dog", "cup", "chair", "bus", "lamp", "bird", "child", "bottle", "tree", "boat")
_COLOURS = ("red", "blue", "green", "black and white", "yellow", "brown")
_PLACES = ("a kitchen", "a harbour", "a busy street", "a classroom", "a forest path")
_DOING = ("runs along the shore", "opens a letter", "pours water into a glass", "climbs a wall")


def write_capability(
    folder: Path, samples: int, seed: int = 0, names: Sequence[str] = tuple(TASKS)
) -> None:
    """Write `samples` rows over the named tasks to `folder/data`, and as many captions to
    `folder/captions`.
    """
    draw = random.Random(seed)
    for place, task in enumerate(names):
        count = samples // len(names) + (place < samples % len(names))
        rows = [_row(task, number, draw) for number in range(count)]
        _write(folder / "data" / f"{task}.jsonl", (row for row, _ in rows))
        captions = ({"file_id": row["file_id"], "caption": text} for row, text in rows)
        _write(folder / "captions" / f"{task}.jsonl", captions)


def write_replies(folder: Path) -> int:
    """Write a recorded reply to every question of `folder/data` to `folder/replies`; returns their
    number.
    """
    count = 0
    for path in sorted((folder / "data").glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        _write(folder / "replies" / path.name, map(_reply, rows))
        # Such a row has one question per object.
        per_object = path.stem == "dynamic_object_number"
        count += sum(len(row["annotation"]) if per_object else 1 for row in rows)
    return count


def _reply(row: dict[str, Any]) -> dict[str, Any]:
    score, common = {"score": 1, "reason": "the caption says so"}, {"file_id": row["file_id"]}
    if TASKS[row["task"]].labels:
        return {**common, "pred": [row["annotation"]], "reason": score["reason"]}
    if row["task"] == "dynamic_object_number":
        return {**common, "response": [score for _ in row["annotation"]]}
    return {**common, **score}


def write_captionqa(folder: Path, samples: int, questions: int) -> None:
    """Write `samples` rows of `questions` questions each to `folder/data.jsonl`, and as many
    captions to `folder/captions.json`.
    """
    draw = random.Random(0)
    ids = [f"nat_{number:06}" for number in range(samples)]
    _write(folder / "data.jsonl", (_picture(name, questions, draw) for name in ids))
    captions = {name: _row("scene", 0, draw)[1] for name in ids}
    (folder / "captions.json").write_text(json.dumps(captions), "utf-8")


def _picture(name: str, questions: int, draw: random.Random) -> dict[str, Any]:
    rows = [
        {
            "question": f"What colour is the {draw.choice(_THINGS)} that stands at place {place}?",
            "choices": draw.sample(_COLOURS, 4),
            "answer": "",
            "category": ["Attribute - Color"],
        }
        for place in range(questions)
    ]
    for row in rows:
        row["answer"] = row["choices"][0]
    return {"id": name, "domain": "natural", "image_paths": [f"{name}.jpg"], "questions": rows}


def _row(task: str, number: int, draw: random.Random) -> tuple[dict[str, Any], str]:
    thing, other = draw.sample(_THINGS, 2)
    colour, place, doing = draw.choice(_COLOURS), draw.choice(_PLACES), draw.choice(_DOING)
    count = draw.randint(2, 5)
    kind = TASKS[task]
    annotation: Any = {
        "object_category": thing,
        "object_number": {thing: count},
        "dynamic_object_number": {thing: count, other: 1},
        "object_color": {thing: colour},
        "spatial_relation": f"The {thing} is to the left of the {other}",
        "scene": place.removeprefix("a "),
        "OCR": "OPEN 24 HOURS",
        "character_identification": "Ada Lovelace",
        "action": doing,
        "event": f"A {thing} {doing}",
    }.get(task) or draw.choice(kind.labels)
    caption = (
        f"The picture shows {count} {colour} {thing}s beside a {other} in {place}. The {thing} is "
        f"to the left of the {other} and {doing}. A sign reads 'OPEN 24 HOURS'. The camera stays "
        "fixed at eye level. The style is realistic, with soft light from a window. "
    )
    filler = " ".join(draw.choice((_THINGS, _PLACES)[turn % 2]) for turn in range(120))
    file_id = f"{task}_{number}"
    row = {
        "file_id": file_id,
        "file_path": f"{task}/{file_id}.jpg",
        "annotation": annotation,
        "task": task,
        "data_type": str(kind.media),
    }
    return row, f"{caption}In the background one can make out {filler}."


def _write(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
