import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.benchmarks.captionqa.benchmark import BENCHMARK
from caliper.benchmarks.captionqa.questions import ChoiceQuestion
from caliper.core.errors import InvalidInput, NewerSchema

PAYLOADS = st.builds(
    ChoiceQuestion,
    domain=st.text(),
    category=st.text(),
    question=st.text(),
    choices=st.lists(st.text()).map(tuple),
    answer=st.integers(-1, 100),
    has_cannot=st.booleans(),
    permutation=st.lists(st.integers()).map(tuple),
)
WRITTEN = BENCHMARK.encode(
    ChoiceQuestion("natural", "", "What?", ("a", "b"), 0, has_cannot=True, permutation=(2, 0, 1))
)


@given(PAYLOADS)
def test_decode_reads_what_encode_wrote(payload: ChoiceQuestion) -> None:
    written = json.loads(json.dumps(BENCHMARK.encode(payload)))
    assert BENCHMARK.decode(written) == payload


def test_newer_schema_is_refused() -> None:
    with pytest.raises(NewerSchema, match="schema 2"):
        BENCHMARK.decode(WRITTEN | {"schema": 2})


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {name: value for name, value in WRITTEN.items() if name != "choices"},
        {name: value for name, value in WRITTEN.items() if name != "schema"},
        WRITTEN | {"permutation": None},
        WRITTEN | {"answer": "first"},
    ],
)
def test_anything_else_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        BENCHMARK.decode(broken)
