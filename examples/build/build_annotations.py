"""Expand the hand-written sources into the official annotation files.

The sources in `source/` hold what was written by hand: each row once, without
the fields that follow from it. Run: python build_annotations.py
"""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from common import EXAMPLES, IMAGES
from PIL import Image, ImageDraw

SOURCE = Path(__file__).resolve().parent / "source"
VIDEO_TASKS = {"dynamic_object_number", "action", "camera_movement", "event"}
DEFAULT_QUESTIONS = {
    "camera_angle": "What is the camera angle when shooting this image?",
    "style": "What is the style of this image?",
    "camera_movement": "What is the direction of camera movement when shooting this video?",
}
ANGLES = ["A. level angle", "B. high angle", "C. low angle", "D. dutch angle"]
DOMAINS = ("natural", "document", "ecommerce", "embodiedai")


def read(name: str) -> Any:
    """Parse one source file."""
    return json.loads((SOURCE / name).read_text(encoding="utf-8"))


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_list(path: Path, rows: list[Any]) -> None:
    """Write rows as one JSON list, one row on a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    body = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text(f"[\n{body}\n]\n", encoding="utf-8")


def media_path(task: str, name: str) -> str:
    """The path of a medium, relative to the media folder."""
    return f"{'videos' if task in VIDEO_TASKS else 'images'}/{name}"


def capability() -> None:
    """Write the annotation and question files of the 13 CAPability tasks."""
    for task, entries in read("capability.json").items():
        prefix = "event" if task == "action" else task
        kind = "video" if task in VIDEO_TASKS else "image"
        rows, questions = [], []
        for index, entry in enumerate(entries):
            shared = {"file_path": media_path(task, entry["file"]), "task": task, "data_type": kind}
            rows.append(
                {"file_id": f"{prefix}_{index}", "annotation": entry["annotation"], **shared}
            )
            for asked in entry.get("questions", [entry]):
                row = {
                    "question_id": len(questions),
                    "question": asked.get("question") or DEFAULT_QUESTIONS[task],
                }
                options = asked.get("options") or (ANGLES if task == "camera_angle" else None)
                if options:
                    row["options"] = options
                questions.append({**row, "answer": asked["answer"], **shared})
        write_lines(EXAMPLES / "capability" / f"{task}.jsonl", rows)
        write_lines(EXAMPLES / "capability_qa" / f"{task}.jsonl", questions)


def captionqa() -> None:
    """Write the CaptionQA samples and the listing of the taxonomy nodes in use."""
    samples: list[dict[str, Any]] = []
    taxonomy: dict[str, dict[str, list[str]]] = {domain: {} for domain in DOMAINS}
    for entry in read("captionqa.json"):
        paths = [f"images/{name}" for name in entry["images"]]
        questions = []
        for question, choices, answer, category in entry["questions"]:
            top, sub = category.split(" - ", 1)
            subs = taxonomy[entry["domain"]].setdefault(top, [])
            if sub not in subs:
                subs.append(sub)
            questions.append(
                {
                    "question": question,
                    "choices": choices,
                    "answer": answer,
                    "category": [category],
                    "source": "caliper",
                }
            )
        samples.append(
            {
                "id": entry["id"],
                "images": paths,
                "questions": questions,
                "domain": entry["domain"],
                "image_paths": paths,
            }
        )
    write_list(EXAMPLES / "captionqa" / "questions.json", samples)
    text = json.dumps(taxonomy, ensure_ascii=False, indent=2)
    (EXAMPLES / "captionqa" / "taxonomy.json").write_text(text + "\n", encoding="utf-8")


def visible_masks(size: tuple[int, int], objects: list[dict[str, Any]]) -> list[np.ndarray]:
    """Masks of 0 and 1 in shape (height, width); later objects hide earlier ones."""
    masks = []
    for entry in objects:
        canvas = Image.new("L", size, 0)
        for polygon in entry["polygons"]:
            ImageDraw.Draw(canvas).polygon([tuple(point) for point in polygon], fill=1)
        mask = np.asarray(canvas, dtype=np.uint8)
        masks = [earlier * (1 - mask) for earlier in masks]
        masks.append(mask)
    return masks


def comprecap() -> None:
    """Write the CompreCap annotation with masks drawn from the polygons."""
    rows = []
    for entry in read("comprecap.json"):
        with Image.open(IMAGES / entry["image"]) as picture:
            masks = visible_masks(picture.size, entry["info"])
        info = []
        for thing, mask in zip(entry["info"], masks, strict=True):
            packed = base64.b64encode(zlib.compress(mask.tobytes(), 9)).decode("ascii")
            kept = {
                key: value for key, value in thing.items() if key not in {"polygons", "relation"}
            }
            info.append({**kept, "mask_out": packed, "relation": thing["relation"]})
        rows.append({"image": entry["image"], "info": info})
    write_list(EXAMPLES / "comprecap" / "anno.json", rows)


def compreqa(name: str) -> None:
    """Write CompreQA rows: the options stand inside the question."""
    rows = []
    for image, category, question, options, answer in read(name):
        listed = "\n".join(
            f"{letter}. {option}" for letter, option in zip("ABC", options, strict=False)
        )
        rows.append(
            {
                "image_name": image,
                "category": category,
                "question": f"{question}\n{listed}",
                "answer": answer,
            }
        )
    write_list(EXAMPLES / "comprecap" / name, rows)


if __name__ == "__main__":
    capability()
    captionqa()
    comprecap()
    compreqa("compreqa_p.json")
    compreqa("compreqa_cap.json")
