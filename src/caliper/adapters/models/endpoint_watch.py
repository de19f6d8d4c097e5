"""Whether the endpoints of a model are there: what readiness is told.

What calls have found out already counts first, and costs nothing: an endpoint that answered since
the last look need not be asked, and one whose gate is shut is gone. Where nobody calls, it is
asked who it is. One failed call proves nothing either way.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from caliper.adapters.models.congestion import CongestionWindow
from caliper.core.errors import BackendUnavailable, CaliperError
from caliper.ports.clock import Clock

_LOG = logging.getLogger(__name__)
_MISSES = 3
"""An endpoint that was asked so many times in a row without an answer is gone."""
_QUIET = 60.0
"""Seconds after a failed call for which a shut gate counts for more than that the endpoint says
who it is: longer than callers wait between two tries.
"""


@dataclass(slots=True)
class NamedEndpoint:
    """An endpoint under a name that people may be told. `prove` raises a CaliperError when it
    does not say that it serves the model. `misses` in a row, `said` with the last of them.
    """

    name: str
    gate: CongestionWindow
    prove: Callable[[], Awaitable[None]]
    misses: int = 0
    said: str = "calls to it fail"
    gone: bool = False


class EndpointWatch:
    """The endpoints of one model, looked at whenever `check` is called."""

    def __init__(self, endpoints: Sequence[NamedEndpoint], clock: Clock) -> None:
        self._endpoints, self._clock = tuple(endpoints), clock
        self._looked = -math.inf
        self._looking: asyncio.Task[None] | None = None

    async def check(self) -> None:
        """Raises BackendUnavailable while no endpoint is there.

        Waits for none: it tells what the look before this one saw, and begins the next, so that
        an endpoint that is slow to answer is not taken for one that is gone.
        """
        if self._looking is None or self._looking.done():
            self._looking = asyncio.ensure_future(self._look())
        now = self._clock.monotonic()
        for one in self._endpoints:
            self._judge(one, now)
        if all(one.gone for one in self._endpoints):
            told = "; ".join(f"{one.name}: {one.said}" for one in self._endpoints)
            raise BackendUnavailable(f"no endpoint of the model is there ({told})")

    async def close(self) -> None:
        """Look no more."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])

    async def _look(self) -> None:
        before, self._looked = self._looked, self._clock.monotonic()
        await asyncio.gather(*(self._look_at(one, before) for one in self._endpoints))

    async def _look_at(self, one: NamedEndpoint, before: float) -> None:
        if one.gate.answered_at <= before:
            try:
                await one.prove()
            except CaliperError as error:
                one.misses += 1
                one.said = str(error)
                return
        one.misses = 0

    def _judge(self, one: NamedEndpoint, now: float) -> None:
        failing = one.misses > 0 or now - one.gate.failed_at < _QUIET
        gone = one.misses >= _MISSES or (one.gate.limit == 0 and failing)
        # Where it is the only one, readiness tells the same.
        if gone != one.gone and len(self._endpoints) > 1:
            if gone:
                _LOG.warning("an endpoint of the model is gone: %s: %s", one.name, one.said)
            else:
                _LOG.info("an endpoint of the model is back: %s", one.name)
        one.gone = gone
