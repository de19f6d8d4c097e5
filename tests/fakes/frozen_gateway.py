"""A gateway frozen in the middle of planning a run."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from tests.fakes.separate import ENDS_WITHIN, Installation

from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.local.config import RunConfig
from caliper.pipeline.planning.publisher import RUNS
from caliper.pipeline.store.runs import run_store


@asynccontextmanager
async def planning(there: Installation, config: RunConfig) -> AsyncIterator[tuple[str, RunConfig]]:
    """A run, and its configuration, whose planning has begun but not finished and is frozen inside
    the context.

    Planning is fast: a run that was completely planned before it could be frozen is abandoned, and
    another one is started.
    """
    for name in (f"{config.name}-{count}" for count in range(20)):
        named = config.model_copy(update={"name": name})
        before = await _events(there)
        run = await there.begin(named)
        # The gateway is another process, so there is nothing to await.
        async with asyncio.timeout(ENDS_WITHIN):
            while not await _has_plan(there, run):  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        gateway = there.services["gateway"].pid
        os.kill(gateway, signal.SIGSTOP)
        try:
            if await _events(there) == before:
                yield run, named
                return
        finally:
            # It may have been killed while frozen.
            with suppress(ProcessLookupError):
                os.kill(gateway, signal.SIGCONT)
    raise AssertionError("no run was caught in the middle of its planning")


async def _has_plan(there: Installation, run: str) -> bool:
    return bool([key async for key in run_store(there.store, run).list("plan/")])


async def _events(there: Installation) -> int:
    """The number of events about runs: the last step of planning publishes one."""
    return sum((await KafkaLog(there.ground.kafka).ends(RUNS)).values())
