"""Removes old runs once a day, like `caliper runs purge`."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection
from datetime import timedelta

from caliper.core.errors import CaliperError
from caliper.pipeline.gateway.purge import Retention, delete_run, old_runs
from caliper.pipeline.work.log_subject import log_subject
from caliper.ports.clock import Clock
from caliper.ports.storage import DeletableStore

_LOG = logging.getLogger(__name__)
_DAY = 86_400.0


KeptRuns = Callable[[DeletableStore, Clock], Awaitable[Collection[str]]]


async def purge_daily(store: DeletableStore, days: int, clock: Clock, kept: KeptRuns) -> None:
    """Remove runs that ended more than `days` ago and are not `kept`, now and once a day, forever.
    Runs that an error leaves are removed the next day.
    """
    while True:
        try:
            retention = Retention(age=timedelta(days=days), kept=await kept(store, clock))
            await _purge(store, retention, clock)
        except CaliperError as error:
            _LOG.warning("old runs are removed tomorrow: %s", error)
        await clock.sleep(_DAY)


async def _purge(store: DeletableStore, retention: Retention, clock: Clock) -> None:
    async for old in old_runs(store, retention, clock.now()):
        with log_subject(old.run):
            if await delete_run(store, old):
                _LOG.info("removed run %s: %d objects, %d bytes", old.run, old.objects, old.size)
