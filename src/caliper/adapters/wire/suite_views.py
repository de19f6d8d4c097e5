"""Conversion of what `status` and `show` say beside suites and entries, to and from messages."""

from __future__ import annotations

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
    spent, reserved = (
        pb.Spending(calls=each.calls, tokens=each.tokens, money=each.money)
        for each in (totals.spent, totals.reserved)
    )
    return pb.GetAccountResponse(
        month=totals.month, spent=spent, reserved=reserved, checkpoints=totals.checkpoints
    )


def decode_account(message: pb.GetAccountResponse) -> AccountTotals:
    """The account in a message."""
    spent, reserved = (
        Spending(each.calls, each.tokens, each.money) for each in (message.spent, message.reserved)
    )
    return AccountTotals(message.month, spent, reserved, message.checkpoints)


def encode_slot(slot: SlotState) -> pb.Slot:
    """A message that `decode_slot` reads back, but for who waits behind the first 100."""
    queue = map(to_wire, slot.queue[:_MOST_WAITING])
    return pb.Slot(name=to_wire(slot.name), served=to_wire(slot.served), queue=queue)


def decode_slot(message: pb.Slot) -> SlotState:
    """The slot in a message."""
    queue = tuple(map(from_wire, message.queue))
    return SlotState(from_wire(message.name), from_wire(message.served), queue)


def encode_progress(progress: EntryProgress) -> pb.EntryProgress:
    """A message that `decode_progress` reads back."""
    return pb.EntryProgress(
        revision=progress.revision,
        seen=to_wire(progress.seen),
        done=progress.done,
        whole=progress.whole,
        phase=to_wire(progress.phase),
        is_stuck=progress.is_stuck,
    )


def decode_progress(message: pb.EntryProgress) -> EntryProgress:
    """The progress in a message."""
    return EntryProgress(
        message.revision,
        from_wire(message.seen),
        message.done,
        message.whole,
        from_wire(message.phase),
        is_stuck=message.is_stuck,
    )


def encode_notice(record: NoticeRecord) -> pb.Notice:
    """What `decode_notice` reads back: a record with the headlines of its figures, and without its
    tags.
    """
    notice = record.notice
    return pb.Notice(
        id=notice.id,
        kind=notice.kind,
        time=notice.time,
        version=notice.version,
        checkpoint=to_wire(notice.checkpoint),
        revision=notice.revision,
        state=notice.state,
        deliveries=[
            pb.NoticeDelivery(
                target=to_wire(name),
                attempts=each.attempts,
                delivered=each.delivered,
                error=to_wire(each.error),
            )
            for name, each in record.deliveries.items()
        ],
        step=notice.step,
        figures=[encode_figure(each) for each in notice.figures if each.is_headline],
    )


def decode_notice(message: pb.Notice, suite: str) -> NoticeRecord:
    """The record in a message about a suite. Raises InvalidInput."""
    if message.kind not in list(NoticeKind):
        raise InvalidInput(f"unknown kind {message.kind!r}", field="kind")
    notice = Notice(
        message.id,
        NoticeKind(message.kind),
        message.time,
        suite,
        message.version,
        from_wire(message.checkpoint),
        message.revision,
        message.state,
        message.step if message.HasField("step") else None,
        figures=tuple(map(decode_figure, message.figures)),
    )
    deliveries = {
        from_wire(each.target): NoticeDelivery(
            each.attempts, delivered=each.delivered, error=from_wire(each.error)
        )
        for each in message.deliveries
    }
    return NoticeRecord(notice, deliveries)
