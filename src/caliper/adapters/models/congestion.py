"""How many calls an endpoint takes at once, found out by how it answers.

A state machine without I/O: it is told the time and what became of each call, and says whether
another may be made. The limit behaves like the window of TCP: it doubles with every round of
good answers up to where it was last cut, and from there on grows by one a round. What an
endpoint does when it is asked too much costs time, never a call more than the limit allows.

    good answer              grows the limit up to the configured most
    429, 503 with a wait     cut it, once per debounce, and hold all calls for the wait
    5xx, no answer           stop its growth; repeated, they bring it to 0, and then one call
                             at a time is let through to see whether the endpoint is back
    refused for good (4xx)   says that the endpoint is there, and nothing else
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from caliper.core.backoff import Backoff, asked_wait

_BACKOFF = Backoff(1.0, 30.0)


@dataclass(frozen=True, slots=True)
class CongestionLimits:
    """The figures of a gate; times in seconds.

    The limit starts at `start`, never passes `most`, and is multiplied by `cut` at most once
    every `debounce`. Growth rests for `debounce` after any trouble. `failures` in a row, and at
    least half of the calls in flight, bring it to 0. Waits that the endpoint did not name are
    those of `backoff`, of a cut from `debounce` on; of a wait that it did name no more than
    `longest_asked` is kept. An endpoint that gave nothing but trouble for `patience`, and no
    better when it was probed, is lost: nobody should wait for it.
    """

    most: int = 64
    start: int = 16
    cut: float = 0.5
    debounce: float = 0.5
    failures: int = 5
    backoff: Backoff = _BACKOFF
    longest_asked: float = 300.0
    patience: float = 300.0


class CongestionWindow:
    """The gate of one endpoint. Times are those of one monotonic clock, in seconds.

    Whoever finds that it `admits` may `enter`, and must tell the end of the call by exactly one
    of `succeeded`, `answered`, `overloaded`, `failed` and `left`, with what `enter` returned.
    `draw` gives numbers from 0 to 1: callers that are sent away together should not return
    together. `answered_at` and `failed_at` are when a call last was answered, and last failed.
    """

    def __init__(self, pace: CongestionLimits, draw: Callable[[], float] = random.random) -> None:
        self._pace, self._draw = pace, draw
        self._limit = min(pace.start, pace.most)
        self._threshold = pace.most
        self._good = 0
        self._shut = False
        self._probing = False
        self._closed_until = -math.inf
        self._growth_rests_until = -math.inf
        self._cut_at = -math.inf
        self._trouble_since = math.inf
        self._cuts = self._failures = self._probes = 0
        self.in_flight = 0
        self.answered_at = self.failed_at = -math.inf

    @property
    def limit(self) -> int:
        """How many calls may be in flight; 0 while the endpoint is only probed."""
        return 0 if self._shut else self._limit

    def healthy(self, now: float) -> bool:
        """Whether calls pass as far as the limit goes."""
        return not self._shut and now >= self._closed_until

    def admits(self, now: float) -> bool:
        """Whether one more call may be made now."""
        if now < self._closed_until:
            return False
        return not self._probing if self._shut else self.in_flight < self.limit

    @property
    def opens(self) -> float:
        """The time before which no call is admitted, whatever comes back."""
        return self._closed_until

    def lost(self, now: float) -> bool:
        """Whether waiting for the endpoint has to end: see `CongestionLimits.patience`."""
        repeated = self._probes if self._shut else self._cuts >= self._pace.failures
        return bool(repeated) and now - self._trouble_since >= self._pace.patience

    def enter(self) -> bool:
        """Begin a call that is admitted. Returns whether it is the probe of a shut gate."""
        self.in_flight += 1
        self._probing = self._probing or self._shut
        return self._shut

    def left(self, *, probe: bool) -> None:
        """The call was cancelled: it says nothing of the endpoint."""
        self.in_flight -= 1
        if probe:
            self._probing = False

    def answered(self, now: float, *, probe: bool) -> None:
        """The endpoint refused this call for good: it is there, and no more is known."""
        self.left(probe=probe)
        self.answered_at = now
        self._cuts = self._failures = 0
        self._trouble_since = math.inf
        if self._shut:
            self._reopen(now)

    def succeeded(self, now: float, *, probe: bool) -> None:
        """The call was answered."""
        was_shut = self._shut
        self.answered(now, probe=probe)
        if was_shut or now < self._growth_rests_until or self._limit >= self._pace.most:
            return
        self._good += 1
        if self._limit < self._threshold or self._good >= self._limit:
            self._good = 0
            self._limit += 1

    def overloaded(self, now: float, retry_after: float | None, *, probe: bool) -> None:
        """The endpoint asked for less, and for a wait of `retry_after` seconds if it said so."""
        reached = min(self._limit, self.in_flight)
        self.left(probe=probe)
        self.answered_at = now
        if self._shut:
            if not probe:
                return
            # It is there again, and busy.
            self._reopen(now)
        pace, draw = self._pace, self._draw()
        if now >= self._cut_at + pace.debounce:
            self._trouble(now)
            self._threshold = self._cut(self._limit)
            self._limit = self._cut(reached)
            self._cut_at = now
            self._cuts += 1
            self._close(now, replace(pace.backoff, first=pace.debounce).wait(self._cuts, draw))
        if retry_after is not None:
            self._close(now, asked_wait(min(retry_after, pace.longest_asked), draw))

    def failed(self, now: float, *, probe: bool) -> None:
        """The endpoint failed by itself, could not be reached, or gave no answer in time."""
        pace, reached = self._pace, self.in_flight
        self.left(probe=probe)
        self.failed_at = now
        if self._shut:
            if probe:
                self._probes += 1
                self._close(now, pace.backoff.wait(self._probes + 1, self._draw()))
            return
        self._trouble(now)
        self._failures += 1
        # Calls that were in flight together fail together: a few of many prove little.
        if self._failures >= max(pace.failures, reached // 2):
            self._threshold = self._cut(self._limit)
            self._shut, self._probes = True, 0
            self._close(now, pace.backoff.wait(1, self._draw()))

    def _cut(self, calls: int) -> int:
        return max(1, int(calls * self._pace.cut))

    def _trouble(self, now: float) -> None:
        self._trouble_since = min(self._trouble_since, now)
        self._growth_rests_until = now + self._pace.debounce

    def _reopen(self, now: float) -> None:
        self._shut, self._probing = False, False
        self._limit = 1
        self._failures = 0
        self._closed_until = now

    def _close(self, now: float, wait: float) -> None:
        self._closed_until = max(self._closed_until, now + wait)
