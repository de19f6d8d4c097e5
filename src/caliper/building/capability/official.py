"""The annotations of a build as the files that `caliper evaluate capability` reads (docs/data.md):
one per dimension, and their question form for KT-bar (paper 3.2, B.4).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

from caliper.benchmarks.capability.tasks import TASKS, Form, Task
from caliper.building.candidates import Candidate

DATA, QUESTIONS = "capability", "capability_qa"
_OPTIONS = 4
_EVENTS = frozenset({"action", "event"})
_NUMBERS = frozenset({Form.NUMBER, Form.NUMBERS})
_CLAIMS = {
    "object_category": "Does the object '{}' appear in the image?",
    "spatial_relation": "Does the relation '{}' hold in the image?",
    "scene": "Does the scene '{}' fit the image?",
    "action": "Does the action '{}' appear in the video?",
    "event": "Does the event '{}' happen in the video?",
}
_CLAIM_OPTIONS = ("A. Yes.", "B. No.", "C. Can't tell.")
_OPEN = {
    "object_color": "What is the color of the object '{}' in the image?",
    "OCR": "What are the texts in the image?",
    "character_identification": "Who is this person or character in the image?",
}
_CATEGORIES = {
    "camera_angle": "What is the camera angle when shooting this image?",
    "style": "What is the style of this image?",
    "camera_movement": "What is the direction of camera movement when shooting this video?",
}
_MOST_VALUES = 5


def files(candidates: Sequence[Candidate], build: Mapping[str, Any]) -> dict[str, str]:
    """The texts of all files, by path."""
    seed = int(build["settings"]["seed"])
    texts = {}
    for task in TASKS.values():
        own = sorted(
            (each for each in candidates if each.category == task.name),
            key=lambda each: each.image,
        )
        if own:
            texts[f"{DATA}/{task.name}.jsonl"] = _lines(annotation_rows(task, own, candidates))
            texts[f"{QUESTIONS}/{task.name}.jsonl"] = _lines(question_rows(task, own, seed))
    return texts


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def annotation_rows(
    task: Task, own: Sequence[Candidate], everything: Sequence[Candidate]
) -> list[dict[str, Any]]:
    """One row per medium, in the layout of the published data. `everything` has the annotations of
    all dimensions: an action gets the id of the event in the same clip, since they share a caption.
    """
    names = _EVENTS if task.name in _EVENTS else {task.name}
    paths = sorted({each.image for each in everything if each.category in names})
    prefix = "event" if task.name in _EVENTS else task.name
    ids = {path: f"{prefix}_{number}" for number, path in enumerate(paths)}
    by_path: dict[str, list[Candidate]] = {}
    for each in own:
        by_path.setdefault(each.image, []).append(each)
    return [
        {
            "file_id": ids[path],
            "file_path": path,
            "annotation": _annotation(task, elements),
            "task": task.name,
            "data_type": task.media.value,
        }
        for path, elements in by_path.items()
    ]


def _annotation(task: Task, elements: Sequence[Candidate]) -> str | dict[str, Any]:
    if task.form in _NUMBERS:
        return {each.question: int(each.answer) for each in elements}
    if task.form is Form.COLOUR:
        return {each.question: each.answer for each in elements}
    return elements[0].answer


def question_rows(task: Task, own: Sequence[Candidate], seed: int) -> list[dict[str, Any]]:
    """One question per element. Wrong options are drawn by `seed`: other categories, and numbers
    near the right one.
    """
    return [
        {
            "question_id": number,
            **_question(task, each, seed),
            "file_path": each.image,
            "task": task.name,
            "data_type": task.media.value,
        }
        for number, each in enumerate(own)
    ]


def _question(task: Task, element: Candidate, seed: int) -> dict[str, Any]:
    if task.name in _CLAIMS:
        question = _CLAIMS[task.name].format(element.answer)
        return {"question": question, "options": list(_CLAIM_OPTIONS), "answer": "A"}
    if task.name in _OPEN:
        return {"question": _OPEN[task.name].format(element.question), "answer": element.answer}
    text = f"{seed}\0{task.name}\0{element.image}\0{element.question}\0{element.answer}"
    chance = Random(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())  # noqa: S311 - a draw
    if task.form is Form.CATEGORY:
        question = _CATEGORIES[task.name]
        others = [each for each in task.labels if each != element.answer]
        wrong = chance.sample(others, _OPTIONS - 1)
    else:
        question = f"How many '{element.question}' appear in this {task.media.value}?"
        wrong = _near_numbers(int(element.answer), chance)
    options = [element.answer, *wrong]
    chance.shuffle(options)
    return {
        "question": question,
        "options": [f"{chr(ord('A') + place)}. {each}" for place, each in enumerate(options)],
        "answer": chr(ord("A") + options.index(element.answer)),
    }


def _near_numbers(number: int, chance: Random) -> list[str]:
    # The published options are within a few of the right number, never under one.
    span = max(_OPTIONS - 1, number // 4)
    near = [each for each in range(max(1, number - span), number + span + 1) if each != number]
    return [str(each) for each in chance.sample(near, _OPTIONS - 1)]


def summary(candidates: Sequence[Candidate]) -> str:
    """A sentence about the number of annotations."""
    media = len({candidate.image for candidate in candidates})
    dimensions = len({candidate.category for candidate in candidates})
    return (
        f"{len(candidates):,} annotated elements of {media:,} images and videos in {dimensions} "
        "of CAPability's 13 dimensions, and a question about each for KT-bar."
    )


def statistics(candidates: Sequence[Candidate]) -> list[tuple[str, ...]]:
    """Per dimension: media, distinct values, and the most frequent ones, as in Figure 6."""
    rows: list[tuple[str, ...]] = [("dimension", "media", "values", "most frequent")]
    for task in TASKS.values():
        own = [each for each in candidates if each.category == task.name]
        # For counted objects, Figure 6 shows the objects.
        counts = task.form in _NUMBERS
        values = Counter(each.question if counts else each.answer for each in own)
        frequent = ", ".join(
            f"{name} {count}" for name, count in values.most_common(_MOST_VALUES) if count > 1
        )
        if own:
            media = len({each.image for each in own})
            rows.append((task.name, f"{media:,}", f"{len(values):,}", frequent or "each once"))
    return rows
