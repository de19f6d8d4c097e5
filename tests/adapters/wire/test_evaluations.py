from datetime import UTC, datetime

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
from caliper.api.aggregator.v1 import aggregator_pb2
from caliper.api.evaluate.v1 import evaluate_pb2
from caliper.core.report import Reuse
from caliper.core.run import RunState
from caliper.core.terms import Priority, Terms
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
    )


MOST = st.none() | st.integers(0, 2**64 - 1)


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
