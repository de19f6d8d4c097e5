"""The timeline of a checkpoint in a suite: events, and when notices were delivered to whom."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from caliper.core.checkpoints import CheckpointEntry
from caliper.core.notice_marks import NoticeKind
from caliper.core.notices import NoticeRecord


@dataclass(frozen=True, slots=True)
class Moment:
    """An event; `time` is UTC in RFC 3339, `detail` may be empty."""

    time: str
    event: str
    detail: str = ""

    @property
    def order(self) -> datetime:
        """For sorting: sources write times in other forms."""
        try:
            time = datetime.fromisoformat(self.time)
        except ValueError:
            return datetime.min.replace(tzinfo=UTC)
        return time if time.tzinfo else time.replace(tzinfo=UTC)


def time_line(entry: CheckpointEntry, records: Iterable[NoticeRecord] = ()) -> list[Moment]:
    """The events of an entry, in order. `records` are notices of its suite."""
    moments = [
        Moment(entry.checkpoint.appeared, "appeared", entry.checkpoint.source),
        Moment(entry.registered, NoticeKind.REGISTERED),
    ]
    for mark in entry.notices:
        # The notice "started" is sent when a loop claims it.
        name = "claimed" if mark.kind is NoticeKind.STARTED else mark.kind
        detail = mark.state if mark.kind is NoticeKind.DECIDED else ""
        moments.append(Moment(mark.time, name, detail))
    moments += [
        Moment(entry.claimed, "claimed"),
        Moment(entry.started, "run started", entry.run),
    ]
    if not entry.is_open and all(mark.time != entry.since for mark in entry.notices):
        moments.append(Moment(entry.since, str(entry.state)))
    for record in records:
        notice = record.notice
        if (notice.version, notice.revision) == (entry.version, entry.checkpoint.revision):
            moments += [
                Moment(each.delivered, "notified", f"{target}: {notice.kind}")
                for target, each in record.deliveries.items()
            ]
    distinct = dict.fromkeys(each for each in moments if each.time)
    return sorted(distinct, key=lambda each: each.order)
