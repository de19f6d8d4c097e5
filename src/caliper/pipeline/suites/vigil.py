"""What ends an evaluation from outside: its source is lost, or its time is over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from contextlib import nullcontext
from typing import Any, TypeVar

from caliper.core.errors import BackendRejected, InvalidInput
from caliper.core.suites import Suite
from caliper.pipeline.suites.claims import EntryClaim
from caliper.pipeline.suites.source_leases import SourceLeases
from caliper.ports.clock import Clock

LONGEST = 86_400.0
"""Seconds that an evaluation may take, if its suite names no other limit."""
_PACE = 1.0
_Value = TypeVar("_Value")


class SourceLost(Exception):
    """The source of a checkpoint is gone, or holds another one."""


class Vigil:
    """Watches over evaluations, and over their `sources`, if any."""

    def __init__(self, clock: Clock, sources: SourceLeases | None) -> None:
        self._clock, self._sources = clock, sources

    async def over(
        self, suite: Suite, claim: EntryClaim, work: Callable[[], Coroutine[Any, Any, _Value]]
    ) -> _Value:
        """The result of the work, which is ended early for a lost source or after its time. Raises
        SourceLost, BackendRejected, InvalidInput, StoreUnavailable, and what the work raises.
        """
        limit = _limit(suite)
        task = asyncio.create_task(work())
        watches = [asyncio.create_task(self._overtime(suite, claim, limit))]
        if self._sources is not None:
            watches.append(asyncio.create_task(self._loss(self._sources, claim)))
        held = nullcontext() if self._sources is None else self._sources.held(claim.entry)
        try:
            async with held:
                try:
                    return await _first_result(task, watches)
                finally:
                    # What is served is put away before its source may be, and anything is told.
                    await _ended(task, *watches)
        finally:
            await _ended(task, *watches)

    @staticmethod
    async def _loss(sources: SourceLeases, claim: EntryClaim) -> None:
        raise SourceLost(await sources.loss(claim.entry))

    async def _overtime(self, suite: Suite, claim: EntryClaim, limit: float) -> None:
        """One that waits for a slot has not begun: what serves it has limits of its own."""
        since = self._clock.monotonic()
        while self._clock.monotonic() - since < limit:
            await self._clock.sleep(_PACE)
            if "serve" in suite.values and not claim.is_serving:
                since = self._clock.monotonic()
        raise BackendRejected(f"not evaluated within {limit:,g} seconds")


def _limit(suite: Suite) -> float:
    limit = suite.values.get("timeout") or LONGEST
    if type(limit) not in (int, float) or not limit > 0:
        place = f"suite {suite.name}"
        raise InvalidInput("expected a number of seconds", file=place, field="timeout")
    return float(limit)


async def _first_result(
    task: asyncio.Task[_Value], watches: Iterable[asyncio.Task[None]]
) -> _Value:
    done, _ = await asyncio.wait((task, *watches), return_when=asyncio.FIRST_COMPLETED)
    if task not in done:
        for each in done:
            each.result()
    return await task


async def _ended(*tasks: asyncio.Task[Any]) -> None:
    for each in tasks:
        each.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
