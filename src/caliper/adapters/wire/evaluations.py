"""Conversion of evaluation requests and run states to and from messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp

from caliper.adapters.wire.enums import (
    decode_priority,
    decode_state,
    encode_priority,
    encode_state,
)
from caliper.adapters.wire.fields import decode_fields, encode_fields
from caliper.adapters.wire.figures import decode_scores, encode_scores
from caliper.adapters.wire.specs import (
    decode_preparation,
    decode_spec,
    decode_taxonomy,
    encode_preparation,
    encode_spec,
    encode_taxonomy,
)
from caliper.adapters.wire.stop_criteria import decode_criterion, encode_criterion
from caliper.adapters.wire.text import from_wire, to_wire
from caliper.api.aggregator.v1 import aggregator_pb2
from caliper.api.evaluate.v1 import evaluate_pb2
from caliper.core.errors import InvalidInput, within
from caliper.core.report import Reuse
from caliper.core.run import RunSpec
from caliper.core.terms import Priority, Terms
from caliper.pipeline.planning.resolution import BenchmarkRequest, EvaluationRequest
from caliper.pipeline.store.run_record import Evaluation
from caliper.ports.stages import Scores


def encode_evaluation_request(request: EvaluationRequest) -> evaluate_pb2.StartEvaluationRequest:
    """A message that `decode_evaluation_request` reads back to an equal request."""
    return encode_fields(
        evaluate_pb2.StartEvaluationRequest,
        request,
        benchmarks=[_encode_part(part) for part in request.benchmarks],
        max_calls=request.terms.calls,
        max_tokens=request.terms.tokens,
        priority=encode_priority(request.terms.priority),
        judging=None if request.judging is None else encode_criterion(request.judging),
    )


def _encode_part(part: BenchmarkRequest) -> evaluate_pb2.BenchmarkRequest:
    return encode_fields(
        evaluate_pb2.BenchmarkRequest,
        part,
        **part.answerers,
        preparation=None if part.preparation is None else encode_preparation(part.preparation),
        taxonomy=encode_taxonomy(part.taxonomy),
    )


def decode_evaluation_request(message: evaluate_pb2.StartEvaluationRequest) -> EvaluationRequest:
    """The request in a message. Raises InvalidInput naming an invalid field."""
    return decode_fields(
        EvaluationRequest,
        message,
        benchmarks=tuple(_decode_parts(message.benchmarks)),
        terms=Terms(
            calls=message.max_calls if message.HasField("max_calls") else None,
            tokens=message.max_tokens if message.HasField("max_tokens") else None,
            priority=decode_priority(message.priority) if message.priority else Priority.NORMAL,
        ),
        judging=decode_criterion(message.judging) if message.HasField("judging") else None,
    )


def _decode_parts(messages: Iterable[evaluate_pb2.BenchmarkRequest]) -> Iterator[BenchmarkRequest]:
    for place, message in enumerate(messages):
        try:
            yield _decode_part(message)
        except InvalidInput as error:
            raise within(f"benchmarks[{place}]", error) from error


def _decode_part(message: evaluate_pb2.BenchmarkRequest) -> BenchmarkRequest:
    answerer = message.WhichOneof("answerer")
    model = from_wire(getattr(message, answerer)) if answerer else ""
    return decode_fields(
        BenchmarkRequest,
        message,
        qa_data=message.qa_data or None,
        prompt=from_wire(message.prompt) or "simple",
        answerers={answerer: model} if answerer and model else {},
        qa_replies=message.qa_replies or None,
        preparation=(
            decode_preparation(message.preparation) if message.HasField("preparation") else None
        ),
        taxonomy=decode_taxonomy(message.taxonomy),
    )


def encode_evaluation(evaluation: Evaluation, *, spec: bool = True) -> evaluate_pb2.Evaluation:
    """The run as seen by callers, with its spec if requested."""
    return evaluate_pb2.Evaluation(
        run=evaluation.spec.run_id,
        state=encode_state(evaluation.state),
        spec=encode_spec(evaluation.spec) if spec else None,
        started=_timestamp(evaluation.started),
        benchmarks=[encode_scores(part) for part in evaluation.benchmarks],
        error=to_wire(evaluation.error),
        ended=_timestamp(evaluation.ended),
        reuse=None
        if evaluation.reuse is None
        else encode_fields(evaluate_pb2.Reuse, evaluation.reuse),
    )


def _timestamp(moment: datetime | None) -> Timestamp | None:
    if moment is None:
        return None
    timestamp = Timestamp()
    timestamp.FromDatetime(moment)
    return timestamp


def decode_evaluation(message: evaluate_pb2.Evaluation, spec: RunSpec | None = None) -> Evaluation:
    """The run in a message. `spec` comes from an earlier message if this one omits it.

    Raises NewerSchema or InvalidInput.
    """
    return Evaluation(
        spec=decode_spec(message.spec) if spec is None else spec,
        state=decode_state(message.state),
        started=message.started.ToDatetime(UTC),
        benchmarks=tuple(decode_scores(part) for part in message.benchmarks),
        error=from_wire(message.error),
        ended=message.ended.ToDatetime(UTC) if message.HasField("ended") else None,
        reuse=decode_fields(Reuse, message.reuse) if message.HasField("reuse") else None,
    )


def encode_run_scores(scores: Scores) -> aggregator_pb2.RunScores:
    """A message that `decode_run_scores` reads back."""
    return encode_fields(
        aggregator_pb2.RunScores,
        scores,
        state=encode_state(scores.state),
        benchmarks=[encode_scores(part) for part in scores.benchmarks],
    )


def decode_run_scores(message: aggregator_pb2.RunScores) -> Scores:
    """The scores of a run in a message. Raises InvalidInput for a malformed one."""
    parts = tuple(decode_scores(part) for part in message.benchmarks)
    return decode_fields(Scores, message, state=decode_state(message.state), benchmarks=parts)
