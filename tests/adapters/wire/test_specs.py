"""A spec that went over the wire is the same run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.adapters.wire.specs import decode_identity, decode_spec, encode_identity, encode_spec
from caliper.api.types.v1 import run_pb2
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.run import BenchmarkSpec, Identity, RunSpec

TEXTS = st.text(st.characters() | st.sampled_from("\ud800\ufdd0\x00"), max_size=12)
DIGESTS = st.text("0123456789abcdef", min_size=64, max_size=64)
KINDS = st.sampled_from(("lexical", "replay", "tgi", "triton"))
ROLES = st.sampled_from(("captioner", "judge", "reader", "media", "tagger", "embedder"))
COUNTS = st.integers(1, 2**32 - 1)
IDENTITIES = st.builds(Identity, KINDS, TEXTS, TEXTS)
PARTS = st.builds(
    BenchmarkSpec,
    name=st.sampled_from(("capability", "captionqa", "comprecap")),
    data=DIGESTS,
    captions=st.none() | DIGESTS,
    settings=st.dictionaries(TEXTS, TEXTS, max_size=3),
    models=st.dictionaries(ROLES, IDENTITIES, max_size=3),
    qa_data=st.none() | DIGESTS,
    prompt=TEXTS,
    repeats=st.none() | COUNTS,
)
SPECS = st.builds(
    RunSpec,
    name=TEXTS,
    version=st.just("0.2.0"),
    pack=DIGESTS,
    benchmarks=st.lists(PARTS, max_size=3).map(tuple),
    seed=st.integers(0, 2**64 - 1),
    limit=st.none() | COUNTS,
    replicate=st.integers(0, 2**32 - 1),
    coverage_floor=st.floats(0, 1),
)


@given(spec=SPECS)
def test_a_spec_is_read_back_with_its_run_id(spec: RunSpec) -> None:
    message = run_pb2.RunSpec.FromString(encode_spec(spec).SerializeToString())
    read = decode_spec(message)
    assert read == spec
    assert read.run_id == spec.run_id


@given(identity=IDENTITIES)
def test_an_identity_is_read_back(identity: Identity) -> None:
    assert decode_identity(encode_identity(identity)) == identity


def test_a_spec_without_a_schema_or_of_a_newer_one_is_refused() -> None:
    message = encode_spec(RunSpec("a", "0.2.0", "0" * 64, ()))
    message.schema = 2
    with pytest.raises(NewerSchema, match="schema 2"):
        decode_spec(message)
    message.ClearField("schema")
    with pytest.raises(InvalidInput, match="schema"):
        decode_spec(message)


@pytest.mark.parametrize(("seed", "limit"), [(2**64, None), (-1, None), (0, 2**32)])
def test_a_number_that_does_not_fit_is_refused(seed: int, limit: int | None) -> None:
    with pytest.raises(InvalidInput, match="does not fit"):
        encode_spec(RunSpec("a", "0.2.0", "0" * 64, (), seed=seed, limit=limit))
