"""Congestion control: an adaptive limit of concurrent calls per endpoint.

A state machine without I/O: it takes the time and the outcome of each call, and decides whether
another call may start. The limit behaves like the window of TCP: it doubles with every round of
successes up to where it was last cut, and grows by one per round from there on. An overloaded
endpoint costs time, but never more calls than the limit allows.

    success                  grows the limit, up to the configured maximum
    429, 503 with a wait     cuts the limit, once per debounce, and holds all calls for the wait
    5xx, no answer           stops its growth; repeated failures set it to 0, and then one call
                             at a time probes whether the endpoint is back
    rejection (other 4xx)    shows that the endpoint is up, and nothing else
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from caliper.core.backoff import Backoff, requested_wait

_BACKOFF = Backoff(1.0, 30.0)


@dataclass(frozen=True, slots=True)
class CongestionLimits:
    """The settings of a congestion window; times in seconds.

    The limit starts at `initial_calls`, never exceeds `max_calls`, and is multiplied by `decrease`
    at most once per `debounce`. Growth pauses for `debounce` after any trouble. `failures` in a
    row, and at least half of the calls in flight, set the limit to 0. If the endpoint names no
    wait, `backoff` applies, after a cut starting at `debounce`; a wait that it names is capped at
    `longest_wait`. An endpoint that fails for `patience`, and when it is probed, is lost: nobody
    should wait for it.
    """

    max_calls: int = 64
    initial_calls: int = 16
    decrease: float = 0.5
    debounce: float = 0.5
    failures: int = 5
    backoff: Backoff = _BACKOFF
    longest_wait: float = 300.0
    patience: float = 300.0


class CongestionWindow:
    """The gate of one endpoint. Times are seconds of one monotonic clock.

    A caller may `enter` while the gate `admits`, and must end the call with exactly one of
    `record_success`, `record_rejection`, `record_overload`, `record_failure` and `abandon`, passing
    on what `enter` returned. `draw` gives numbers from 0 to 1 for jitter, so that callers rejected
    together do not return together. `answered_at` and `failed_at` are the times of the last answer
    and last failure.
    """

    def __init__(self, pace: CongestionLimits, draw: Callable[[], float] = random.random) -> None:
        self._pace, self._draw = pace, draw
        self._limit = min(pace.initial_calls, pace.max_calls)
        self._threshold = pace.max_calls
        self._successes = 0
        self._shut = False
        self._probing = False
        self._closed_until = -math.inf
        self._growth_paused_until = -math.inf
        self._cut_at = -math.inf
        self._trouble_since = math.inf
        self._cuts = self._failures = self._probes = 0
        self.in_flight = 0
        self.answered_at = self.failed_at = -math.inf

    @property
    def limit(self) -> int:
        """The maximum number of calls in flight; 0 while the endpoint is only probed."""
        return 0 if self._shut else self._limit

    def healthy(self, now: float) -> bool:
        """Whether calls are admitted up to the limit."""
        return not self._shut and now >= self._closed_until

    def admits(self, now: float) -> bool:
        """Whether one more call may start now."""
        if now < self._closed_until:
            return False
        return not self._probing if self._shut else self.in_flight < self.limit

    @property
    def opens_at(self) -> float:
        """The earliest time at which a call is admitted, whatever the calls in flight return."""
        return self._closed_until

    def is_lost(self, now: float) -> bool:
        """Whether callers should stop waiting: see `CongestionLimits.patience`."""
        repeated = self._probes if self._shut else self._cuts >= self._pace.failures
        return bool(repeated) and now - self._trouble_since >= self._pace.patience

    def enter(self) -> bool:
        """Begin an admitted call. Returns whether it is the probe of a shut gate."""
        self.in_flight += 1
        self._probing = self._probing or self._shut
        return self._shut

    def abandon(self, *, probe: bool) -> None:
        """The call was cancelled, which says nothing about the endpoint."""
        self.in_flight -= 1
        if probe:
            self._probing = False

    def record_rejection(self, now: float, *, probe: bool) -> None:
        """The endpoint rejected the call for good: it is up, and no more is known."""
        self.abandon(probe=probe)
        self.answered_at = now
        self._cuts = self._failures = 0
        self._trouble_since = math.inf
        if self._shut:
            self._reopen(now)

    def record_success(self, now: float, *, probe: bool) -> None:
        """The call succeeded."""
        was_shut = self._shut
        self.record_rejection(now, probe=probe)
        if was_shut or now < self._growth_paused_until or self._limit >= self._pace.max_calls:
            return
        self._successes += 1
        if self._limit < self._threshold or self._successes >= self._limit:
            self._successes = 0
            self._limit += 1

    def record_overload(self, now: float, retry_after: float | None, *, probe: bool) -> None:
        """The endpoint is overloaded. `retry_after` is the wait it asked for in seconds, if any."""
        reached = min(self._limit, self.in_flight)
        self.abandon(probe=probe)
        self.answered_at = now
        if self._shut:
            if not probe:
                return
            # The endpoint is back, and busy.
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
            self._close(now, requested_wait(min(retry_after, pace.longest_wait), draw))

    def record_failure(self, now: float, *, probe: bool) -> None:
        """The endpoint failed, was unreachable, or timed out."""
        pace, reached = self._pace, self.in_flight
        self.abandon(probe=probe)
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
        return max(1, int(calls * self._pace.decrease))

    def _trouble(self, now: float) -> None:
        self._trouble_since = min(self._trouble_since, now)
        self._growth_paused_until = now + self._pace.debounce

    def _reopen(self, now: float) -> None:
        self._shut, self._probing = False, False
        self._limit = 1
        self._failures = 0
        self._closed_until = now

    def _close(self, now: float, wait: float) -> None:
        self._closed_until = max(self._closed_until, now + wait)
