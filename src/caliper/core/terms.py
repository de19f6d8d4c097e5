"""The terms of a run: its spending limits, and its priority.

They do not affect scores: a restarted run continues on its new terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from caliper.core.quotas import DayQuota

UNLIMITED = 1 << 62
"""More tokens than any run uses."""


class Priority(StrEnum):
    """The priority of a run."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"

    @property
    def weight(self) -> int:
        """The run's share of the workers, relative to other runs."""
        return _WEIGHTS[self]


_WEIGHTS = {Priority.LOW: 1, Priority.NORMAL: 4, Priority.HIGH: 16}


@dataclass(frozen=True, slots=True)
class Terms:
    """The spending limits of one start of a run: model `calls`, and `tokens` of prompts and
    replies as servers count them. None means unlimited. `priority` is the run's, and `quota`
    its team's.
    """

    calls: int | None = None
    tokens: int | None = None
    priority: Priority = Priority.NORMAL
    quota: DayQuota | None = None

    @property
    def is_capped(self) -> bool:
        """Whether spending is limited."""
        return self.calls is not None or self.tokens is not None

    def token_cap(self, start: int) -> TokenCap | None:
        """The cap in the jobs of this start; None if tokens are unlimited."""
        if self.tokens is None and self.quota is None:
            return None
        return TokenCap(start, UNLIMITED if self.tokens is None else self.tokens, self.quota)


@dataclass(frozen=True, slots=True)
class TokenCap:
    """The `tokens` that one start of a run may use, within the `quota` of its team. `start` counts
    from 1.
    """

    start: int
    tokens: int
    quota: DayQuota | None = None
