"""How far a group has come in one partition of a topic, and how a commit says it.

A commit is an offset, before which everything is settled, and a text of at most 4096 bytes
beside it. The text says what the offset cannot: which later messages are settled too, how
often others were tried, and how far messages had been handed out. By the last of these the
next owner of the partition sees whether this one stopped in good order, and which messages
may have been the death of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

# Between the first unsettled message and the last one handed out. It keeps the text of a commit
# under Kafka's limit when every message in between was tried several times.
SPAN = 192


@dataclass(frozen=True, slots=True)
class TryCounts:
    """How often a message was handed out on purpose, and how often its worker died of it."""

    attempt: int = 1
    crashes: int = 0


@dataclass(frozen=True, slots=True)
class CommitMark:
    """What is committed for a partition."""

    offset: int
    text: str


@dataclass(slots=True)
class PartitionProgress:
    """Progress in one partition. Offsets only; the messages are kept elsewhere.

    `open` are the offsets that were taken from the broker and are not settled, `released`
    those of them that workers may have. `suspects_before`: unsettled offsets below it may have
    killed the worker that had them. `end` is the next offset to take, None while unknown.
    """

    end: int | None = None
    open: set[int] = field(default_factory=set)
    released: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)
    tries: dict[int, TryCounts] = field(default_factory=dict)
    suspects_before: int = 0

    @classmethod
    def resumed(cls, mark: CommitMark, member: str) -> Self:
        """From the last commit in the partition. A text that nobody of us wrote says nothing.

        A commit that an owner other than `member` left while messages were handed out means
        that it stopped uncleanly. Then the message that was alone is charged with a crash.
        """
        progress = cls(end=mark.offset)
        said = _read(mark.text)
        bits = _number(said.get("done"), 16)
        progress.done = {
            mark.offset + place for place in range(bits.bit_length()) if bits >> place & 1
        }
        tries = said.get("tries")
        for place, counts in tries.items() if isinstance(tries, dict) else ():
            if isinstance(counts, list) and len(counts) == 2 and None not in map(_offset, counts):
                progress.tries[mark.offset + _number(place, 10)] = TryCounts(*counts)
        if said.get("owner") != member:
            progress.suspects_before = _offset(said.get("until")) or 0
            if (alone := _offset(said.get("alone"))) is not None:
                tried = progress.tried(alone)
                progress.tries[alone] = TryCounts(tried.attempt, tried.crashes + 1)
        return progress

    @property
    def prefix(self) -> int | None:
        """The offset before which everything is settled."""
        return min(self.open, default=self.end)

    @property
    def limit(self) -> int:
        """The offset from which on nothing may be handed out yet."""
        return (self.prefix or 0) + SPAN

    @property
    def full(self) -> bool:
        """Whether nothing more need be taken before the oldest message is settled."""
        return bool(self.open) and self.end is not None and self.end - min(self.open) >= SPAN

    @property
    def suspicious(self) -> bool:
        """Whether messages below `suspects_before` are still to be settled."""
        if self.end is None or self.end < self.suspects_before:
            return self.suspects_before > 0
        return any(offset < self.suspects_before for offset in self.open)

    def tried(self, offset: int) -> TryCounts:
        """How often this one was tried, counting the try that it is handed out for."""
        return self.tries.get(offset, TryCounts())

    def take(self, offset: int) -> bool:
        """A message came from the broker. False: it is settled, and nobody needs it."""
        self.end = offset + 1
        if offset in self.done:
            return False
        self.open.add(offset)
        return True

    def settle(self, offset: int) -> None:
        """This one is done with."""
        self.open.discard(offset)
        self.released.discard(offset)
        self.tries.pop(offset, None)
        self.done.add(offset)

    def retry(self, offset: int) -> None:
        """This one is to be handed out once more."""
        self.released.discard(offset)
        tried = self.tried(offset)
        self.tries[offset] = TryCounts(tried.attempt + 1, tried.crashes)

    def mark(self, member: str, alone: int | None = None) -> CommitMark | None:
        """What to commit now. `member` hands messages out; empty when it stopped doing so.
        None while the partition holds nothing to speak of.
        """
        prefix = self.prefix
        if prefix is None:
            return None
        self.done = {offset for offset in self.done if offset > prefix}
        until = max(self.released, default=-1) + 1 if member else 0
        if self.suspicious:
            until = max(until, self.suspects_before)
        said: dict[str, object] = {}
        if until:
            said |= {"owner": member, "until": until}
        if alone is not None:
            said["alone"] = alone
        if self.done:
            said["done"] = f"{sum(1 << (offset - prefix) for offset in self.done):x}"
        if self.tries:
            said["tries"] = {
                str(offset - prefix): [tried.attempt, tried.crashes]
                for offset, tried in sorted(self.tries.items())
            }
        return CommitMark(prefix, json.dumps(said, separators=(",", ":")) if said else "")


def _read(text: str) -> Mapping[str, Any]:
    try:
        said = json.loads(text or "{}")
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _offset(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _number(text: object, base: int) -> int:
    try:
        return int(text, base) if isinstance(text, str) else 0
    except ValueError:
        return 0
