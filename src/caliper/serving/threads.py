"""Work in threads that ends with its caller."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

_Result = TypeVar("_Result")


async def finish_in_thread(work: Callable[[], _Result]) -> _Result:
    """Do `work` in a thread of the event loop, and wait for its end even if cancelled meanwhile:
    what the caller holds then limits the threads as well.
    """
    working = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(working)
    finally:
        await asyncio.wait([working])
