from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.reports import capability

from caliper.adapters.wire.figures import (
    decode_coverage,
    decode_scores,
    encode_coverage,
    encode_scores,
)
from caliper.api.types.v1 import outcome_pb2
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Reason
from caliper.core.report import Coverage

COUNTS = st.integers(0, 2**63)
REASONS = st.dictionaries(st.sampled_from(Reason).map(str), st.integers(1, 2**63))


@given(coverage=st.builds(Coverage, COUNTS, COUNTS, REASONS))
def test_coverage_is_read_back(coverage: Coverage) -> None:
    assert decode_coverage(encode_coverage(coverage)) == coverage


def test_coverage_with_an_unknown_reason_is_refused() -> None:
    message = outcome_pb2.Coverage(unscored=[outcome_pb2.Unscored(count=1)])
    with pytest.raises(InvalidInput, match="reason"):
        decode_coverage(message)


def test_figures_are_read_back_with_the_headline_first() -> None:
    part = capability()
    assert next(iter(part.estimates)) != part.headline
    figures = decode_scores(encode_scores(part)).estimates
    assert figures == part.estimates
    assert next(iter(figures)) == part.headline
    assert [path for path in figures if path != part.headline] == [
        path for path in part.estimates if path != part.headline
    ]


def test_scores_say_whose_they_are_how_much_is_in_and_what_to_know() -> None:
    part = replace(capability(), lacking=("OCR", "event"))
    message = encode_scores(part)
    assert decode_scores(message).lacking == part.lacking
    assert message.benchmark == "capability"
    assert decode_coverage(message.coverage) == part.coverage
    assert tuple(message.notes) == part.notes


def test_a_report_without_figures_has_no_headline() -> None:
    assert not encode_scores(replace(capability(), estimates={})).figures
