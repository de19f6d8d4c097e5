"""Captions matched again, without a model."""

from dataclasses import replace

import pytest
from tests.fakes.scene_runs import LOST, OWN, scene, scene_run

from caliper.analysis.comprecap.ablations import AblatedRun, Ablation, ablations
from caliper.analysis.comprecap.scenes import SceneRun, SceneSet

PUPPY = "A puppy runs. It wants a frisbee."


def ablated(run: SceneRun, threshold: float = 0.7) -> AblatedRun:
    found = ablations(SceneSet((run,)), [threshold])
    assert [each.threshold for each in found.thresholds] == [0.0, threshold]
    return found.thresholds[1].runs[0]


def test_without_a_threshold_figures_are_those_of_the_run() -> None:
    run = scene_run("one", scene(PUPPY), scene(None, [LOST] * 3, objects=LOST))
    found = ablations(SceneSet((run,)))
    assert [each.threshold for each in found.thresholds] == [0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    first = found.thresholds[0].runs[0]
    assert first.figures == {name: run.figures[name] for name in first.figures}
    assert (first.phrases, first.left_out) == (6, 0)
    assert first.figures["s_object"] == pytest.approx(100 * (0.6 + 1) / 2)


def test_what_no_sentence_mentions_any_more_scores_0() -> None:
    found = ablated(scene_run("one", scene(PUPPY)))
    # The puppy, .6 of a dog, is lost; the relation has fewer sentences, which nobody has judged.
    assert found.figures["s_object"] == 50
    assert found.figures["s_attribute"] == (0 + 2) / 2
    assert "s_relation" not in found.figures
    assert "s_unified" not in found.figures
    assert (found.phrases, found.left_out) == (3, 1)
    at_the_edge = ablated(scene_run("one", scene(PUPPY)), 0.6)
    assert at_the_edge.left_out == 0
    assert at_the_edge.figures["s_object"] == pytest.approx(80)


def test_the_lexical_judge_is_asked_at_once() -> None:
    found = ablated(scene_run("one", scene(PUPPY), ruled=True))
    assert found.left_out == 0
    # "It wants a frisbee" has half of "The dog has the frisbee".
    assert 0 < found.figures["s_relation"] < 5


def test_an_unscored_phrase_stays_so_while_its_sentences_are_the_same() -> None:
    found = ablated(scene_run("one", scene(PUPPY, [4, LOST, 5])))
    assert found.figures["s_attribute"] == 0
    assert found.left_out == 1


def test_a_caption_whose_nouns_are_not_kept_is_left_out() -> None:
    kept = scene("A dog has a frisbee.")
    lost = replace(scene(PUPPY), scenes={})
    found = ablations(SceneSet((scene_run("one", kept), scene_run("two", lost))), [0.7])
    for variant in found.thresholds:
        one, two = variant.runs
        assert (one.left_out, two.left_out, two.figures) == (0, 3, {})
        # Its figures as judged are no figures of this variant.
        assert [change.name for change in variant.rankings["s_object"].changes] == ["one"]


def test_another_tagger() -> None:
    one = scene_run("one", scene(PUPPY, taggers={"other": ("frisbee",), "blind": ()}))
    two = scene_run("two", scene("A dog has a frisbee.", taggers={"other": ("dog", "frisbee")}))
    found = ablations(SceneSet((one, two)))
    other, blind = found.taggers
    assert (other.tagger, blind.tagger) == ("other", "blind")
    assert [run.figures["s_object"] for run in other.runs] == [50, 100]
    assert [run.left_out for run in other.runs] == [1, 0]
    # Of the second run there are no nouns by this tagger: all is left out, nothing is 0.
    assert blind.runs[0].figures["s_object"] == 0
    assert blind.runs[1].figures == {}
    assert blind.runs[1].left_out == 3


def ranked(ablation: Ablation, name: str = "s_object") -> list[int]:
    return [change.place_after for change in ablation.rankings[name].changes]


def test_how_far_a_ranking_moves() -> None:
    captions = {"a": "A dog. A disc.", "b": "A puppy. A frisbee.", "c": "A dog.", "d": "A tree."}
    runs = tuple(scene_run(name, scene(text)) for name, text in captions.items())
    found = ablations(SceneSet(runs), [0.7, 0.9])
    judged, some, few = found.thresholds
    assert ranked(judged) == [1, 2, 3, 4]
    assert judged.rankings["s_object"].most_moved == 0
    assert judged.rankings["s_object"].correlation.kendall.value == 1
    # At .7 the puppy is lost, at .9 the disc, too: then three have one object each.
    assert ranked(some) == [1, 2, 2, 4]
    assert ranked(few) == [1, 1, 1, 4]
    assert few.rankings["s_object"].most_moved == 2
    assert few.rankings["s_object"].correlation.kendall.value < 1


def test_other_setups_and_captions_that_cannot_be_matched() -> None:
    one = scene_run("one", scene())
    bare = replace(one.scenes[0], scenes={})
    others = {("judge: a / b",): {"one": {"s_unified": 50.0, "s_object": 1.0}}}
    found = ablations(SceneSet((scene_run("one", bare),), others))
    assert "cannot be matched" not in found.remark
    assert "--embedder" in found.remark
    assert found.thresholds == ()
    (setup,) = found.setups
    assert setup.differing == ("judge: a / b",)
    assert setup.ranking.changes[0].after == 50
    assert one.tagger == OWN


def test_agreement_with_people_in_every_variant() -> None:
    captions = {"a": "A dog. A disc.", "b": "A puppy. A frisbee.", "c": "A dog.", "d": "A tree."}
    runs = tuple(scene_run(name, scene(text)) for name, text in captions.items())
    people = {"a": 4.0, "b": 3.0, "c": 2.0, "e": 1.0}
    judged, few = ablations(SceneSet(runs), [0.9], people).thresholds
    assert judged.people["s_object"].models == 3
    assert judged.people["s_object"].kendall.value == 1
    # All three have one object left.
    assert few.people["s_object"].kendall.value is None
