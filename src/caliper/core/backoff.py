"""How long to wait before the next try. The rule is ours: exponential backoff with jitter."""

from __future__ import annotations

from dataclasses import dataclass

_DOUBLINGS = 32  # More would overflow one day, and no wait is that long.


def asked_wait(seconds: float, draw: float) -> float:
    """The wait that a server asked for, and up to a tenth more. `draw` is as in `Backoff.wait`."""
    return seconds * (1.0 + 0.1 * draw)


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits in seconds that double with every failure, from `first` to `longest`."""

    first: float
    longest: float

    def wait(self, failures: int, draw: float, asked: float | None = None) -> float:
        """The wait after so many failures in a row, at least what the server `asked` for.

        `draw` is a random number from 0 to 1: callers who fail together should not come back
        together, so a wait is up to half as long again.
        """
        doubled = min(self.longest, self.first * 2.0 ** min(failures - 1, _DOUBLINGS))
        return max(doubled * (1.0 + 0.5 * draw), asked_wait(asked or 0.0, draw))
