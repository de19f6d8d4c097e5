"""Caption metrics: equal to COCO's evaluation code (tests/golden/caption_metrics.py ran it)."""

import json
import math

import pytest
from tests.fakes.sources import ROOT

from caliper.analysis.caption_metrics.clip_score import (
    HIGHEST_REFERENCED,
    clip_score,
    referenced_clip_score,
)
from caliper.analysis.caption_metrics.measures import (
    TEXT_METRICS,
    CaptionMeasure,
    ReferencedCaption,
    mean_measure,
    measure_captions,
)
from caliper.lexical.treebank import tokenize

GOLDEN = json.loads((ROOT / "tests" / "golden" / "caption_metrics.json").read_text("utf-8"))


def measured(captions: dict[str, str], references: dict[str, list[str]]) -> list[CaptionMeasure]:
    return measure_captions(
        {
            image: ReferencedCaption(tokenize(text), [tokenize(one) for one in references[image]])
            for image, text in captions.items()
        }
    )


def test_metrics_are_those_of_cocos_evaluation() -> None:
    found = measured(GOLDEN["captions"], GOLDEN["references"])
    assert tuple(one.name for one in found) == TEXT_METRICS == tuple(GOLDEN["metrics"])
    for one in found:
        wanted = GOLDEN["metrics"][one.name]
        assert one.whole.value == pytest.approx(wanted["whole"], abs=1e-6)
        assert one.by_image == pytest.approx(wanted["by_image"], abs=1e-6)
        assert one.whole.low is not None
        assert one.whole.high is not None
        assert 0 <= one.whole.low < one.whole.value < one.whole.high


def test_one_image_has_no_interval() -> None:
    for one in measured({"a": "a dog runs"}, {"a": ["a dog", "the dog runs"]}):
        assert one.whole.value is not None
        assert one.whole.low is one.whole.high is None


def test_without_a_common_ngram_there_is_no_interval() -> None:
    # The value is that of COCO's guard against zero, which says nothing about other images.
    captions = {str(number): "red dog runs" + " far" * number for number in range(9)}
    found = measured(captions, {image: ["a red dog sat"] for image in captions})
    assert [one.whole.low is None for one in found[:4]] == [False, False, True, True]
    assert found[3].whole.value == pytest.approx(0, abs=0.001)


def test_captions_equal_to_a_reference() -> None:
    texts = {str(number): f"word{number} is here and there" for number in range(5)}
    found = measured(texts, {image: [text] for image, text in texts.items()})
    expected = [1, 1, 1, 1, 1, 10, 10]
    assert [one.whole.value for one in found] == pytest.approx(expected, abs=1e-6)
    # Five pictures do not show that every caption is perfect.
    assert all(one.whole.low is not None and one.whole.low < 0.99 for one in found[:5])


def test_captions_without_words() -> None:
    captions = {"a": "", "b": "...", "c": "a dog"}
    found = measured(captions, {image: ["a dog"] for image in captions})
    for one in found:
        assert one.by_image["a"] == one.by_image["b"] == 0 <= one.by_image["c"]
    empty = measured(captions, {image: ["?!"] for image in captions})
    assert all(one.whole.value == 0 for one in empty[4:])


def test_clip_score_by_hand() -> None:
    picture, caption = (1.0, 0.0), (0.6, 0.8)
    assert clip_score(picture, caption) == pytest.approx(2.5 * 0.6)
    assert clip_score(picture, (-1.0, 0.1)) == 0
    assert clip_score(picture, (0.0, 0.0)) == 0
    # The harmonic mean of 1.5 and the greater of two cosines, .8.
    found = referenced_clip_score(picture, caption, [(0.0, 2.0), (1.0, 0.0)])
    assert found == pytest.approx(2 * 1.5 * 0.8 / (1.5 + 0.8))
    assert referenced_clip_score(picture, caption, [(-1.0, 0.0)]) == 0
    assert referenced_clip_score(picture, picture, [picture]) == pytest.approx(HIGHEST_REFERENCED)
    with pytest.raises(ValueError, match="embeddings of 2 and 3 numbers"):
        clip_score(picture, (1.0, 0.0, 0.0))


def test_a_mean_over_images() -> None:
    found = mean_measure("CLIPScore", {"a": 0.5, "b": 0.75, "c": 1.0}, 2.5)
    assert found.whole.value == 0.75
    assert found.whole.low is not None
    assert found.whole.high is not None
    # Near Student's interval of the mean: t(.975, 2) times .25 / sqrt(3) is .62.
    assert found.whole.high - found.whole.low == pytest.approx(2 * 0.621, rel=0.2)
    assert math.isfinite(found.whole.high)
