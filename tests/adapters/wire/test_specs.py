from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.adapters.wire.specs import (
    decode_identity,
    decode_preparation,
    decode_spec,
    decode_taxonomy,
    encode_identity,
    encode_spec,
)
from caliper.api.types.v1 import run_pb2
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.preparation import Preparation
from caliper.core.run import BenchmarkSpec, Identity, RunSpec

TEXTS = st.text(st.characters() | st.sampled_from("\ud800\ufdd0\x00"), max_size=12)
DIGESTS = st.text("0123456789abcdef", min_size=64, max_size=64)
KINDS = st.sampled_from(("lexical", "replay", "tgi", "triton"))
ROLES = st.sampled_from(("captioner", "judge", "reader", "media", "tagger", "embedder"))
COUNTS = st.integers(1, 2**32 - 1)
IDENTITIES = st.builds(Identity, KINDS, TEXTS, TEXTS)
PREPARATIONS = st.builds(
    Preparation,
    frames=st.integers(1, 4096),
    fps=st.none() | st.fractions(Fraction(1, 60), 240, max_denominator=1001),
    longest=st.integers(16, 8192),
    quality=st.integers(1, 100),
    image_bytes=st.integers(10_000, 100_000_000),
)
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
    preparation=st.none() | PREPARATIONS,
    taxonomy=st.dictionaries(TEXTS, st.lists(TEXTS, min_size=1, max_size=3).map(tuple), max_size=2),
    caption_tokens=st.integers(1, 1_000_000),
    data_name=TEXTS,
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
    judge_share=st.none() | st.floats(0.01, 0.99),
    judging=st.sampled_from(["", "f" * 64]),
)


@given(spec=SPECS)
def test_a_spec_is_read_back_with_its_run_id(spec: RunSpec) -> None:
    message = run_pb2.RunSpec.FromString(encode_spec(spec).SerializeToString())
    read = decode_spec(message)
    # Names of data are no part of what is equal.
    assert (read, read.to_json()) == (spec, spec.to_json())
    assert read.run_id == spec.run_id


def test_what_a_request_leaves_out_of_a_preparation_is_the_default() -> None:
    assert decode_preparation(run_pb2.Preparation()) == Preparation()
    found = decode_preparation(run_pb2.Preparation(fps="2", frames=9))
    assert found == Preparation(9, Fraction(2))
    for field, message in (
        ("frames", run_pb2.Preparation(frames=0)),
        ("frames", run_pb2.Preparation(fps="2")),
        ("fps", run_pb2.Preparation(fps="two", frames=1)),
    ):
        with pytest.raises(InvalidInput) as caught:
            decode_preparation(message)
        assert caught.value.field == f"preparation.{field}"


def test_a_domain_has_one_taxonomy() -> None:
    part = run_pb2.TaxonomyOfDomain(domain="natural", nodes=["Attribute -> Color"])
    with pytest.raises(InvalidInput, match="taxonomy: 'natural' appears twice"):
        decode_taxonomy([part, part])


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
