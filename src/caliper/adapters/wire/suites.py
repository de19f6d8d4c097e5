"""Conversion of suites, checkpoints and the records beside them to and from messages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from caliper.adapters.wire.enums import (
    decode_entry_state,
    decode_priority,
    decode_suite_state,
    encode_entry_state,
    encode_priority,
    encode_suite_state,
)
from caliper.adapters.wire.fields import decode_fields, encode_fields
from caliper.adapters.wire.text import from_wire, to_wire
from caliper.api.suites.v1 import suites_pb2 as pb
from caliper.core.checkpoints import CheckpointEntry, CheckpointRevision, EntryFigure
from caliper.core.errors import InvalidInput, within
from caliper.core.keys import canonical_json
from caliper.core.notice_marks import NoticeKind, NoticeMark
from caliper.core.notices import Notice, NoticeDelivery, NoticeRecord
from caliper.core.spending import Spending
from caliper.core.suites import (
    Baseline,
    Suite,
    SuiteRecord,
    check_step_pattern,
    check_suite_name,
)
from caliper.core.terms import Priority
from caliper.pipeline.store.runs import is_run_id
from caliper.pipeline.suites.accounts import AccountTotals
from caliper.pipeline.suites.progress import EntryProgress
from caliper.pipeline.suites.slots import SlotState

_LONGEST_SOURCE, _LONGEST_NAME, _MOST_TAGS = 2000, 200, 32
_MOST_WAITING = 100


def encode_suite(suite: Suite) -> pb.Suite:
    """A message that `decode_suite` reads back."""
    return encode_fields(
        pb.Suite,
        suite,
        baseline=to_wire(str(suite.baseline)),
        values=_encode_object(suite.values),
        priority=encode_priority(suite.priority),
    )


def decode_suite(message: pb.Suite) -> Suite:
    """The suite in a message. Raises InvalidInput naming the wrong field."""
    if not is_run_id(message.version):
        raise InvalidInput("expected 16 hexadecimal digits", field="version")
    if message.HasField("keep") and not message.keep:
        raise InvalidInput("expected 1 or more", field="keep")
    try:
        baseline = Baseline.parse(from_wire(message.baseline))
    except ValueError as error:
        raise InvalidInput(str(error), field="baseline") from error
    return decode_fields(
        Suite,
        message,
        name=check_suite_name(message.name),
        baseline=baseline,
        values=_json_object(message.values, "values"),
        priority=decode_priority(message.priority) if message.priority else Priority.NORMAL,
        step=check_step_pattern(from_wire(message.step)),
    )


def _json_object(text: str, field: str) -> dict[str, object]:
    try:
        values = json.loads(from_wire(text))
    except (ValueError, RecursionError) as error:
        raise InvalidInput("not JSON", field=field) from error
    if not isinstance(values, dict):
        raise InvalidInput("expected a JSON object", field=field)
    return values


def encode_record(record: SuiteRecord) -> pb.SuiteRecord:
    """A message that `decode_record` reads back."""
    state = encode_suite_state(record.state)
    return pb.SuiteRecord(suite=encode_suite(record.suite), state=state, applied=record.applied)


def decode_record(message: pb.SuiteRecord) -> SuiteRecord:
    """The record in a message. Raises InvalidInput."""
    state = decode_suite_state(message.state)
    return SuiteRecord(decode_suite(message.suite), state, message.applied)


def encode_checkpoint(checkpoint: CheckpointRevision) -> pb.Checkpoint:
    """A message that `decode_checkpoint` reads back."""
    return encode_fields(pb.Checkpoint, checkpoint)


def decode_checkpoint(message: pb.Checkpoint) -> CheckpointRevision:
    """The checkpoint in a message. Raises InvalidInput naming the wrong field."""
    tags = tuple(sorted(set(map(from_wire, message.tags))))
    return decode_fields(CheckpointRevision, message, tags=tags)


def encode_entry(entry: CheckpointEntry, *, whole: bool = False) -> pb.Entry:
    """The entry: whole, or with the headlines of its figures, without findings and marks."""
    figures = [each for each in entry.figures if whole or each.is_headline]
    findings = entry.findings if whole else ()
    marks = [mark.to_json() for mark in entry.notices] if whole else []
    return encode_fields(
        pb.Entry,
        entry,
        checkpoint=encode_checkpoint(entry.checkpoint),
        state=encode_entry_state(entry.state),
        figures=map(encode_figure, figures),
        findings=map(_encode_object, findings),
        marks=map(_encode_object, marks),
    )


def _encode_object(value: Mapping[str, Any]) -> str:
    return to_wire(canonical_json(value).decode("utf-8", "surrogatepass"))


def encode_figure(figure: EntryFigure) -> pb.Figure:
    """A message that `decode_figure` reads back."""
    return encode_fields(pb.Figure, figure)


def decode_entry(message: pb.Entry) -> CheckpointEntry:
    """The entry in a message. Raises InvalidInput."""
    return decode_fields(
        CheckpointEntry,
        message,
        checkpoint=decode_checkpoint(message.checkpoint),
        state=decode_entry_state(message.state),
        figures=tuple(map(decode_figure, message.figures)),
        findings=tuple(_json_object(each, "findings") for each in message.findings),
        notices=tuple(map(_decode_mark, message.marks)),
    )


def _decode_mark(text: str) -> NoticeMark:
    try:
        return NoticeMark.from_json(_json_object(text, "marks"))
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput("no mark", field="marks") from error


def decode_figure(message: pb.Figure) -> EntryFigure:
    """The figure in a message."""
    return decode_fields(EntryFigure, message)


def decode_request(message: pb.RegisterCheckpointRequest) -> CheckpointRevision:
    """The checkpoint of a request. Raises InvalidInput naming the field of the request."""
    try:
        _check_sizes(message.checkpoint)
        return decode_checkpoint(message.checkpoint)
    except InvalidInput as error:
        raise within("checkpoint", error) from error


def decode_application(message: pb.ApplySuiteRequest) -> Suite:
    """The suite of a request. Raises InvalidInput naming the field of the request."""
    try:
        return decode_suite(message.suite)
    except InvalidInput as error:
        raise within("suite", error) from error


def _check_sizes(message: pb.Checkpoint) -> None:
    for field, longest in (("source", _LONGEST_SOURCE), ("name", _LONGEST_NAME)):
        if not 0 < len(getattr(message, field)) <= longest:
            raise InvalidInput(f"expected 1 to {longest:,} characters", field=field)
    tags = message.tags
    if len(tags) > _MOST_TAGS or any(not 0 < len(tag) <= _LONGEST_NAME for tag in tags):
        expected = f"expected at most {_MOST_TAGS} tags of 1 to {_LONGEST_NAME} characters"
        raise InvalidInput(expected, field="tags")


def encode_account(totals: AccountTotals) -> pb.GetAccountResponse:
    """A message that `decode_account` reads back."""
    spent, reserved = (encode_fields(pb.Spending, each) for each in (totals.spent, totals.reserved))
    return encode_fields(pb.GetAccountResponse, totals, spent=spent, reserved=reserved)


def decode_account(message: pb.GetAccountResponse) -> AccountTotals:
    """The account in a message."""
    spent, reserved = (decode_fields(Spending, each) for each in (message.spent, message.reserved))
    return decode_fields(AccountTotals, message, spent=spent, reserved=reserved)


def encode_slot(slot: SlotState) -> pb.Slot:
    """A message that `decode_slot` reads back, without the waiters behind the first 100."""
    return encode_fields(pb.Slot, slot, queue=map(to_wire, slot.queue[:_MOST_WAITING]))


def decode_slot(message: pb.Slot) -> SlotState:
    """The slot in a message."""
    return decode_fields(SlotState, message)


def encode_progress(progress: EntryProgress) -> pb.EntryProgress:
    """A message that `decode_progress` reads back."""
    return encode_fields(pb.EntryProgress, progress)


def decode_progress(message: pb.EntryProgress) -> EntryProgress:
    """The progress in a message."""
    return decode_fields(EntryProgress, message)


def encode_notice(record: NoticeRecord) -> pb.Notice:
    """A message that `decode_notice` reads back: a record with the headlines of its figures, and
    without its tags.
    """
    notice = record.notice
    deliveries = [
        encode_fields(pb.NoticeDelivery, each, target=to_wire(name))
        for name, each in record.deliveries.items()
    ]
    figures = [encode_figure(each) for each in notice.figures if each.is_headline]
    return encode_fields(pb.Notice, notice, deliveries=deliveries, figures=figures)


def decode_notice(message: pb.Notice, suite: str) -> NoticeRecord:
    """The record in a message about a suite. Raises InvalidInput."""
    if message.kind not in list(NoticeKind):
        raise InvalidInput(f"unknown kind {message.kind!r}", field="kind")
    kind, figures = NoticeKind(message.kind), tuple(map(decode_figure, message.figures))
    notice = decode_fields(Notice, message, kind=kind, suite=suite, figures=figures)
    deliveries = {
        from_wire(each.target): decode_fields(NoticeDelivery, each) for each in message.deliveries
    }
    return NoticeRecord(notice, deliveries)
