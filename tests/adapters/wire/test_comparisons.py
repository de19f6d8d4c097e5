import asyncio
from collections.abc import AsyncIterator, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes import reports

from caliper.adapters.wire.comparisons import (
    decode_comparison,
    decode_comparison_request,
    encode_comparison,
)
from caliper.analysis.comparability import Distinction
from caliper.analysis.compare import Difference
from caliper.analysis.flips import Flip, Flips
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.core.errors import InvalidInput
from caliper.core.report import Coverage
from caliper.core.run import RunState
from caliper.pipeline.comparing.comparer import Pictures
from caliper.pipeline.comparing.comparison import Against, Comparison, ComparisonRequest, Part, Side

NUMBERS = st.floats(allow_nan=False) | st.none()
COUNTS = st.integers(0, 2**40)
TEXTS = st.text(st.characters(), max_size=5)


def differences(
    error: st.SearchStrategy[float | None], degrees: st.SearchStrategy[int | None]
) -> st.SearchStrategy[Difference]:
    names = st.lists(TEXTS, max_size=2).map(tuple)
    figures = [NUMBERS] * 5
    jackknife = TEXTS.map(lambda _: "jackknife")
    rest = [NUMBERS] * 6
    return st.builds(
        Difference, *figures, jackknife, COUNTS, COUNTS, error, *rest, degrees, names, names
    )


DIFFERENCES = differences(st.none(), st.none()) | differences(st.floats(allow_nan=False), COUNTS)
WHOLE = st.builds(Difference, COUNTS, COUNTS, st.integers(-1000, 1000))
SIDES = st.builds(
    Side,
    st.just("a" * 16),
    TEXTS,
    st.sampled_from(RunState),
    st.just({"capability": Coverage(5, 3, {"timeout": 2})}),
    st.dictionaries(st.sampled_from(["capability", "captionqa"]), st.floats(0.05, 1)),
)
FLIPS = st.builds(
    Flip, st.just(reports.verdict(1)), st.just(reports.verdict(2)), st.tuples(TEXTS, TEXTS)
)


@st.composite
def parts(draw: st.DrawFn) -> Part:
    paths = draw(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4, unique=True))
    figures = {path: draw(DIFFERENCES | WHOLE) for path in paths}
    rows = draw(st.lists(st.tuples(TEXTS, st.sampled_from(paths)), max_size=3))
    share = st.floats(0, 1)
    shares = draw(st.dictionaries(st.sampled_from(paths), st.tuples(share, share)))
    return Part("capability", draw(TEXTS), paths[0], draw(TEXTS), tuple(rows), figures, shares)


CANDIDATES = st.builds(
    Against,
    SIDES,
    st.lists(st.builds(Distinction, st.just("capability"), st.just("model"), *[TEXTS] * 3)).map(
        tuple
    ),
    st.lists(parts(), max_size=2).map(tuple),
    st.builds(Flips, *[COUNTS] * 4, st.lists(FLIPS, max_size=2).map(tuple)),
)
COMPARISONS = st.builds(Comparison, SIDES, st.lists(CANDIDATES, max_size=2).map(tuple))


def back(messages: Iterable[pb.CompareEvaluationsResponse]) -> tuple[Comparison, Pictures]:
    async def stream() -> AsyncIterator[pb.CompareEvaluationsResponse]:
        for message in messages:
            yield pb.CompareEvaluationsResponse.FromString(message.SerializeToString())

    return asyncio.run(decode_comparison(stream()))


@given(COMPARISONS, st.dictionaries(st.tuples(st.just("captionqa"), TEXTS), st.binary()))
def test_there_and_back(found: Comparison, pictures: Pictures) -> None:
    assert repr(back(encode_comparison(found, pictures))) == repr((found, pictures))


def test_messages_that_no_gateway_sends() -> None:
    side = pb.ComparedRun(run="a" * 16, state=1)
    base = pb.CompareEvaluationsResponse(base=side)
    flip = pb.CompareEvaluationsResponse(flip=pb.Flip())
    row = pb.ComparedBenchmark(benchmark="capability", rows=[pb.ComparedRow(figure=3)])
    candidate = pb.ComparedCandidate(run=side, benchmarks=[row])
    broken = pb.CompareEvaluationsResponse(candidate=candidate)
    # One figure, and a row that names the one after it.
    beyond = pb.CompareEvaluationsResponse.FromString(broken.SerializeToString())
    beyond.candidate.benchmarks[0].figures.append(pb.Difference(path=["average", "f1"]))
    beyond.candidate.benchmarks[0].rows[0].figure = 1
    share = pb.CompareEvaluationsResponse.FromString(beyond.SerializeToString())
    del share.candidate.benchmarks[0].rows[:]
    share.candidate.benchmarks[0].shares.append(pb.ScoredShares(figure=1))
    bare = pb.CompareEvaluationsResponse.FromString(broken.SerializeToString())
    del bare.candidate.benchmarks[0].rows[:]
    for messages, told in (
        ([], "lacks its base"),
        ([base, flip], "unexpected part of a comparison: flip"),
        ([base, pb.CompareEvaluationsResponse()], "unexpected part of a comparison: None"),
        ([base, broken], "lacks a figure"),
        ([base, beyond], "lacks a figure"),
        ([base, share], "lacks a figure"),
        ([base, bare], "lacks a figure"),
    ):
        with pytest.raises(InvalidInput, match=told):
            back(messages)


def test_an_older_gateway_counts_all_media() -> None:
    side = pb.ComparedRun(run="a" * 16, state=1)
    figure = pb.Difference(path=["average", "f1"], clusters=40, error=1.5)
    part = pb.ComparedBenchmark(benchmark="capability", figures=[figure])
    candidate = pb.ComparedCandidate(run=side, benchmarks=[part])
    found, _ = back(
        [
            pb.CompareEvaluationsResponse(base=side),
            pb.CompareEvaluationsResponse(candidate=candidate),
        ]
    )
    assert found.candidates[0].parts[0].figures["average", "f1"].degrees == 39


def test_wishes_and_what_is_taken_where_they_are_silent() -> None:
    assert decode_comparison_request(pb.CompareEvaluationsRequest()) == ComparisonRequest()
    asked = pb.CompareEvaluationsRequest(anyway=True, partial=True, flips=0)
    assert decode_comparison_request(asked) == ComparisonRequest(anyway=True, partial=True, flips=0)
