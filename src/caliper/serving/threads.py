"""Work in threads that ends with its caller."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

_Result = TypeVar("_Result")


async def finish_in_thread(work: Callable[[], _Result]) -> _Result:
    """Do `work` in a thread of the event loop, and wait for its end even if cancelled meanwhile:
    what the caller holds then limits the threads as well. Raises what `work` raises.
    """
    working = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(working)
    finally:
        while not working.done():
            # Even if cancelled repeatedly.
            with suppress(asyncio.CancelledError):
                await asyncio.wait([working])
