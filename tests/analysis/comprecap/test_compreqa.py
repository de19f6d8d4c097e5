"""CompreQA: accuracies by part and area, rankings, and answers from the caption."""

import pytest
from tests.fakes.scene_runs import LOST, answers, planned, row, scene, scene_run
from tests.fakes.sources import published

from caliper.analysis.comprecap.compreqa import (
    AnswerGroup,
    CaptionAnswers,
    TinyObjects,
    answer_from,
    tiny_objects,
)
from caliper.analysis.comprecap.scenes import ExaminedScene, SceneRun, SceneSet
from caliper.analysis.rankings import compare_rankings
from caliper.benchmarks.comprecap.questions import CompreQaQuestion
from caliper.lexical.text import parse

SEEN = "Can the '{}' be seen in this image? A. Yes. B. No."
FITS = "Which description best fits the 'dog'? A. A brown dog. B. A black dog. C. A blue dog."
QA = [
    {"image_name": "park.jpg", "category": "dog", "question": SEEN.format("dog"), "answer": "A"},
    {"image_name": "park.jpg", "category": "Frisbee", "question": SEEN.format("f"), "answer": "A"},
    {"image_name": "park.jpg", "category": "cat", "question": SEEN.format("cat"), "answer": "B"},
    {"image_name": "park.jpg", "category": "cow", "question": SEEN.format("cow"), "answer": "B"},
    {"image_name": "park.jpg", "category": "dog", "question": FITS, "answer": "A", "kind": "cap"},
    {"image_name": "park.jpg", "category": "dog", "question": FITS, "answer": "A", "kind": "cap"},
    {"image_name": "a.jpg", "category": "dog", "question": FITS, "answer": "A", "kind": "cap"},
]


def run(name: str, caption: str = "A black dog.") -> SceneRun:
    items = planned([row()], QA)
    given = answers(items, 1, LOST, 0, 1, 1, 0, 0)
    return scene_run(name, scene(caption, item=items[0]), answers=given)


def groups(found: TinyObjects) -> dict[tuple[str, str], AnswerGroup]:
    return {(group.kind, group.part): group for group in found.runs[0].groups}


def test_accuracies_by_part_and_area() -> None:
    found = groups(tiny_objects(SceneSet((run("one"),))))
    whole = found["p", "all"]
    assert (whole.questions, whole.unscored) == (4, 1)
    assert whole.accuracy.value == pytest.approx(100 * 2 / 3)
    # The frisbee is Unscored: left out, not wrong.
    assert found["p", "present"].accuracy.value == 100
    assert found["p", "present"].unscored == 1
    assert found["p", "absent"].accuracy.value == 50
    assert found["cap", "all"].accuracy.value == pytest.approx(100 / 3)
    # The dog covers 40% of the only picture with masks; of a.jpg nothing is known.
    band = found["cap", "20 to 50%"]
    assert (band.questions, band.accuracy.value, band.errors) == (2, 50, 50)
    assert found["cap", "0 to 1%"].questions == 0
    assert found["cap", "0 to 1%"].accuracy.value is None
    unknown = found["cap", "unknown area"]
    assert (unknown.questions, unknown.errors) == (1, 50)


def test_presence_is_that_of_the_right_answer() -> None:
    """Of a picture without masks, of another spelling and without a category, objects are there."""
    seen = {"question": SEEN.format("dog"), "answer": "A"}
    broken = {"category": "dog", "short_description": "a dog", "mask_out": "!"}
    asked = [
        {"image_name": "bad.jpg", "category": "dog", **seen},
        {"image_name": "park.jpg", "category": "dogs", **seen},
        {"image_name": "park.jpg", "category": "", **seen},
        {"image_name": "park.jpg", "category": "dog", **seen, "answer": "C"},
    ]
    items = planned([row(), row("bad.jpg", broken)], asked)
    bad = ExaminedScene(items[1], {(0, 0): LOST}, "A dog.")
    of_pictures = answers(items, 1, 1, 1, LOST)
    one = scene_run("one", scene("A dog.", item=items[0]), bad, answers=of_pictures)
    (found,) = tiny_objects(SceneSet((one,))).runs
    counts = {group.part: (group.questions, group.unscored) for group in found.groups}
    assert counts == {"all": (4, 1), "present": (3, 0), "absent": (0, 0)}
    # Nothing can be said from the caption without a category or a right answer.
    assert found.from_captions == (CaptionAnswers("p", 2, 0, 0, 2),)


def test_runs_that_were_not_asked_have_none() -> None:
    found = tiny_objects(SceneSet((scene_run("one", scene()),)))
    assert found.runs == ()
    assert "--qa" in found.remark


def test_rankings_are_those_of_the_captions_and_of_the_answers() -> None:
    found = tiny_objects(SceneSet((run("one"), scene_run("two", scene()), run("three"))))
    ranking = dict(found.rankings)["cap"]
    assert {change.name for change in ranking.changes} == {"one", "three"}
    assert ranking.correlation.models == 2


@pytest.mark.parametrize(
    ("caption", "kind", "category", "expected"),
    [
        ("A brown dog runs.", "p", "dog", True),
        ("A tree.", "p", "dog", False),
        ("A tree.", "p", "cat", True),
        ("A cat.", "p", "cat", False),
        ("A brown dog.", "cap", "dog", True),
        ("A black dog.", "cap", "dog", False),
        ("A dog.", "cap", "dog", None),
        ("A tree.", "cap", "dog", None),
    ],
)
def test_answers_from_the_caption(
    caption: str, kind: str, category: str, expected: bool | None
) -> None:
    text = FITS if kind == "cap" else SEEN.format(category)
    answer = "B" if (kind, category) == ("p", "cat") else "A"
    question = CompreQaQuestion(kind, category, text, answer)
    assert answer_from(parse(caption), question) is expected


def test_answers_from_captions_are_counted() -> None:
    (found,) = tiny_objects(SceneSet((run("one"),))).runs
    # The caption speaks of the dog only, and calls it black; a.jpg has no caption.
    assert found.from_captions == (
        CaptionAnswers("p", 3, 1, 0, 0),
        CaptionAnswers("cap", 0, 2, 0, 1),
    )
    (silent,) = tiny_objects(SceneSet((run("one", "A tree."),))).runs
    assert silent.from_captions[1].silent == 2


def test_table_4_ranks_models_like_table_2() -> None:
    """4.3: the rankings align. The paper prints no coefficient."""

    def column(file: str, name: str) -> dict[str, float]:
        renamed = {"miniGemini-34B-HD": "miniGemini-HD-34B"}
        rows = published(file)
        return {renamed.get(row["model"], row["model"]): float(row[name]) for row in rows}

    captions = column("comprecap_table_2_s3.csv", "s_unified")
    presence, description = (
        compare_rankings(captions, column("comprecap_table_4.csv", name))
        for name in ("compreqa_p", "compreqa_cap")
    )
    # GPT-4V was not asked.
    assert len(presence.changes) == len(description.changes) == 10
    places = {change.name: (change.place_before, change.place_after) for change in presence.changes}
    assert places["Human"] == (1, 1)
    assert places["InternVL-Chat-V1-5"] == (4, 2)
    assert places["LLaVA-Next-34B"] == (3, 3)
    assert places["GPT-4o"] == (2, 4)
    # By hand: 5 and 4 of 45 pairs are in the other order.
    assert presence.correlation.kendall.value == pytest.approx(35 / 45, abs=1e-6)
    assert description.correlation.kendall.value == pytest.approx(37 / 45, abs=1e-6)
