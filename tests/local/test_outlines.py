"""Pictures for the review of scene graphs."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from caliper.adapters.media.masks import encode_mask
from caliper.adapters.pages.review import ReviewPlace, render_review
from caliper.building.candidates import AssessedCandidate, Candidate, CandidateDecision
from caliper.building.comprecap.kind import COMPRECAP
from caliper.building.comprecap.relations import relation_candidate
from caliper.building.review_round import ReviewRound
from caliper.local.building.outlines import OutlinedPictures

RED, BLUE = (255, 60, 0), (0, 110, 255)


@pytest.fixture
def pictures(tmp_path: Path) -> OutlinedPictures:
    Image.new("RGB", (400, 200), "white").save(tmp_path / "a.png")
    objects = []
    for name, left in (("cup #1", 20), ("cup #2", 120), ("table", 220)):
        mask = np.zeros((200, 400), np.uint8)
        mask[40:160, left : left + 80] = 1
        objects.append({"name": name, "mask_out": encode_mask(mask)})
    objects.append({"name": "lamp", "mask_out": ""})
    (tmp_path / "scenes.jsonl").write_text(json.dumps({"image": "a.png", "objects": objects}))
    return OutlinedPictures(tmp_path, tmp_path / "scenes.jsonl", 400)


def drawn(jpeg: bytes | None, colour: tuple[int, int, int]) -> list[int]:
    """The left ends of outlines of a colour, in the middle row."""
    assert jpeg is not None
    row = np.asarray(Image.open(io.BytesIO(jpeg)))[100].astype(int)
    return [left for left in (20, 120, 220) if abs(row[left - 2] - colour).sum() < 150]


def test_the_objects_of_a_candidate_are_outlined(pictures: OutlinedPictures) -> None:
    relation = relation_candidate("a.png", "cup #1", "table", "The cup is on the table.")
    jpeg = pictures.jpeg(COMPRECAP.picture(relation))
    assert drawn(jpeg, RED) == [20]
    assert drawn(jpeg, BLUE) == [220]
    every = pictures.jpeg("a.png\ntable\ncup")
    assert (drawn(every, RED), drawn(every, BLUE)) == ([220], [20, 120])
    none = pictures.jpeg("a.png\nlamp")
    assert drawn(none, RED) == drawn(none, BLUE) == []
    assert pictures.jpeg("lost.png\ncup") is None


def test_the_page_of_an_object_a_relation_and_a_question() -> None:
    candidates = [
        Candidate.of("a.png", "cup #1", (), "a cup\na red cup", "object"),
        relation_candidate("a.png", "cup #1", "table", "The cup is on the table."),
        Candidate.of("a.png", "table", ("a", "b", "c"), "b", "CompreQA-Cap"),
    ]
    current = ReviewRound(
        1, [AssessedCandidate(each, CandidateDecision.REVIEW) for each in candidates]
    )
    pages = [
        render_review(ReviewPlace("/t/", COMPRECAP, "ana", current, at=each.id))
        for each in candidates
    ]
    assert "Annotation 1 of 3" in pages[0]
    assert '<textarea name="value" rows="2" required>a cup\na red cup</textarea>' in pages[0]
    assert ">cup #1 → table</h2>" in pages[1]
    assert "Which description best fits the &#39;table&#39; in the image?</h2>" in pages[2]
    assert pages[2].count('name="choice"') == 5
    for page in pages:
        assert 'name="question"' not in page
