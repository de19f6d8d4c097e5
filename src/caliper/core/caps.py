"""Spending limits of a run. Caps are not part of what is measured: a capped run continues when it
is started again with higher caps, or none.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that one start of a run may spend: model `calls`, and `tokens` of prompts and
    replies as the servers count them. None means unlimited.
    """

    calls: int | None = None
    tokens: int | None = None

    def token_cap(self, start: int) -> TokenCap | None:
        """The cap that jobs of this start carry; None when tokens are unlimited."""
        return None if self.tokens is None else TokenCap(start, self.tokens)


@dataclass(frozen=True, slots=True)
class TokenCap:
    """The `tokens` that one start of a run may use. `start` counts from 1."""

    start: int
    tokens: int
