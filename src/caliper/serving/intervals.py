"""The interval between updates to watchers."""

from __future__ import annotations

# In milliseconds. People do not read faster, and every update has a cost.
_DEFAULT, _LEAST = 1000, 50


def seconds(interval_ms: int) -> float:
    """The least seconds between two updates; 0 requests the default."""
    return max(interval_ms or _DEFAULT, _LEAST) / 1000
