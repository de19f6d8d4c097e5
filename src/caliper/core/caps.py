"""What a run may spend at most. Caps are no part of what is measured: a run that was cut goes on
when it is started again with higher ones, or none.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caps:
    """What one start of a run may spend: `calls` of models, and `tokens` of prompts and replies
    as servers count them; None for any number.
    """

    calls: int | None = None
    tokens: int | None = None

    def token_cap(self, start: int) -> TokenCap | None:
        """What the jobs of the start of that number carry, None for any number of tokens."""
        return None if self.tokens is None else TokenCap(start, self.tokens)


@dataclass(frozen=True, slots=True)
class TokenCap:
    """The `tokens` that may be used for the start of a run of that number, counted from 1."""

    start: int
    tokens: int
