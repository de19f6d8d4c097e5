"""Lossless conversion of run specs to and from messages: the fingerprint stays the same."""

from __future__ import annotations

from collections.abc import Iterable

from caliper.adapters.wire.fields import decode_fields, encode_fields
from caliper.adapters.wire.text import from_wire, to_wire
from caliper.api.types.v1 import run_pb2
from caliper.core.caption import CAPTION_TOKENS
from caliper.core.errors import InvalidInput
from caliper.core.preparation import Preparation
from caliper.core.run import BenchmarkSpec, Identity, RunSpec, refuse_newer
from caliper.core.taxonomy import Taxonomy


def encode_identity(identity: Identity) -> run_pb2.Identity:
    """The fields of an identity that are part of keys and specs."""
    return encode_fields(run_pb2.Identity, identity)


def decode_identity(message: run_pb2.Identity) -> Identity:
    """The identity that `encode_identity` wrote. Raises InvalidInput for a malformed text."""
    return decode_fields(Identity, message)


def encode_spec(spec: RunSpec) -> run_pb2.RunSpec:
    """A message that `decode_spec` reads back to an equal spec.

    Raises InvalidInput for a number that the message cannot hold, such as a seed of 2**64.
    """
    try:
        parts = [_encode_benchmark(part) for part in spec.benchmarks]
        return encode_fields(run_pb2.RunSpec, spec, benchmarks=parts)
    except ValueError as error:
        raise InvalidInput(f"the run spec does not fit its message: {error}") from error


def _encode_benchmark(part: BenchmarkSpec) -> run_pb2.BenchmarkSpec:
    return encode_fields(
        run_pb2.BenchmarkSpec,
        part,
        models={role: encode_identity(model) for role, model in part.models.items()},
        preparation=None if part.preparation is None else encode_preparation(part.preparation),
        taxonomy=encode_taxonomy(part.taxonomy),
        caption_tokens=part.caption_tokens if part.caption_tokens != CAPTION_TOKENS else None,
    )


def encode_preparation(preparation: Preparation) -> run_pb2.Preparation:
    """A message that `decode_preparation` reads back to an equal preparation."""
    return run_pb2.Preparation(**preparation.to_json())


def decode_preparation(message: run_pb2.Preparation) -> Preparation:
    """The preparation, with defaults for unset fields. Raises InvalidInput naming the field."""
    try:
        return Preparation.of({field.name: value for field, value in message.ListFields()})
    except InvalidInput as error:
        raise InvalidInput(error.message, field=f"preparation.{error.field}") from error


def encode_taxonomy(taxonomy: Taxonomy) -> list[run_pb2.TaxonomyOfDomain]:
    """Messages that `decode_taxonomy` reads back to an equal taxonomy."""
    return [
        run_pb2.TaxonomyOfDomain(domain=to_wire(domain), nodes=[to_wire(node) for node in nodes])
        for domain, nodes in taxonomy.items()
    ]


def decode_taxonomy(messages: Iterable[run_pb2.TaxonomyOfDomain]) -> Taxonomy:
    """The taxonomy. Raises InvalidInput for a malformed text or a duplicate domain."""
    taxonomy: dict[str, tuple[str, ...]] = {}
    for message in messages:
        domain = from_wire(message.domain)
        if domain in taxonomy:
            raise InvalidInput(f"{domain!r:.60} appears twice", field="taxonomy")
        taxonomy[domain] = tuple(from_wire(node) for node in message.nodes)
    return taxonomy


def decode_spec(message: run_pb2.RunSpec) -> RunSpec:
    """The spec that `encode_spec` wrote.

    Raises NewerSchema for a spec of a newer release, InvalidInput for anything else.
    """
    refuse_newer(message.schema or None, "run spec")
    return decode_fields(
        RunSpec, message, benchmarks=tuple(map(_decode_benchmark, message.benchmarks))
    )


def _decode_benchmark(message: run_pb2.BenchmarkSpec) -> BenchmarkSpec:
    return decode_fields(
        BenchmarkSpec,
        message,
        models={role: decode_identity(model) for role, model in message.models.items()},
        preparation=(
            decode_preparation(message.preparation) if message.HasField("preparation") else None
        ),
        taxonomy=decode_taxonomy(message.taxonomy),
    )
