"""What tests see of processes that others start."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from tests.fakes.clock import PATIENCE


def is_alive(pid: int) -> bool:
    try:
        state = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


async def until(happened: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not happened():  # noqa: ASYNC110 - what other processes do
            await asyncio.sleep(0.02)
