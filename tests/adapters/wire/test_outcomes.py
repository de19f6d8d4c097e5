from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.adapters.wire.outcomes import decode_row, decode_verdict, encode_row, encode_verdict
from caliper.api.types.v1 import outcome_pb2
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Reason, Scored, Unscored, Verdict
from caliper.core.report import VerdictRow

TEXTS = st.text(st.characters() | st.sampled_from("\ud800\ufdd0\x00"), max_size=12)
COUNTS = st.integers(0, 2**32 - 1)
ROWS = st.builds(
    VerdictRow,
    index=COUNTS,
    benchmark=st.sampled_from(("capability", "captionqa", "comprecap")),
    dimension=TEXTS,
    item=TEXTS,
    sample=TEXTS,
    cluster=TEXTS,
    media=st.lists(TEXTS, max_size=3).map(tuple),
    question_id=st.text("0123456789abcdef", min_size=32, max_size=32),
    question=TEXTS,
    expected=TEXTS,
    repeat=COUNTS,
    outcome=TEXTS,
    score=st.none() | st.floats(allow_nan=False),
    reason=st.just("") | st.sampled_from(Reason).map(str),
    explanation=TEXTS,
    reply=TEXTS,
    repaired=st.booleans(),
    judge=TEXTS,
)


@given(row=ROWS)
def test_a_row_is_read_back(row: VerdictRow) -> None:
    message = outcome_pb2.VerdictRow.FromString(encode_row(row).SerializeToString())
    assert decode_row(message) == row


def test_what_is_mentioned_is_the_rule_and_costs_nothing() -> None:
    mentioned = encode_verdict(Verdict(1, Scored(Fraction(1))))
    silent = encode_verdict(Verdict(1, Scored(Fraction(0), mentioned=False)))
    assert not mentioned.score.unmentioned
    assert silent.score.unmentioned
    assert not mentioned.HasField("evidence")
    assert mentioned.score.labels == 0


def test_labels_are_read_back() -> None:
    verdict = Verdict(1, Scored(Fraction(-1), labels=4))
    assert decode_verdict(encode_verdict(verdict)) == verdict


@pytest.mark.parametrize("index", [-1, 2**32])
def test_an_index_that_no_plan_has_is_not_written(index: int) -> None:
    with pytest.raises(ValueError, match=str(index)):
        encode_verdict(Verdict(index, Unscored(Reason.BACKEND)))


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (outcome_pb2.Verdict(index=1), "outcome"),
        (outcome_pb2.Verdict(score=outcome_pb2.Score(numerator=1)), "denominator"),
        (outcome_pb2.Verdict(score=outcome_pb2.Score(exact="1/0")), "denominator"),
        (outcome_pb2.Verdict(score=outcome_pb2.Score(exact="1")), "fraction"),
        (outcome_pb2.Verdict(score=outcome_pb2.Score(exact="1_0/3")), "fraction"),
        (outcome_pb2.Verdict(score=outcome_pb2.Score(exact=f"1/{'9' * 5000}")), "too long"),
        (outcome_pb2.Verdict(unscored=outcome_pb2.REASON_UNSPECIFIED), "reason"),
    ],
)
def test_what_is_no_verdict_is_refused(message: outcome_pb2.Verdict, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        decode_verdict(message)
