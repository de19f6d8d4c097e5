"""Read offsets of topics, each bound to the identity of the log it was read from.

An offset is valid for one log only: a topic that was lost and recreated, or restored to an
earlier state, is read from its first record again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from caliper.core.envelopes import Record

Offsets = dict[str, dict[int, int]]
"""The offset of the next record to read, by topic and partition."""


@dataclass(slots=True)
class LogOffsets:
    """Offsets by topic, with the identity of the log of each (`LogReader.identity`) in `logs`."""

    offsets: Offsets = field(default_factory=dict)
    logs: dict[str, str] = field(default_factory=dict)

    def advance(self, record: Record) -> None:
        """Mark a record, and all before it in its partition, as read."""
        offsets = self.offsets.setdefault(record.message.topic, {})
        offsets[record.partition] = max(record.offset + 1, offsets.get(record.partition, 0))

    def begin(self, topic: str, log: str, ends: Mapping[int, int]) -> bool:
        """Bind a topic to the log with identity `log` and these end offsets by partition.

        Drops the offsets that are not valid in this log. Returns whether the topic was bound to
        another log, or an offset was beyond the end of this one.
        """
        offsets, previous = self.offsets.get(topic, {}), self.logs.get(topic, "")
        # Brokers that report no identity leave only the ends to compare.
        other = bool(offsets and previous and log) and previous != log
        self.logs[topic] = log
        beyond = any(
            offset > ends[partition] for partition, offset in offsets.items() if partition in ends
        )
        # A partition that retains no records has no end to compare with, nor anything to reread.
        for partition, offset in list(offsets.items()):
            if other or offset > ends.get(partition, 0):
                del offsets[partition]
        return other or beyond


def format_position(record: Record) -> str:
    """The position of a record, formatted for log messages."""
    return f"{record.message.topic}/{record.partition}@{record.offset}"
