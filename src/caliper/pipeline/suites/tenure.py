"""Work that is done only while a lease is held."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from caliper.core.errors import StoreUnavailable
from caliper.pipeline.aggregation.lease import Lease
from caliper.ports.clock import Clock

_Value = TypeVar("_Value")


async def while_held(lease: Lease, clock: Clock, work: Coroutine[Any, Any, _Value]) -> _Value:
    """The result of the work, which is cancelled when the lease is lost. Raises LeaseLost."""
    task, keeper = asyncio.create_task(work), asyncio.create_task(_keep(lease, clock))
    try:
        await asyncio.wait((task, keeper), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            await keeper
        return await task
    finally:
        for each in (task, keeper):
            each.cancel()
        await asyncio.gather(task, keeper, return_exceptions=True)


async def _keep(lease: Lease, clock: Clock) -> None:
    while True:
        await clock.sleep(lease.pace)
        with suppress(StoreUnavailable):
            await lease.renew()
