"""A handful of rows for each of the three benchmarks, with captions and recorded replies.

All their figures can be worked out by hand; test_scores.py does.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from PIL import Image

Rows = list[dict[str, Any]]

ANNOTATIONS: dict[str, dict[str, Any]] = {
    "object_color": {
        "c1": {"apple": "red"},
        "c2": {"car": "blue"},
        "c3": {"door": "green"},
        "c4": {"cup": "white"},
    },
    "camera_angle": {"a1": "low angle", "a2": "high angle"},
    # The parquet copy of the data writes null for the objects of other rows.
    "dynamic_object_number": {"d1": {"cat": 2, "bird": None, "dog": 3}},
}
JUDGED: dict[str, Rows] = {
    # c4 has no reply.
    "object_color": [
        {"file_id": "c1", "object_color": "red", "score": 1, "reason": "it says red"},
        {"file_id": "c2", "score": "-1", "reason": "it says green"},
        {"file_id": "c3", "score": 0, "reason": "no door"},
    ],
    "camera_angle": [
        {"file_id": "a1", "pred": ["Low angle"], "reason": ""},
        {"file_id": "a2", "pred": "level angle", "reason": ""},
    ],
    "dynamic_object_number": [{"file_id": "d1", "response": [{"score": 1}, {"score": "-1"}]}],
}
MEDIA_ANSWERS = {"c1": "It is red.", "c2": "green", "c3": "Green"}

CHOICES = ["red", "green", "blue", "grey"]
CAR = "What colour is the car?"


def choice(question: str, choices: list[str], answer: str, category: str) -> dict[str, Any]:
    """A question of CaptionQA."""
    return {"question": question, "choices": choices, "answer": answer, "category": [category]}


def answered(question: str, response: str) -> dict[str, str]:
    """A recorded reply to a question of CaptionQA."""
    return {"question": question, "model_response": response}


QUESTIONS: Rows = [
    {
        "id": "nat_1",
        "images": ["nat_1.jpg"],
        "domain": "natural",
        "questions": [
            choice(CAR, CHOICES, "red", "Attribute - Color"),
            choice(CAR, [*CHOICES[::-1], "pink"], "blue", "Attribute - Color"),
        ],
    },
    {
        "id": "doc_1",
        "images": ["doc_1.jpg"],
        "domain": "document",
        "questions": [
            choice("Is it signed?", ["Yes", "No"], "Yes", "Layout - Signature"),
            choice("What is the total?", ["1", "2"], "3", "Text - Numbers"),
            choice("Who wrote it?", ["Ann", "Bob", "Eve"], "Bob", "Text - Names"),
        ],
    },
]
READ = {
    "nat_1": [answered(CAR, "red"), answered(CAR, "Cannot answer from the caption")],
    "doc_1": [answered("Is it signed?", "No")],
}
ON_IMAGE = {
    "nat_1": [answered(CAR, "red"), answered(CAR, "blue")],
    "doc_1": [answered("Is it signed?", "Yes"), answered("Who wrote it?", "Eve")],
}


def mask(*pixels: int) -> str:
    """A mask in the format of CompreCap's annotations."""
    return base64.b64encode(zlib.compress(bytes(pixels))).decode()


def thing(category: str, description: str, mask_out: str, *relations: str) -> dict[str, Any]:
    """An object of a scene of CompreCap."""
    return {
        "category": category,
        "short_description": description,
        "extend_description": description,
        "mask_out": mask_out,
        "relation": list(relations),
    }


DOG = thing("dog", "a brown dog", mask(1, 1, 1, 1, 0, 0), "The dog catches the frisbee")
FRISBEE = thing("frisbee", "a white frisbee", mask(0, 0, 0, 1, 1, 0))
SCENES: Rows = [{"image": "park.jpg", "info": [DOG, FRISBEE]}]
SCENE_JUDGED: Rows = [
    {"image": "park.jpg", "kind": "attribute", "index": 0, "repeat": 0, "response": "Score: 4"},
    {"image": "park.jpg", "kind": "attribute", "index": 1, "repeat": 0, "response": "2"},
    {"image": "park.jpg", "kind": "relation", "index": 0, "repeat": 0, "response": "5"},
]
COMPREQA: Rows = [
    {
        "image_name": "park.jpg",
        "category": "dog",
        "question": "A dog? A. Yes. B. No.",
        "answer": "A",
    }
]
COMPREQA_ANSWERS: Rows = [{"image": "park.jpg", "kind": "p", "index": 0, "response": "A"}]


def lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    return text(path, "".join(json.dumps(row) + "\n" for row in rows))


def read_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def execution(run: Path) -> Any:
    """The content of execution.json in a run directory."""
    return json.loads((run / "execution.json").read_bytes())


def value(path: Path, written: Any) -> Path:
    return text(path, json.dumps(written))


def text(path: Path, written: str) -> Path:
    """Write a file, creating its parent folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written)
    return path


def element(task: str, file_id: str, annotation: Any, kind: str = "image") -> dict[str, Any]:
    return {
        "file_id": file_id,
        "file_path": f"{file_id}.jpg",
        "annotation": annotation,
        "task": task,
        "data_type": kind,
    }


def write_pictures(root: Path, count: int, shade: int = 20) -> None:
    """`count` rows of the task scene in `root/data`, each with a picture of its own."""
    rows = [element("scene", f"s{number:05}", "a park") for number in range(count)]
    lines(root / "data" / "scene.jsonl", rows)
    for number, row in enumerate(rows):
        colour = (shade * number, 99, 0)
        Image.new("RGB", (40, 30), colour).save(root / "data" / row["file_path"])


def write_scenes(root: Path, count: int, caption: str = "A dog runs through a park.") -> None:
    """`count` rows of the task scene in `root/data`, one question each, and their captions."""
    ids = [f"s{number:05}" for number in range(count)]
    lines(root / "data" / "scene.jsonl", (element("scene", name, "a park") for name in ids))
    captions = ({"file_id": name, "caption": f"{caption} {name}"} for name in ids)
    lines(root / "captions" / "scene.jsonl", captions)


def write_all(root: Path) -> Path:
    """Write all data of this module below `root`; returns a configuration that replays it."""
    for task, elements in ANNOTATIONS.items():
        rows = [element(task, file_id, fields) for file_id, fields in elements.items()]
        lines(root / "capability" / f"{task}.jsonl", rows)
        captions = [{"file_id": file_id, "caption": "A red apple."} for file_id in elements]
        lines(root / "captions" / "capability" / f"{task}.jsonl", captions)
        lines(root / "judged" / f"{task}.jsonl", JUDGED[task])
    questions = [
        {
            "question_id": number,
            "question": "What colour is it?",
            "answer": next(iter(ANNOTATIONS["object_color"][file_id].values())),
            "file_path": f"{file_id}.jpg",
            "task": "object_color",
        }
        for number, file_id in enumerate(MEDIA_ANSWERS)
    ]
    lines(root / "capability_qa" / "object_color.jsonl", questions)
    answers = enumerate(MEDIA_ANSWERS.values())
    lines(
        root / "capability_answers" / "object_color.jsonl",
        ({"question_id": number, "response": answer} for number, answer in answers),
    )
    value(root / "captionqa.json", QUESTIONS)
    value(root / "captions" / "captionqa.json", {"nat_1": "A red car.", "doc_1": "A letter."})
    value(root / "read" / "replies.json", READ)
    value(root / "on_image" / "replies.json", ON_IMAGE)
    value(root / "anno.json", SCENES)
    value(root / "captions" / "comprecap.json", {"park.jpg": "A dog catches a frisbee."})
    lines(root / "scenes_judged" / "replies.jsonl", SCENE_JUDGED)
    value(root / "compreqa" / "compreqa_p.json", COMPREQA)
    lines(root / "compreqa_answers" / "compreqa_p.jsonl", COMPREQA_ANSWERS)
    return text(root / "all.yaml", CONFIG)


CONFIG = """\
name: tiny
coverage_floor: 0.5
benchmarks:
  capability:
    data: capability
    captions: captions/capability
    judge: replay:judged
    qa: capability_qa
    qa_replies: capability_answers
  captionqa:
    data: captionqa.json
    captions: captions/captionqa.json
    reader: replay:read
    qa_replies: on_image
  comprecap:
    data: anno.json
    captions: captions/comprecap.json
    judge: replay:scenes_judged
    repeats: 1
    qa: compreqa
    qa_replies: compreqa_answers
"""
