"""A partition of a topic while one member of the group owns it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from caliper.adapters.streams.progress import CommitMark, PartitionProgress
from caliper.core.envelopes import Message

# Seconds that messages wait which the last owner works on. Longer, and the messages behind them
# would fill the partition's span (`progress.SPAN`).
_CLAIM = 10.0


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
