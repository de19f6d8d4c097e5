"""The terms on which a run is started: what it may spend, and how it ranks among others.

They are not part of what is measured: a run started again continues on its new terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Priority(StrEnum):
    """How a run ranks among others."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"

    @property
    def weight(self) -> int:
        """The run's share of the workers beside those of other runs."""
        return _WEIGHTS[self]


_WEIGHTS = {Priority.LOW: 1, Priority.NORMAL: 4, Priority.HIGH: 16}


@dataclass(frozen=True, slots=True)
class Terms:
    """The most that one start of a run may spend: model `calls`, and `tokens` of prompts and
    replies as the servers count them. None means unlimited. `priority` is the run's.
    """

    calls: int | None = None
    tokens: int | None = None
    priority: Priority = Priority.NORMAL

    @property
    def is_capped(self) -> bool:
        """Whether spending is limited."""
        return self.calls is not None or self.tokens is not None

    def token_cap(self, start: int) -> TokenCap | None:
        """The cap that jobs of this start carry; None when tokens are unlimited."""
        return None if self.tokens is None else TokenCap(start, self.tokens)


@dataclass(frozen=True, slots=True)
class TokenCap:
    """The `tokens` that one start of a run may use. `start` counts from 1."""

    start: int
    tokens: int
