"""Calls of a gateway that goes away for a while."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from caliper.adapters.remote.gateway import RemoteGateway
from caliper.core.errors import BackendOverloaded, BackendTimeout, BackendUnavailable
from caliper.core.run import FINAL_STATES
from caliper.pipeline.store.run_record import Evaluation
from caliper.ports.clock import Clock

_INTERVAL, _PAUSE = 1.0, 5.0
_PATIENCE = 3600.0
"""Seconds for which a gateway that does not answer is waited for before a run is begun."""
CANCELLATION_PATIENCE = 60.0
"""Seconds for which it is waited for before a run is left to itself."""
_AWAY = (BackendUnavailable, BackendTimeout, BackendOverloaded)
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class PatientGateway:
    """A gateway that is waited for. `warn` takes outages."""

    gateway: RemoteGateway
    clock: Clock
    warn: Callable[[str], None]

    async def call(
        self, request: Callable[[], Awaitable[_Result]], patience: float = _PATIENCE
    ) -> _Result:
        """The result of a call that may be repeated, once the gateway answers. One that says when
        to call again, as when a quota is used up, is waited for until then.
        """
        deadline, told = self.clock.monotonic() + patience, False
        while True:
            try:
                return await request()
            except _AWAY as error:
                delay = error.retry_after if isinstance(error, BackendOverloaded) else None
                pause = max(_PAUSE, delay or 0.0)
                if pause == _PAUSE and self.clock.monotonic() >= deadline:
                    raise
                if not told:
                    self.warn(f"waiting for the gateway: {error}")
                told = True
            await self.clock.sleep(pause)

    async def end(
        self, run: str, on_update: Callable[[Evaluation], None] = lambda _: None
    ) -> Evaluation:
        """The run once it has ended, however often the gateway goes away meanwhile."""
        told = False
        while True:
            try:
                async for update in self.gateway.watch(run, _INTERVAL):
                    told = False
                    on_update(update)
                    if update.state in FINAL_STATES:
                        return update
            except _AWAY as error:
                if not told:
                    self.warn(f"run {run} goes on; waiting for the gateway: {error}")
                told = True
            await self.clock.sleep(_PAUSE)
