"""Conversion of what `status` and `show` say beside suites and entries, to and from messages."""

from __future__ import annotations

from caliper.adapters.wire.fields import decode_fields, encode_fields
from caliper.adapters.wire.suites import decode_figure, encode_figure
from caliper.adapters.wire.text import from_wire, to_wire
from caliper.api.suites.v1 import suites_pb2 as pb
from caliper.core.errors import InvalidInput
from caliper.core.notice_marks import NoticeKind
from caliper.core.notices import Notice, NoticeDelivery, NoticeRecord
from caliper.core.spending import Spending
from caliper.pipeline.suites.accounts import AccountTotals
from caliper.pipeline.suites.progress import EntryProgress
from caliper.pipeline.suites.slots import SlotState

_MOST_WAITING = 100


def encode_account(totals: AccountTotals) -> pb.GetAccountResponse:
    """A message that `decode_account` reads back."""
    spent, reserved = (encode_fields(pb.Spending, each) for each in (totals.spent, totals.reserved))
    return encode_fields(pb.GetAccountResponse, totals, spent=spent, reserved=reserved)


def decode_account(message: pb.GetAccountResponse) -> AccountTotals:
    """The account in a message."""
    spent, reserved = (decode_fields(Spending, each) for each in (message.spent, message.reserved))
    return decode_fields(AccountTotals, message, spent=spent, reserved=reserved)


def encode_slot(slot: SlotState) -> pb.Slot:
    """A message that `decode_slot` reads back, but for who waits behind the first 100."""
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
    """What `decode_notice` reads back: a record with the headlines of its figures, and without its
    tags.
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
