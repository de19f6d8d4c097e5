"""Work beside tasks that may end it, such as one that keeps its lease."""

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
        return await first_result(task, keeper)
    finally:
        await stop(task, keeper)


async def _keep(lease: Lease, clock: Clock) -> None:
    while True:
        await clock.sleep(lease.pace)
        with suppress(StoreUnavailable):
            await lease.renew()


async def first_result(task: asyncio.Task[_Value], *watches: asyncio.Task[None]) -> _Value:
    """The result of the task. Raises what it raises, or what a watch raises before it is done."""
    done, _ = await asyncio.wait((task, *watches), return_when=asyncio.FIRST_COMPLETED)
    if task not in done:
        for each in done:
            each.result()
    return await task


async def stop(*tasks: asyncio.Task[Any]) -> None:
    """Cancel these tasks, and wait until they are over."""
    for each in tasks:
        each.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
