"""How often watchers are told."""

from __future__ import annotations

# In milliseconds. Nobody reads faster, and every look costs something.
_USUAL, _LEAST = 1000, 50


def seconds(interval_ms: int) -> float:
    """The least time between two messages, by what a request asks for; 0 asks for the usual."""
    return max(interval_ms or _USUAL, _LEAST) / 1000
