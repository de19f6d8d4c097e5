"""Exponential backoff with jitter: how long to wait before the next attempt. The rule is ours."""

from __future__ import annotations

from dataclasses import dataclass

_MAX_DOUBLINGS = 32  # More would eventually overflow, and no wait is that long.


def requested_wait(seconds: float, draw: float) -> float:
    """The wait a server requested, plus up to 10%. `draw` as in `Backoff.wait`."""
    return seconds * (1.0 + 0.1 * draw)


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits in seconds: `first`, doubled with every failure, up to `longest`."""

    first: float
    longest: float

    def wait(self, failures: int, draw: float, requested: float | None = None) -> float:
        """The wait after this many failures in a row, at least as long as the server `requested`.

        `draw` is a random number from 0 to 1. It adds up to 50%, so that callers that failed
        together do not all retry together.
        """
        doubled = min(self.longest, self.first * 2.0 ** min(failures - 1, _MAX_DOUBLINGS))
        return max(doubled * (1.0 + 0.5 * draw), requested_wait(requested or 0.0, draw))
