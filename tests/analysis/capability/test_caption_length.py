"""Caption length against score."""

from dataclasses import replace

import pytest
from tests.fakes.verdict_sets import elements, judged, verdict_set

from caliper.analysis.capability.caption_length import caption_length

BOTH = elements(4, ("scene", "event"))


def test_quarters_are_of_each_task() -> None:
    # Clips have longer captions and are harder: the quarters know nothing of it.
    words = (1, 2, 3, 4, 101, 102, 103, 104)
    run = judged("a", "SWRRSSWR", asked=BOTH, words=words)
    (found,) = caption_length(verdict_set(run, asked=BOTH)).runs
    assert [each.quarter for each in found.quarters] == ["shortest", "shorter", "longer", "longest"]
    assert [each.words for each in found.quarters] == [51, 52, 53, 54]
    assert [each.metrics["recall"].value for each in found.quarters] == [0, 0, 50, 100]
    assert [each.metrics["hit_rate"].value for each in found.quarters] == [0, 50, 100, 100]
    # Within tasks lengths are -1.5, -.5, .5, 1.5; told are -.5, -.5, .5, .5 and -.25 x 3, .75.
    assert found.told.value == pytest.approx(3.5 / (10 * 1.75) ** 0.5, abs=1e-6)
    assert found.words == 52.5


def test_equal_lengths_are_one_quarter() -> None:
    run = judged("a", "SWRR-R", words=(5,) * 6)
    (found,) = caption_length(verdict_set(run)).runs
    (quarter,) = found.quarters
    # One has no score.
    assert (quarter.captions, quarter.metrics["recall"].value) == (5, 60)
    assert found.told.value is None


def test_quarters_are_over_the_same_tasks() -> None:
    # All captions of the easy task are equally long: it would make the shortest ones look best.
    run = judged("a", "RRRRSSSS", asked=BOTH, words=(5, 5, 5, 5, 101, 102, 103, 104))
    (found,) = caption_length(verdict_set(run, asked=BOTH)).runs
    assert [each.captions for each in found.quarters] == [1] * 4
    assert [each.metrics["recall"].value for each in found.quarters] == [0] * 4


def test_elements_of_one_clip_are_one_observation() -> None:
    """Each clip six times: an interval as wide as that of its elements once each."""
    words = [3, 9, 4, 8, 7, 2, 9, 1, 6, 8, 3, 5] * 4
    repeats = ("RSWRRSRSRRWS" * 4, "RRRRSSRSRRWS" * 4, "S" * 36 + "RSWRRSRRRRWS")

    def width(times: int) -> float:
        asked = tuple(
            replace(each, ordinal=ordinal)
            for each in elements(24, ("dynamic_object_number", "event"))
            for ordinal in range(times)
        )
        said = ["".join(letter * times for letter in repeat) for repeat in repeats]
        run = judged("a", *said, asked=asked, words=[each for each in words for _ in range(times)])
        told = caption_length(verdict_set(run, asked=asked)).runs[0].told
        assert told.low is not None
        assert told.high is not None
        return told.high - told.low

    assert width(6) > 0.7 * width(1)


def test_length_over_runs() -> None:
    runs = [
        judged(name, verdicts, words=(length,) * 4)
        for name, verdicts, length in (("a", "SSSR", 5), ("b", "SSRR", 9), ("c", "SRRR", 20))
    ]
    found = caption_length(verdict_set(*runs))
    assert found.over_runs is not None
    assert found.over_runs["recall"].spearman.value == 1
    assert found.over_runs["precision"].spearman.value is None
    assert caption_length(verdict_set(runs[0])).over_runs is None


def test_without_captions() -> None:
    assert caption_length(verdict_set(judged("a", "RW"))).remark


def test_tasks_of_equal_scores_have_no_correlation() -> None:
    # Events are told once in three repeats: their mean differs from a third in the last bit.
    asked = elements(11, ("scene", "event"))
    told = ["SSSRRRRSSSS", "RRRSSSSSSSS", "SSSSSSSRRRR"]
    run = judged("a", *("S" * 11 + each for each in told), asked=asked, words=range(22))
    (found,) = caption_length(verdict_set(run, asked=asked)).runs
    assert found.told.value is None
