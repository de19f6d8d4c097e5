"""Health of a model's endpoints, for readiness checks.

The outcomes of calls count first and cost nothing: an endpoint that answered since the last
check is not probed, and one whose gate is shut is gone. An idle endpoint is asked for its
identity. A single failed call proves nothing.
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
"""The number of probes in a row without an answer after which an endpoint is gone."""
_QUIET = 60.0
"""Seconds after a failed call in which a shut gate outweighs a successful probe: longer than
callers wait between two tries.
"""


@dataclass(slots=True)
class NamedEndpoint:
    """An endpoint under a name that is safe to show.

    `prove` raises a CaliperError unless the endpoint confirms that it serves the model. `misses`
    counts failed probes in a row; `last_error` is the error of the last one.
    """

    name: str
    gate: CongestionWindow
    prove: Callable[[], Awaitable[None]]
    misses: int = 0
    last_error: str = "calls to it fail"
    is_down: bool = False


class EndpointWatch:
    """Health checks of one model's endpoints, run by `check`."""

    def __init__(self, endpoints: Sequence[NamedEndpoint], clock: Clock) -> None:
        self._endpoints, self._clock = tuple(endpoints), clock
        self._checked_at = -math.inf
        self._check_task: asyncio.Task[None] | None = None

    async def check(self) -> None:
        """Raises BackendUnavailable while no endpoint is up.

        Does not wait: it reports the result of the previous check and starts the next one, so
        that a slow endpoint is not mistaken for one that is gone.
        """
        if self._check_task is None or self._check_task.done():
            self._check_task = asyncio.ensure_future(self._probe_all())
        now = self._clock.monotonic()
        for endpoint in self._endpoints:
            self._judge(endpoint, now)
        if all(endpoint.is_down for endpoint in self._endpoints):
            errors = "; ".join(
                f"{endpoint.name}: {endpoint.last_error}" for endpoint in self._endpoints
            )
            raise BackendUnavailable(f"no endpoint of the model is up ({errors})")

    async def close(self) -> None:
        """Cancel a running check."""
        if self._check_task is not None:
            self._check_task.cancel()
            await asyncio.wait([self._check_task])

    async def _probe_all(self) -> None:
        since, self._checked_at = self._checked_at, self._clock.monotonic()
        await asyncio.gather(*(self._probe(endpoint, since) for endpoint in self._endpoints))

    async def _probe(self, endpoint: NamedEndpoint, since: float) -> None:
        if endpoint.gate.answered_at <= since:
            try:
                await endpoint.prove()
            except CaliperError as error:
                endpoint.misses += 1
                endpoint.last_error = str(error)
                return
        endpoint.misses = 0

    def _judge(self, endpoint: NamedEndpoint, now: float) -> None:
        failing = endpoint.misses > 0 or now - endpoint.gate.failed_at < _QUIET
        gone = endpoint.misses >= _MISSES or (endpoint.gate.limit == 0 and failing)
        # A single endpoint needs no log line: readiness reports the same.
        if gone != endpoint.is_down and len(self._endpoints) > 1:
            if gone:
                _LOG.warning(
                    "an endpoint of the model is down: %s: %s", endpoint.name, endpoint.last_error
                )
            else:
                _LOG.info("an endpoint of the model is up again: %s", endpoint.name)
        endpoint.is_down = gone
