"""Repeated judging (paper 4.3) and several judges (A.2)."""

import pytest
from tests.fakes.verdict_sets import elements, judged, verdict_set

from caliper.analysis.capability.judge_stability import judge_stability

BOTH = elements(4, ("scene", "event"))
OTHER = ("capability model judge: a / b",)


def test_ranges_over_repeats() -> None:
    run = judged("a", "RRWSRRRR", "RRRSRRRR", "RRW-RRRR", asked=BOTH)
    (found,) = judge_stability(verdict_set(run, asked=BOTH), {}).repeated
    scene, event, average = found.tasks
    assert found.repeats == 3
    recall = scene.metrics["recall"]
    # The silent one was judged twice only: the repeats are over the other three.
    assert recall.values == (
        pytest.approx(200 / 3, abs=1e-5),
        100,
        pytest.approx(200 / 3, abs=1e-5),
    )
    assert recall.range == pytest.approx(100 / 3, abs=1e-5)
    assert recall.deviation == pytest.approx(19.2450, abs=1e-4)
    assert scene.metrics["hit_rate"].range == 0
    assert event.metrics["f1"].range == 0
    # The paper's average range is the mean of the tasks' ranges.
    assert average.metrics["recall"].range == pytest.approx(100 / 6, abs=1e-5)
    assert average.metrics["recall"].values[0] == pytest.approx(250 / 3, abs=1e-5)
    # One got another verdict.
    assert (scene.elements, scene.same.value) == (3, pytest.approx(2 / 3, abs=1e-5))
    assert average.same.value == pytest.approx(6 / 7, abs=1e-5)
    assert scene.fleiss.value is not None
    assert found.tasks[0].same.low is not None


def test_what_some_repeats_lack_is_no_fluctuation() -> None:
    # Every verdict is the same; the second time half of them are missing.
    (found,) = judge_stability(verdict_set(judged("a", "RRSS", "RR--")), {}).repeated
    assert [each.metrics["recall"].range for each in found.tasks] == [0, 0]


def test_replicates_over_the_same_captions_are_repeats() -> None:
    runs = [
        judged("a", "RRWS", captions="x"),
        judged("a, replicate 1", "RRRS", captions="x"),
        judged("a, replicate 2", "RRRS", captions="y"),
        judged("b", "RRRR", captions="x"),
    ]
    (found,) = judge_stability(verdict_set(*runs), {}).repeated
    assert (found.name, found.repeats) == ("a", 2)
    assert found.tasks[-1].metrics["recall"].range == 25


def test_other_judges() -> None:
    first = verdict_set(
        judged("a", "RRRS"), judged("b", "RRWS"), judged("c", "RWWS"), judged("d", "SSSS")
    )
    other = verdict_set(
        judged("b", "RRRW"), judged("a", "RRRS"), judged("c", "RWSS", captions="others")
    )
    found = judge_stability(first, {OTHER: other})
    (pair,) = found.judges
    assert pair.differing == OTHER
    recall = {
        each.name: (each.place_before, each.place_after) for each in pair.rankings["recall"].changes
    }
    assert recall == {"a": (1, 1), "b": (2, 1), "c": (3, 3)}
    assert "recall" not in pair.kept
    # a 100, 67, 33 under the first, 100, 75, 50 under the other: the same order.
    assert "precision" in pair.kept
    task, whole = found.agreements
    # Other captions were judged of c, and d was judged once.
    assert (task.task, task.agreement.questions, whole.agreement.questions) == ("scene", 8, 8)
    assert task.agreement.accuracy.value == 0.75
    assert task.agreement.cohen is not None
    names = [(each.name, bool(each.differing)) for each in found.averages]
    assert names == [
        ("a", False), ("a", True), ("b", False), ("b", True), ("c", False), ("c", True),
        ("d", False),
    ]  # fmt: skip


def test_three_judges_agree_together() -> None:
    sets = [verdict_set(judged("a", verdicts)) for verdicts in ("RRWS", "RRWS", "RWWS")]
    found = judge_stability(sets[0], {("x",): sets[1], ("y",): sets[2]})
    assert found.agreements[-1].agreement.accuracy.value == 0.75
    assert found.agreements[-1].agreement.cohen is None
    assert len(found.judges) == 2


def test_a_judge_of_other_captions_is_left_out() -> None:
    captions = ("x", "x", "y")
    sets = [verdict_set(judged("a", "RRWS", captions=each)) for each in captions]
    found = judge_stability(sets[0], {("x",): sets[1], ("y",): sets[2]}).agreements[-1]
    assert (found.agreement.questions, found.agreement.accuracy.value) == (4, 1)


def test_judges_without_a_common_model() -> None:
    found = judge_stability(verdict_set(judged("a", "RW")), {OTHER: verdict_set(judged("b", "RW"))})
    assert "need the --name" in found.remark
    assert found.agreements == ()
    assert found.judges[0].kept == ()


def test_elements_are_matched_by_their_key() -> None:
    asked = elements(3)
    first = verdict_set(judged("a", "RWS", asked=asked), asked=asked)
    turned = asked[::-1]
    other = verdict_set(judged("a", "SWR", asked=turned), asked=turned)
    found = judge_stability(first, {OTHER: other})
    assert found.agreements[-1].agreement.accuracy.value == 1


def test_nothing_was_judged_twice() -> None:
    found = judge_stability(verdict_set(judged("a", "RW")), {})
    assert found.repeated == found.judges == ()
    assert "--repeats" in found.remark


def test_judges_are_compared_over_the_tasks_that_all_of_them_scored() -> None:
    first = verdict_set(judged("a", "RRRRSSSS", asked=BOTH), asked=BOTH)
    other = verdict_set(judged("a", "RRRR----", asked=BOTH), asked=BOTH)
    found = judge_stability(first, {OTHER: other})
    assert [each.metrics["recall"].value for each in found.averages] == [100, 100]
    assert "averages are without event" in found.remark
