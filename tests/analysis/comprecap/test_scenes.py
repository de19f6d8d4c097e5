"""Runs over the same pictures."""

import pytest
from tests.fakes.scene_runs import LOST, answers, planned, row, scene, scene_run

from caliper.analysis.comprecap.scenes import SceneRun, over_shared_pictures
from caliper.core.errors import InvalidInput

ASKED = {"image_name": "0.jpg", "category": "dog", "question": "A. Yes. B. No.", "answer": "A"}
ITEMS = planned(
    [row(f"{place}.jpg") for place in range(3)], [ASKED, ASKED | {"image_name": "1.jpg"}]
)


def run(name: str, *scores: int | None) -> SceneRun:
    """One picture per score; None: nothing of it has a score."""
    about = [item for item in ITEMS if len(item.questions) > 1]
    scenes = [
        scene(None, [LOST] * 3, item=item, objects=LOST)
        if score is None
        else scene(scores=[score] * 3, item=item)
        for score, item in zip(scores, about, strict=False)
    ]
    return scene_run(name, *scenes, answers=answers(ITEMS, 1, 0))


def test_runs_are_compared_over_the_pictures_of_all() -> None:
    runs = [run("one", 1, 2, 5), run("two", None, 2, 5), run("three", 1, 2), run("none", None)]
    found, remark = over_shared_pictures(runs)
    assert remark == "2 pictures are left out: not all runs have scores of them"
    assert [each.figures["s_attribute"] for each in found[:3]] == [2, 2, 2]
    assert [each.figures["s_unified"] for each in found[1:3]] == [found[0].figures["s_unified"]] * 2
    assert "s_unified" not in found[3].figures
    assert [len(each.answers) for each in found] == [1, 1, 1, 1]


def test_the_same_pictures_stay() -> None:
    runs = [run("one", 1, None), run("two", 5, None)]
    assert over_shared_pictures(runs) == (runs, "")
    assert over_shared_pictures([run("none", None)])[1] == ""
    with pytest.raises(InvalidInput, match="no picture has scores in all runs"):
        over_shared_pictures([run("one", 1, None), run("two", None, 1)])
