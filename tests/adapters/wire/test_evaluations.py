from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes import runs

from caliper.adapters.wire.evaluations import (
    decode_evaluation,
    decode_evaluation_request,
    decode_run_scores,
    encode_evaluation,
    encode_evaluation_request,
    encode_run_scores,
)
from caliper.adapters.wire.stop_criteria import decode_criterion, decode_look, encode_look
from caliper.analysis.gate import Check, Policy, Tier
from caliper.analysis.sequential import CheckLook, Finding, Look
from caliper.api.aggregator.v1 import aggregator_pb2
from caliper.api.evaluate.v1 import evaluate_pb2
from caliper.core.errors import InvalidInput
from caliper.core.report import Reuse
from caliper.core.run import RunState
from caliper.core.terms import Priority, Terms
from caliper.pipeline.ledger.stop_criterion import StopCriterion
from caliper.pipeline.planning.resolution import BenchmarkRequest, EvaluationRequest
from caliper.pipeline.store.run_record import Evaluation
from caliper.ports.stages import Scores

TEXTS = st.text(st.characters() | st.sampled_from("\ud83d\udcff\ufdd0"), max_size=12)
WORDS = st.text("abcdef0123456789", min_size=1, max_size=8)
SOURCES = st.one_of(
    st.fixed_dictionaries({"captions": WORDS}), st.fixed_dictionaries({"captioner": TEXTS})
)


@st.composite
def parts(draw: st.DrawFn) -> BenchmarkRequest:
    return BenchmarkRequest(
        name=draw(WORDS),
        data=draw(WORDS),
        **draw(SOURCES),
        qa_data=draw(st.none() | WORDS),
        prompt=draw(TEXTS.filter(bool)),
        settings=draw(st.dictionaries(TEXTS, TEXTS, max_size=2)),
        repeats=draw(st.none() | st.integers(1, 100)),
        answerers=draw(st.dictionaries(st.sampled_from(["judge"]), WORDS, max_size=1)),
        media=draw(TEXTS),
        qa_replies=draw(st.none() | WORDS),
        caption_tokens=draw(st.none() | st.integers(1, 1_000_000)),
        data_name=draw(TEXTS),
    )


MOST = st.none() | st.integers(0, 2**64 - 1)
DROPS, LEVELS = st.none() | st.floats(0, 100), st.floats(0.01, 0.4)
CHECKS = st.builds(Check, WORDS, TEXTS, st.sampled_from(Tier), DROPS, DROPS, st.integers(2, 99))
POLICIES = st.builds(Policy, st.lists(CHECKS, max_size=2).map(tuple), LEVELS, st.floats(0, 1))
RUNS = st.just("") | WORDS
CRITERIA = st.builds(
    StopCriterion,
    WORDS,
    st.none() | POLICIES,
    DROPS,
    LEVELS,
    *2 * (RUNS,),
    st.none() | LEVELS,
    st.booleans(),
)
FIGURES, NEEDED = st.floats(-1, 1), st.none() | st.integers(0, 2**32)
FINDINGS, QUESTIONS = st.sampled_from(Finding), st.integers(0, 2**32)
CHECK_LOOKS = st.builds(
    CheckLook,
    WORDS,
    FINDINGS,
    *4 * (FIGURES,),
    *4 * (QUESTIONS,),
    NEEDED,
    *2 * (FIGURES,),
    st.booleans(),
)
LOOKS = st.builds(
    Look,
    finding=FINDINGS,
    difference=FIGURES,
    low=FIGURES,
    high=FIGURES,
    needed_more=NEEDED,
    checks=st.lists(CHECK_LOOKS, max_size=2).map(tuple),
    open_strata=st.frozensets(WORDS, max_size=2),
    reason=WORDS,
)


@given(
    st.builds(
        EvaluationRequest,
        name=TEXTS,
        benchmarks=st.lists(parts(), max_size=2).map(tuple),
        seed=st.integers(0, 2**64 - 1),
        limit=st.none() | st.integers(0, 2**32 - 1),
        replicate=st.integers(0, 2**32 - 1),
        share_replies=st.booleans(),
        judge_share=st.none() | st.floats(0.01, 0.99),
        judging=st.none() | CRITERIA,
        coverage_floor=st.floats(0, 1),
        client_key=TEXTS,
        terms=st.builds(Terms, MOST, MOST, st.sampled_from(Priority)),
    )
)
def test_what_is_asked_for_arrives(asked: EvaluationRequest) -> None:
    data = encode_evaluation_request(asked).SerializeToString()
    assert decode_evaluation_request(evaluate_pb2.StartEvaluationRequest.FromString(data)) == asked


MOMENTS = st.integers(0, 2**32).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))
COUNTS = st.integers(0, 2**64 - 1)


@given(MOMENTS, st.none() | MOMENTS, st.none() | st.builds(Reuse, COUNTS, COUNTS, COUNTS, COUNTS))
def test_how_a_run_ended_arrives(
    started: datetime, ended: datetime | None, reuse: Reuse | None
) -> None:
    spec = runs.spec(runs.part())
    found = Evaluation(spec, RunState.COMPLETE, started, ended=ended, reuse=reuse)
    data = encode_evaluation(found).SerializeToString()
    assert decode_evaluation(evaluate_pb2.Evaluation.FromString(data)) == found


@given(st.sampled_from(RunState), TEXTS, st.integers(0, 2**32 - 1))
def test_where_a_run_stands_arrives(state: RunState, error: str, start: int) -> None:
    scores = Scores(state, (), error, start)
    data = encode_run_scores(scores).SerializeToString()
    assert decode_run_scores(aggregator_pb2.RunScores.FromString(data)) == scores


@given(LOOKS)
def test_a_look_is_read_back(look: Look) -> None:
    assert decode_look(evaluate_pb2.Look.FromString(encode_look(look).SerializeToString())) == look


def test_what_ends_a_run_has_defaults_and_known_tiers() -> None:
    check = evaluate_pb2.GateCheck(benchmark="captionqa", figure="overall.score")
    policy = evaluate_pb2.GatePolicy(checks=[check], level=0.1)
    message = evaluate_pb2.StopCriterion(base="a" * 16, policy=policy)
    expected = Policy((Check("captionqa", "overall.score"),), 0.1)
    assert decode_criterion(message) == StopCriterion("a" * 16, expected, None, 0.1)
    policy.checks[0].tier = "urgent"
    with pytest.raises(InvalidInput, match="urgent"):
        decode_criterion(evaluate_pb2.StopCriterion(policy=policy))
