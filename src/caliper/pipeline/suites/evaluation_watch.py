"""Ends evaluations from outside: for a lost source, a skip, or a time-out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import nullcontext, suppress
from typing import Any, TypeVar

from caliper.core.entry_states import EntryCause
from caliper.core.errors import BackendRejected, CaliperError, InvalidInput
from caliper.core.suites import Suite
from caliper.pipeline.suites.claims import EntryClaim
from caliper.pipeline.suites.source_leases import SourceLeases
from caliper.pipeline.suites.tenure import first_result, stop
from caliper.ports.clock import Clock

LONGEST = 86_400.0
"""Seconds that an evaluation may take, if its suite sets no limit."""
_PACE = 1.0
_LOOKS = 5
"""Paces between two checks whether an entry was skipped."""
_Value = TypeVar("_Value")


class SourceLost(Exception):
    """The source of a checkpoint is gone, or holds another one."""

    cause = EntryCause.LOSS


class EntrySkipped(Exception):
    """Somebody skipped a checkpoint while it was evaluated."""

    cause = EntryCause.SKIP


class EvaluationWatch:
    """Watches evaluations, and their `sources`, if any."""

    def __init__(self, clock: Clock, sources: SourceLeases | None) -> None:
        self._clock, self._sources = clock, sources

    async def over(
        self, suite: Suite, claim: EntryClaim, work: Callable[[], Coroutine[Any, Any, _Value]]
    ) -> _Value:
        """The result of the work, which a lost source, a skip or its time limit ends early.
        Raises SourceLost, EntrySkipped, BackendRejected, InvalidInput, StoreUnavailable, and what
        the work raises.
        """
        limit = _limit(suite)
        task = asyncio.create_task(work())
        watches = [asyncio.create_task(self._limits(suite, claim, limit))]
        if self._sources is not None:
            watches.append(asyncio.create_task(self._loss(self._sources, claim)))
        marker = nullcontext() if self._sources is None else self._sources.marked(claim.entry)
        try:
            async with marker:
                try:
                    return await first_result(task, *watches)
                finally:
                    # Stop serving before the source may be removed and before notices go out; a
                    # watch that goes on would write the marker again.
                    await stop(task, *watches)
        finally:
            await stop(task, *watches)

    @staticmethod
    async def _loss(sources: SourceLeases, claim: EntryClaim) -> None:
        raise SourceLost(await sources.loss(claim.entry))

    async def _limits(self, suite: Suite, claim: EntryClaim, limit: float) -> None:
        """Time does not count while the entry waits for a slot: serving has its own limits."""
        since, paces = self._clock.monotonic(), 0
        while self._clock.monotonic() - since < limit:
            await self._clock.sleep(_PACE)
            paces += 1
            # An outage of the store ends no evaluation.
            with suppress(CaliperError):
                if paces % _LOOKS == 0 and await claim.is_given_up():
                    raise EntrySkipped
            if "serve" in suite.values and not claim.is_serving:
                since = self._clock.monotonic()
        raise BackendRejected(f"not evaluated within {limit:,g} seconds")


def _limit(suite: Suite) -> float:
    limit = suite.values.get("timeout") or LONGEST
    if type(limit) not in (int, float) or not limit > 0:
        place = f"suite {suite.name}"
        raise InvalidInput("expected a number of seconds", file=place, field="timeout")
    return float(limit)
