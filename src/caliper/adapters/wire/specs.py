"""Lossless conversion of run specs to and from messages: the fingerprint stays the same."""

from __future__ import annotations

from collections.abc import Iterable

from caliper.adapters.wire.text import from_wire, to_wire
from caliper.api.types.v1 import run_pb2
from caliper.core.caption import CAPTION_TOKENS
from caliper.core.errors import InvalidInput
from caliper.core.preparation import Preparation
from caliper.core.run import BenchmarkSpec, Identity, RunSpec, refuse_newer
from caliper.core.taxonomy import Taxonomy


def encode_identity(identity: Identity) -> run_pb2.Identity:
    """The fields of an identity that are part of keys and specs."""
    return run_pb2.Identity(
        kind=identity.kind,
        name=to_wire(identity.name),
        revision=to_wire(identity.revision),
        origin=to_wire(identity.origin),
    )


def decode_identity(message: run_pb2.Identity) -> Identity:
    """The identity that `encode_identity` wrote. Raises InvalidInput for a malformed text."""
    return Identity(
        message.kind,
        from_wire(message.name),
        from_wire(message.revision),
        origin=from_wire(message.origin),
    )


def encode_spec(spec: RunSpec) -> run_pb2.RunSpec:
    """A message that `decode_spec` reads back to an equal spec.

    Raises InvalidInput for a number that the message cannot hold, such as a seed of 2**64.
    """
    try:
        return run_pb2.RunSpec(
            schema=spec.schema,
            name=to_wire(spec.name),
            version=spec.version,
            pack=spec.pack,
            seed=spec.seed,
            limit=spec.limit,
            replicate=spec.replicate,
            coverage_floor=spec.coverage_floor,
            share_replies=spec.share_replies,
            judge_share=spec.judge_share,
            judging=spec.judging,
            benchmarks=[_encode_benchmark(part) for part in spec.benchmarks],
        )
    except ValueError as error:
        raise InvalidInput(f"the run spec does not fit its message: {error}") from error


def _encode_benchmark(part: BenchmarkSpec) -> run_pb2.BenchmarkSpec:
    return run_pb2.BenchmarkSpec(
        name=part.name,
        data=part.data,
        captions=part.captions,
        qa_data=part.qa_data,
        prompt=to_wire(part.prompt),
        repeats=part.repeats,
        settings={to_wire(name): to_wire(value) for name, value in part.settings.items()},
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
    return RunSpec(
        name=from_wire(message.name),
        version=message.version,
        pack=message.pack,
        benchmarks=tuple(_decode_benchmark(part) for part in message.benchmarks),
        seed=message.seed,
        limit=message.limit if message.HasField("limit") else None,
        replicate=message.replicate,
        coverage_floor=message.coverage_floor,
        share_replies=message.share_replies,
        judge_share=message.judge_share if message.HasField("judge_share") else None,
        judging=message.judging,
        schema=message.schema,
    )


def _decode_benchmark(message: run_pb2.BenchmarkSpec) -> BenchmarkSpec:
    return BenchmarkSpec(
        name=message.name,
        data=message.data,
        captions=message.captions if message.HasField("captions") else None,
        settings={from_wire(name): from_wire(value) for name, value in message.settings.items()},
        models={role: decode_identity(model) for role, model in message.models.items()},
        qa_data=message.qa_data if message.HasField("qa_data") else None,
        prompt=from_wire(message.prompt),
        repeats=message.repeats if message.HasField("repeats") else None,
        preparation=(
            decode_preparation(message.preparation) if message.HasField("preparation") else None
        ),
        taxonomy=decode_taxonomy(message.taxonomy),
        caption_tokens=(
            message.caption_tokens if message.HasField("caption_tokens") else CAPTION_TOKENS
        ),
    )
