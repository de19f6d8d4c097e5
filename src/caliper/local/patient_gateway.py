"""Calls of a gateway that may be unavailable for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from caliper.adapters.exports.report_reader import read_report
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.core.errors import BackendOverloaded, BackendTimeout, BackendUnavailable
from caliper.core.report import Report
from caliper.core.run import FINAL_STATES
from caliper.pipeline.store.run_record import Evaluation
from caliper.ports.clock import Clock

_INTERVAL, _PAUSE = 1.0, 5.0
_PATIENCE = 3600.0
"""Seconds to wait for a gateway that does not answer, before a run is begun."""
CANCELLATION_PATIENCE = 60.0
"""Seconds to wait for the gateway before giving up on cancelling a run."""
_AWAY = (BackendUnavailable, BackendTimeout, BackendOverloaded)
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class PatientGateway:
    """A gateway whose outages are waited out. `warn` receives them."""

    gateway: RemoteGateway
    clock: Clock
    warn: Callable[[str], None]

    async def call(
        self, request: Callable[[], Awaitable[_Result]], patience: float = _PATIENCE
    ) -> _Result:
        """The result of a repeatable call, once the gateway answers. If it says when to call
        again, for example because a quota is used up, this waits until then.
        """
        deadline, warned = self.clock.monotonic() + patience, False
        while True:
            try:
                return await request()
            except _AWAY as error:
                delay = error.retry_after if isinstance(error, BackendOverloaded) else None
                pause = max(_PAUSE, delay or 0.0)
                if pause == _PAUSE and self.clock.monotonic() >= deadline:
                    raise
                if not warned:
                    self.warn(f"waiting for the gateway: {error}")
                warned = True
            await self.clock.sleep(pause)

    async def report(self, run: str) -> Report:
        """The report of a run that has ended, complete or not."""
        data = await self.call(lambda: self.gateway.report(run, partial=True))
        # In a thread: the report has all figures of all tasks.
        return await asyncio.to_thread(read_report, data.decode(), f"run {run}")

    async def end(
        self, run: str, on_update: Callable[[Evaluation], None] = lambda _: None
    ) -> Evaluation:
        """The run once it has ended, despite any outages of the gateway."""
        warned = False
        while True:
            try:
                async for update in self.gateway.watch(run, _INTERVAL):
                    warned = False
                    on_update(update)
                    if update.state in FINAL_STATES:
                        return update
            except _AWAY as error:
                if not warned:
                    self.warn(f"run {run} continues; waiting for the gateway: {error}")
                warned = True
            await self.clock.sleep(_PAUSE)
