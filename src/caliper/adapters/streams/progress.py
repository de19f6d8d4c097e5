"""The progress of a group in one partition of a topic, and its encoding in commits.

A commit is an offset, before which everything is settled, and a text of at most 4,096 bytes. The
text adds what the offset cannot express: which later messages are settled too, how often others
were tried, and how far messages had been delivered. The last of these shows the next owner of
the partition whether this one stopped cleanly, and which messages may have killed it.

A worker may also be killed from outside: preempted, out of memory with its node, restarted by an
impatient probe. So one death is no proof against the message that was alone with the worker.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from caliper.core.envelopes import Message

# The maximum distance from the first unsettled message to the last delivered one. It keeps the
# text of a commit under Kafka's limit even if every message in between was tried several times.
SPAN = 192
# Seconds that messages wait which the last owner works on. Longer, and the messages behind them
# would fill the partition's span (`SPAN`).
_CLAIM = 10.0


@dataclass(frozen=True, slots=True)
class TryCounts:
    """How often a message was deliberately delivered, and its worker died with it alone."""

    attempt: int = 1
    crashes: int = 0


@dataclass(frozen=True, slots=True)
class CommitMark:
    """A commit for one partition."""

    offset: int
    text: str


@dataclass(slots=True)
class PartitionProgress:
    """Progress in one partition. Offsets only; the messages are stored elsewhere.

    `open` are the offsets fetched from the broker and not settled, `released` those of them that
    workers may have, `claimed` those that earlier owners work on. `suspects_before`: unsettled
    offsets below it may have killed their worker. `end` is the next offset to fetch, None while
    unknown.
    """

    end: int | None = None
    open: set[int] = field(default_factory=set)
    released: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)
    claimed: set[int] = field(default_factory=set)
    tries: dict[int, TryCounts] = field(default_factory=dict)
    suspects_before: int = 0

    @classmethod
    def restore(cls, mark: CommitMark, member: str) -> Self:
        """Restore the progress from the last commit. A malformed text is ignored.

        If the commit of an owner other than `member` shows messages in flight, that owner
        crashed. Then the message that was alone is charged with a crash.
        """
        progress = cls(end=mark.offset)
        state = _parse(mark.text)
        progress.done = _offsets(state.get("done"), mark.offset)
        progress.claimed = _offsets(state.get("claimed"), mark.offset)
        tries = state.get("tries")
        for place, counts in tries.items() if isinstance(tries, dict) else ():
            if isinstance(counts, list) and len(counts) == 2 and None not in map(_offset, counts):
                progress.tries[mark.offset + _number(place, 10)] = TryCounts(*counts)
        if state.get("owner") != member:
            progress.suspects_before = _offset(state.get("until")) or 0
            if (alone := _offset(state.get("alone"))) is not None:
                previous = progress.try_counts(alone)
                progress.tries[alone] = TryCounts(previous.attempt, previous.crashes + 1)
        return progress

    @property
    def taken_before(self) -> int:
        """The offset from which on no message was delivered, as far as the commit says."""
        return max(self.end or 0, self.suspects_before, max(self.done, default=-1) + 1)

    @property
    def prefix(self) -> int | None:
        """The offset before which everything is settled."""
        return min(self.open, default=self.end)

    @property
    def limit(self) -> int:
        """The first offset that may not be delivered yet."""
        return (self.prefix or 0) + SPAN

    @property
    def full(self) -> bool:
        """Whether fetching can pause until the oldest message is settled."""
        return bool(self.open) and self.end is not None and self.end - min(self.open) >= SPAN

    @property
    def suspicious(self) -> bool:
        """Whether suspects are left: unsettled messages below `suspects_before` without a crash."""
        if self.end is None or self.end < self.suspects_before:
            return self.suspects_before > 0
        return any(
            offset < self.suspects_before and not self.try_counts(offset).crashes
            for offset in self.open
        )

    def try_counts(self, offset: int) -> TryCounts:
        """The try counts of a message, including the current delivery."""
        return self.tries.get(offset, TryCounts())

    def take(self, offset: int) -> bool:
        """Note a message from the broker. Returns False if it is settled already."""
        self.end = offset + 1
        if offset in self.done:
            return False
        self.open.add(offset)
        return True

    def settle(self, offset: int) -> None:
        """Mark a message as settled."""
        self.open.discard(offset)
        self.released.discard(offset)
        self.tries.pop(offset, None)
        self.done.add(offset)

    def retry(self, offset: int) -> None:
        """Mark a message for another delivery."""
        self.released.discard(offset)
        counts = self.try_counts(offset)
        self.tries[offset] = TryCounts(counts.attempt + 1, counts.crashes)

    def mark(self, member: str, alone: int | None = None) -> CommitMark | None:
        """The commit for the current state, None while the offset is unknown.

        `member` is the name of the owner, empty once it has stopped delivering.
        """
        prefix = self.prefix
        if prefix is None:
            return None
        self.done = {offset for offset in self.done if offset > prefix}
        until = max(self.released, default=-1) + 1 if member else 0
        if self.suspicious:
            until = max(until, self.suspects_before)
        state: dict[str, object] = {}
        if until:
            state |= {"owner": member, "until": until}
        if alone is not None:
            state["alone"] = alone
        if self.done:
            state["done"] = _bits(self.done, prefix)
        if not member and (claimed := {each for each in self.claimed if each >= prefix}):
            state["claimed"] = _bits(claimed, prefix)
        if self.tries:
            state["tries"] = {
                str(offset - prefix): [counts.attempt, counts.crashes]
                for offset, counts in sorted(self.tries.items())
            }
        return CommitMark(prefix, json.dumps(state, separators=(",", ":")) if state else "")


@dataclass(slots=True)
class OwnedPartition:
    """A partition: its progress, its unsettled messages and its last commit.

    `tenure` is the ordinal number of this adoption among all adoptions of the member, and
    `adopted` its time.
    """

    progress: PartitionProgress
    committed: CommitMark | None
    tenure: int
    adopted: float
    messages: dict[int, Message] = field(default_factory=dict)

    def is_claimed(self, offset: int, now: float) -> bool:
        """Whether a message is left to an earlier owner, which works on it."""
        return offset in self.progress.claimed and now < self.adopted + _CLAIM

    def claim(self, in_flight: Iterable[int], now: float) -> None:
        """Claim messages in the last commit, and pass on what an earlier owner claimed."""
        progress = self.progress
        claims = {offset for offset in progress.claimed if self.is_claimed(offset, now)}
        # Suspects wait for nobody: all others wait for them.
        progress.claimed = set() if progress.suspicious else claims.union(in_flight)


def _parse(text: str) -> Mapping[str, Any]:
    try:
        state = json.loads(text or "{}")
    except ValueError:
        return {}
    return state if isinstance(state, dict) else {}


def _bits(offsets: Iterable[int], first: int) -> str:
    """Offsets from `first` on, as hexadecimal digits."""
    return f"{sum(1 << (offset - first) for offset in offsets):x}"


def _offsets(text: object, first: int) -> set[int]:
    """The offsets that `_bits` wrote; none for anything else."""
    bits = _number(text, 16)
    return {first + place for place in range(bits.bit_length()) if bits >> place & 1}


def _offset(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _number(text: object, base: int) -> int:
    try:
        return int(text, base) if isinstance(text, str) else 0
    except ValueError:
        return 0
