"""The codec of the services: messages as protobuf with a schema number."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeVar

from google.protobuf.message import DecodeError, Message

from caliper.adapters.wire.enums import (
    decode_reason,
    decode_source,
    decode_state,
    encode_reason,
    encode_source,
    encode_state,
)
from caliper.adapters.wire.fields import decode_fields, encode_fields
from caliper.adapters.wire.outcomes import decode_verdict, encode_verdict
from caliper.adapters.wire.text import from_wire, to_wire
from caliper.api.stream.v1 import messages_pb2 as pb
from caliper.benchmarks.registry import benchmark
from caliper.core.caption import Caption
from caliper.core.errors import InvalidInput
from caliper.core.keys import canonical_json
from caliper.core.messages import (
    CaptionJob,
    ExamineJob,
    MessageValue,
    PlanJob,
    PlanMade,
    RunCancelled,
    RunEnded,
    RunEvent,
    RunFailed,
    StreamMessage,
    Verdicts,
)
from caliper.core.question import Item, Question
from caliper.core.quotas import DayQuota
from caliper.core.run import SCHEMA, refuse_newer
from caliper.core.terms import TokenCap

_Proto = TypeVar("_Proto", pb.PlanJob, pb.CaptionJob, pb.ExamineJob, pb.Verdicts, pb.RunEvent)


class ProtobufCodec:
    """ports.codec.Codec over caliper.api.stream.v1."""

    def write(self, message: StreamMessage) -> bytes:
        return _encode(message).SerializeToString(deterministic=True)

    def read_plan_job(self, data: MessageValue) -> PlanJob:
        return PlanJob(from_wire(_read(pb.PlanJob, data).run))

    def read_caption_job(self, data: MessageValue) -> CaptionJob:
        job = _read(pb.CaptionJob, data, "benchmark", "sample", "items")
        sample, items = from_wire(job.sample), _decode_items(job.items)
        return CaptionJob(from_wire(job.run), job.benchmark, sample, items, _decode_cap(job))

    def read_examine_job(self, data: MessageValue) -> ExamineJob:
        job = _read(pb.ExamineJob, data, "benchmark", "sample", "items")
        sample, caption = from_wire(job.sample), None
        if job.HasField("caption"):
            caption = Caption(sample, from_wire(job.caption.text), job.caption.truncated)
        return ExamineJob(
            run=from_wire(job.run),
            benchmark=job.benchmark,
            sample=sample,
            caption=caption,
            items=_decode_items(job.items),
            cap=_decode_cap(job),
        )

    def read_verdicts(self, data: MessageValue) -> Verdicts:
        message = _read(pb.Verdicts, data, "benchmark", "sample", "verdicts")
        verdicts = tuple(decode_verdict(verdict) for verdict in message.verdicts)
        return Verdicts(
            from_wire(message.run), message.benchmark, from_wire(message.sample), verdicts
        )

    def read_run_event(self, data: MessageValue) -> RunEvent:
        event = _read(pb.RunEvent, data)
        run = from_wire(event.run)
        match event.WhichOneof("event"):
            case "planned":
                plan = event.planned
                asked = plan.asked if plan.HasField("asked") else None
                return PlanMade(run, plan.questions, plan.start, asked, plan.shards)
            case "cancelled":
                return RunCancelled(run)
            case "failed":
                return RunFailed(run, from_wire(event.failed.error), event.failed.start)
            case "ended":
                ended = event.ended
                state, error = decode_state(ended.state), from_wire(ended.error)
                return RunEnded(run, state, error, ended.report)
            case _:
                raise InvalidInput("a message lacks its event")


def _encode(message: StreamMessage) -> Message:
    run = to_wire(message.run)
    if isinstance(message, PlanJob):
        return pb.PlanJob(schema=SCHEMA, run=run)
    if isinstance(message, RunEvent):
        return _encode_event(message, run)
    return _encode_sample_message(message, run)


def _encode_event(event: RunEvent, run: str) -> pb.RunEvent:
    message = pb.RunEvent(schema=SCHEMA, run=run)
    match event:
        case PlanMade():
            message.planned.questions, message.planned.start = event.questions, event.start
            message.planned.shards = event.shards
            if event.asked is not None:
                message.planned.asked = event.asked
        case RunCancelled():
            message.cancelled.SetInParent()
        case RunFailed():
            message.failed.error, message.failed.start = to_wire(event.error), event.start
        case RunEnded():
            message.ended.state = encode_state(event.state)
            message.ended.error = to_wire(event.error)
            message.ended.report = event.report
    return message


def _encode_sample_message(message: CaptionJob | ExamineJob | Verdicts, run: str) -> Message:
    common: dict[str, Any] = {
        "schema": SCHEMA,
        "run": run,
        "benchmark": message.benchmark,
        "sample": to_wire(message.sample),
    }
    if isinstance(message, Verdicts):
        return pb.Verdicts(**common, verdicts=map(encode_verdict, message.verdicts))
    common |= {"items": map(_encode_item, message.items), "cap": _encode_cap(message.cap)}
    if isinstance(message, CaptionJob):
        return pb.CaptionJob(**common)
    caption = None
    if message.caption is not None:
        text, truncated = to_wire(message.caption.text), message.caption.truncated
        caption = pb.Caption(text=text, truncated=truncated)
    return pb.ExamineJob(**common, caption=caption)


def _encode_cap(cap: TokenCap | None) -> pb.TokenCap | None:
    if cap is None:
        return None
    quota = None if cap.quota is None else encode_fields(pb.DayQuota, cap.quota)
    return pb.TokenCap(start=cap.start, tokens=cap.tokens, quota=quota)


def _encode_item(item: Item) -> pb.Item:
    encode = benchmark(item.benchmark).encode
    return pb.Item(
        benchmark=item.benchmark,
        key=to_wire(item.key),
        sample=to_wire(item.sample),
        cluster=to_wire(item.cluster),
        media=[to_wire(path) for path in item.media],
        source=encode_source(item.source),
        first=item.first,
        questions=[
            pb.Question(
                ordinal=question.ordinal,
                repeats=question.repeats,
                unscored=None if question.unscored is None else encode_reason(question.unscored),
                note=to_wire(question.note),
                payload=canonical_json(encode(question.payload)),
            )
            for question in item.questions
        ],
    )


def _read(kind: type[_Proto], data: MessageValue, *required: str) -> _Proto:
    """Parse the message in `data`. Raises NewerSchema, or InvalidInput if a field is missing."""
    if not isinstance(data, bytes):
        raise InvalidInput(f"a message is not of type {kind.__name__}: not encoded")
    try:
        message = kind.FromString(data)
    except DecodeError as error:
        raise InvalidInput(f"a message is not of type {kind.__name__}: {error}") from error
    refuse_newer(message.schema or None, "message")
    missing = [name for name in ("run", *required) if not getattr(message, name)]
    if missing:
        raise InvalidInput(f"a message lacks {', '.join(missing)}")
    return message


def _decode_cap(job: pb.CaptionJob | pb.ExamineJob) -> TokenCap | None:
    if not job.HasField("cap"):
        return None
    quota = decode_fields(DayQuota, job.cap.quota) if job.cap.HasField("quota") else None
    return TokenCap(job.cap.start, job.cap.tokens, quota)


def _decode_items(items: Iterable[pb.Item]) -> tuple[Item, ...]:
    return tuple(_decode_item(item) for item in items)


def _decode_item(item: pb.Item) -> Item:
    """The item that `_encode_item` wrote. Raises NewerSchema, or InvalidInput for anything else."""
    if not (item.key and item.sample and item.questions):
        raise InvalidInput("an item lacks its key, sample or questions")
    return Item(
        benchmark=item.benchmark,
        key=from_wire(item.key),
        sample=from_wire(item.sample),
        cluster=from_wire(item.cluster),
        media=tuple(from_wire(path) for path in item.media),
        questions=tuple(_decode_question(item.benchmark, part) for part in item.questions),
        source=decode_source(item.source),
        first=item.first,
    )


def _decode_question(name: str, question: pb.Question) -> Question[Any]:
    if not question.repeats:
        raise InvalidInput("a question lacks its repeats")
    try:
        payload = benchmark(name).decode(json.loads(question.payload))
    except (TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise InvalidInput(f"not a question of {name}: {error!r}") from error
    return Question(
        ordinal=question.ordinal,
        payload=payload,
        repeats=question.repeats,
        unscored=decode_reason(question.unscored) if question.unscored else None,
        note=from_wire(question.note),
    )
