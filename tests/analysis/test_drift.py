import pytest

from caliper.analysis.drift import AnchorJudgement, AnchorVerdict, drift


def judgement(*given: str | None, anchors: str = "set") -> AnchorJudgement:
    """Anchors that all deserve "correct"."""
    return AnchorJudgement(
        "judge",
        anchors,
        {f"a{number}": AnchorVerdict("correct", word) for number, word in enumerate(given)},
    )


def test_agreement_is_over_those_with_a_verdict() -> None:
    found = judgement("correct", "wrong", None, "correct")
    assert (found.correct_count, found.scored_count) == (2, 3)
    assert found.agreement == pytest.approx(2 / 3)
    assert judgement(None).agreement is None


def test_a_judge_that_says_the_same_has_not_drifted() -> None:
    found = drift(judgement("correct", "wrong"), judgement("correct", "wrong"))
    assert found is not None
    assert (found.paired, found.changed, found.p) == (2, (), 1)


def test_what_changed_is_named_though_the_agreement_is_the_same() -> None:
    found = drift(judgement("correct", "wrong", "wrong"), judgement("wrong", "correct", "not said"))
    assert found is not None
    assert found.changed == ("a0", "a1", "a2")


def test_the_same_fall_is_less_likely_chance_with_more_anchors() -> None:
    few = drift(judgement(*["correct"] * 2), judgement(*["wrong"] * 2))
    many = drift(judgement(*["correct"] * 10), judgement(*["wrong"] * 10))
    assert few is not None
    assert many is not None
    # Exact: two of two one way has probability 2 * .5**2, ten of ten 2 * .5**10.
    assert (few.p, many.p) == (0.5, pytest.approx(2 * 0.5**10))


def test_an_anchor_without_a_verdict_in_one_of_them_is_left_out() -> None:
    found = drift(judgement("correct", None), judgement("correct", "wrong"))
    assert found is not None
    assert (found.paired, found.changed) == (1, ())


def test_other_anchors_cannot_be_compared() -> None:
    assert drift(judgement("correct"), judgement("correct", anchors="other")) is None


def test_it_is_written_and_read_back() -> None:
    found = judgement("correct", None)
    assert AnchorJudgement.from_json(found.to_json()) == found
    with pytest.raises(ValueError, match="not judged anchors"):
        AnchorJudgement.from_json({"judge": "somebody"})
