"""How far topics were read. A place in a log is good for that log alone: where a topic was lost
and made anew, or put back as it had been before, it is read from its first record again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from caliper.core.envelopes import Record

Offsets = dict[str, dict[int, int]]
"""The offset of the next record to read, by topic and partition."""


@dataclass(slots=True)
class LogOffsets:
    """`logs` is which log each topic was when it was read (`LogReader.identity`)."""

    offsets: Offsets = field(default_factory=dict)
    logs: dict[str, str] = field(default_factory=dict)

    def passed(self, record: Record) -> None:
        """It was read, and all before it in its partition."""
        places = self.offsets.setdefault(record.message.topic, {})
        places[record.partition] = max(record.offset + 1, places.get(record.partition, 0))

    def begin(self, topic: str, log: str, ends: Mapping[int, int]) -> bool:
        """The topic is `log` from now on, and ends there. Places that are not of this log are
        forgotten. Returns whether there were any of another log, or beyond the end of this.
        """
        known, before = self.offsets.get(topic, {}), self.logs.get(topic, "")
        # Brokers and releases that tell of no identity leave only the end to go by.
        other = bool(known and before and log) and before != log
        self.logs[topic] = log
        beyond = any(offset > ends[place] for place, offset in known.items() if place in ends)
        # A partition that keeps nothing has no end to compare with, and nothing to read twice.
        for place, offset in list(known.items()):
            if other or offset > ends.get(place, 0):
                del known[place]
        return other or beyond


def named(record: Record) -> str:
    """Where a record stands, for people."""
    return f"{record.message.topic}/{record.partition}@{record.offset}"
