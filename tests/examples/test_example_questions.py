"""The example questions and scenes: CaptionQA, CompreCap and CompreQA."""

from __future__ import annotations

import base64
import re
import runpy
import zlib
from collections import Counter
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.fakes import tiny
from tests.fakes.sources import EXAMPLES, load

MEDIA = EXAMPLES / "media"

TOP_CATEGORIES = {
    "natural": {
        "Object Existence",
        "Attribute",
        "Spatial",
        "Action and Interaction",
        "Scene-Level Evaluation",
        "Hallucination",
    },
    "document": {
        "Structural Elements",
        "Content-Level Evaluation",
        "Chart-Specific Elements",
        "Table-Specific Elements",
        "Diagram-Specific Elements",
        "Domain-Specific Evaluation",
    },
    "ecommerce": {
        "Product-Level Information",
        "Contextual and Scene Information",
        "Visual Appearance and Presentation",
        "Functional Information",
        "Brand and Marketing Information",
        "Textual Elements in Image",
        "Packaging and Accessories",
    },
    "embodiedai": {
        "Perception",
        "Spatial and Environment Context",
        "Activity and Task Context",
        "Scene Dynamics",
        "Sensor and Embodiment Information",
        "Functional and Semantic Understanding",
    },
}
ID_PREFIX = {"natural": "nat_", "document": "doc_", "ecommerce": "ecom_", "embodiedai": "emb_"}


def options_in(question: str) -> dict[str, str]:
    return dict(re.findall(r"^([A-Z])\. (.+)$", question, flags=re.MULTILINE))


def test_captionqa_samples() -> None:
    samples = load("captionqa", "questions.json")
    assert len({sample["id"] for sample in samples}) == len(samples)
    assert sum(len(sample["questions"]) for sample in samples) >= 80
    assert any(len(sample["images"]) > 1 for sample in samples)
    for sample in samples:
        assert set(sample) == {"id", "images", "questions", "domain", "image_paths"}
        assert sample["id"].startswith(ID_PREFIX[sample["domain"]])
        assert sample["images"] == sample["image_paths"] != []
        assert all((MEDIA / path).is_file() for path in sample["images"])


def test_captionqa_questions() -> None:
    questions = [q for sample in load("captionqa", "questions.json") for q in sample["questions"]]
    assert sum(sorted(q["choices"]) == ["No", "Yes"] for q in questions) >= 10
    for question in questions:
        assert set(question) == {"question", "choices", "answer", "category", "source"}
        assert question["source"] == "caliper"
        assert len(set(question["choices"])) == len(question["choices"]) >= 2
        assert question["choices"].count(question["answer"]) == 1


def test_captionqa_covers_the_taxonomy() -> None:
    seen: dict[str, dict[str, set[str]]] = {domain: {} for domain in TOP_CATEGORIES}
    for sample in load("captionqa", "questions.json"):
        for question in sample["questions"]:
            for node in question["category"]:
                top, sub = node.split(" - ", 1)
                seen[sample["domain"]].setdefault(top, set()).add(sub)
    assert {domain: set(tops) for domain, tops in seen.items()} == TOP_CATEGORIES
    listed = load("captionqa", "taxonomy.json")
    assert {d: {top: set(subs) for top, subs in tops.items()} for d, tops in listed.items()} == seen


def masks_of(scene: dict[str, Any]) -> list[np.ndarray]:
    """The decoded masks of a scene, in shape (height, width)."""
    with Image.open(MEDIA / "images" / scene["image"]) as picture:
        shape = (picture.height, picture.width)
    packed = (zlib.decompress(base64.b64decode(thing["mask_out"])) for thing in scene["info"])
    return [np.frombuffer(raw, dtype=np.uint8).reshape(shape) for raw in packed]


def test_comprecap_scenes() -> None:
    scenes = load("comprecap", "anno.json")
    assert len(scenes) >= 6
    for scene in scenes:
        assert 4 <= len(scene["info"]) <= 8
        masks = masks_of(scene)
        assert all(set(np.unique(mask)) == {0, 1} for mask in masks)
        assert np.sum(masks, axis=0).max() == 1
        categories = {thing["category"] for thing in scene["info"]}
        assert sum(len(thing["relation"]) for thing in scene["info"]) >= 3
        for thing in scene["info"]:
            assert thing["short_description"]
            assert thing["extend_description"]
            for relation in thing["relation"]:
                words = re.findall(r"\w+", relation)
                assert thing["category"] in words
                assert any(
                    words.count(name) >= 1 + (name == thing["category"]) for name in categories
                )


@pytest.mark.parametrize("name", ["compreqa_p.json", "compreqa_cap.json"])
def test_compreqa_rows(name: str) -> None:
    rows = load("comprecap", name)
    assert len(rows) >= 8
    scenes = {scene["image"]: scene for scene in load("comprecap", "anno.json")}
    for row in rows:
        assert set(row) == {"image_name", "category", "question", "answer"}
        options = options_in(row["question"])
        assert row["answer"] in options
        assert len(options) == (2 if name == "compreqa_p.json" else 3)
        scene = scenes[row["image_name"]]
        shares = [
            mask.mean()
            for mask, thing in zip(masks_of(scene), scene["info"], strict=True)
            if thing["category"] == row["category"]
        ]
        present = options[row["answer"]].startswith("Yes") or name == "compreqa_cap.json"
        assert bool(shares) is present
        assert not shares or min(shares) < 0.05


def test_compreqa_presence_is_balanced() -> None:
    rows = load("comprecap", "compreqa_p.json")
    answers = Counter(options_in(row["question"])[row["answer"]].split(",")[0] for row in rows)
    assert answers["Yes"] == answers["No"]


def test_recorded_replies_are_those_of_their_source() -> None:
    replies = runpy.run_path(str(EXAMPLES / "build" / "build_replies.py"))["replies"]()
    for model, rows in replies.items():
        assert rows == tiny.read_lines(EXAMPLES / "building" / "replies" / f"{model}.jsonl")
