import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.core.keys import canonical_json
from caliper.core.outcome import RETRYABLE, Evidence, Reason, Scored, Unscored, Verdict, better

# Lone surrogates and control characters included.
TEXTS = st.text(st.characters(exclude_categories=()), max_size=8)
FRACTIONS = st.fractions() | st.builds(
    Fraction, st.integers(-(10**40), 10**40), st.integers(1, 10**40)
)
OUTCOMES = st.builds(Scored, FRACTIONS, st.booleans()) | st.builds(
    Unscored, st.sampled_from(Reason)
)
EVIDENCE = st.builds(Evidence, TEXTS, TEXTS, st.booleans())
VERDICTS = st.builds(Verdict, st.integers(0, 10**9), OUTCOMES, EVIDENCE)
# Few values, so that ties and near ties are common.
RIVALS = st.builds(
    Verdict,
    st.just(7),
    st.builds(Scored, st.sampled_from([Fraction(0), Fraction(1, 2)]), st.booleans())
    | st.builds(
        Unscored,
        st.sampled_from([Reason.BACKEND, Reason.BUDGET, Reason.UNREADABLE, Reason.BAD_INPUT]),
    ),
    st.builds(Evidence, st.sampled_from(["", "a", "\ud800"]), st.sampled_from(["", "b"])),
)


@given(VERDICTS)
def test_json_round_trip(verdict: Verdict) -> None:
    written = canonical_json(verdict.to_json())
    assert Verdict.from_json(json.loads(written)) == verdict
    assert b"\n" not in written


@given(RIVALS, RIVALS)
def test_better_is_commutative(first: Verdict, second: Verdict) -> None:
    assert better(first, second) == better(second, first)


@given(RIVALS, RIVALS, RIVALS)
def test_better_is_associative(first: Verdict, second: Verdict, third: Verdict) -> None:
    assert better(better(first, second), third) == better(first, better(second, third))


@given(RIVALS)
def test_better_is_idempotent(verdict: Verdict) -> None:
    assert better(verdict, verdict) == verdict


@given(RIVALS, RIVALS)
def test_scored_beats_unscored(first: Verdict, second: Verdict) -> None:
    scored = [one for one in (first, second) if isinstance(one.outcome, Scored)]
    assert better(first, second) in (scored or [first, second])


def test_a_low_score_beats_a_good_excuse() -> None:
    wrong = Verdict(0, Scored(Fraction(-1)), Evidence("zzz"))
    excuse = Verdict(0, Unscored(Reason.BACKEND))
    assert better(excuse, wrong) is wrong


FINAL = sorted(set(Reason) - RETRYABLE)


@pytest.mark.parametrize("passing", sorted(RETRYABLE))
@pytest.mark.parametrize("final", FINAL)
def test_a_final_reason_beats_one_that_may_have_passed(passing: Reason, final: Reason) -> None:
    # Whatever the explanations are: they are the last thing that verdicts are compared by.
    trouble = Verdict(0, Unscored(passing), Evidence(explanation="502"))
    told = Verdict(0, Unscored(final), Evidence(explanation="zzz"))
    assert better(trouble, told) is better(told, trouble) is told


@pytest.mark.parametrize("reason", sorted(RETRYABLE - {Reason.BUDGET}))
def test_what_was_asked_beats_what_no_budget_was_left_for(reason: Reason) -> None:
    unasked = Verdict(0, Unscored(Reason.BUDGET))
    asked = Verdict(0, Unscored(reason), Evidence(explanation="zzz"))
    assert better(unasked, asked) is better(asked, unasked) is asked


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ({}, "not a verdict"),
        ({"index": 1}, "not a verdict"),
        ({"score": "1"}, "not a verdict"),
        ({"index": 1, "score": "1/0"}, "not a verdict"),
        ({"index": 1, "score": "one"}, "'one'"),
        ({"index": 1, "score": 1}, "not a verdict"),
        ({"index": 1, "score": float("inf")}, "not a verdict"),
        ({"index": 1, "score": "1e9999999999"}, "'1e9999999999'"),
        ({"index": 1, "unscored": "bored"}, "'bored' is not a valid Reason"),
        ({"index": 1, "unscored": None}, "None is not a valid Reason"),
        ({"index": None, "score": "1"}, "not a verdict"),
        ([], "not a verdict"),
        ("verdict", "not a verdict"),
        (None, "not a verdict"),
    ],
)
def test_what_is_no_verdict(written: object, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Verdict.from_json(written)  # type: ignore[arg-type]  # somebody else's JSON


def test_the_reasons_are_the_closed_list() -> None:
    assert {str(reason) for reason in Reason} == {
        "no_caption", "bad_input", "media_missing", "bad_ground_truth", "no_reply", "refused",
        "unreadable", "truncated", "backend", "timeout", "budget", "internal", "not_drawn",
    }  # fmt: skip
