"""A gateway that stands still in the middle of planning a run."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from tests.fakes.separate import ENDS_WITHIN, Installation

from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.local.config import RunConfig
from caliper.pipeline.planning.publisher import CAPTION_JOBS, JUDGE_JOBS
from caliper.pipeline.store.plan import read_summary
from caliper.pipeline.store.runs import run_store


@asynccontextmanager
async def planning(there: Installation, config: RunConfig) -> AsyncIterator[tuple[str, RunConfig]]:
    """A run, and its configuration, whose planning is begun and not at its end; nothing of it
    goes on before this is left.

    Planning is quick: a run of which all was planned before it was caught is left to itself,
    and another one begun.
    """
    for name in (f"{config.name}-{count}" for count in range(20)):
        named = config.model_copy(update={"name": name})
        before = await _published(there)
        run = await there.begin(named)
        # In another process: nothing here can be awaited.
        async with asyncio.timeout(ENDS_WITHIN):
            while not await _has_plan(there, run):  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        gateway = there.services["gateway"].pid
        os.kill(gateway, signal.SIGSTOP)
        try:
            if await _published(there) - before < await _planned(there, run):
                yield run, named
                return
        finally:
            # It may have been killed where it stood.
            with suppress(ProcessLookupError):
                os.kill(gateway, signal.SIGCONT)
    raise AssertionError("no run was caught in the middle of its planning")


async def _has_plan(there: Installation, run: str) -> bool:
    return bool([key async for key in run_store(there.store, run).list("plan/")])


async def _published(there: Installation) -> int:
    """Jobs of the planner that the topics ever held: those about captions that it knows, and
    those for captions.
    """
    log = KafkaLog(KafkaAccess(there.ground.kafka))
    ends = await asyncio.gather(log.ends(CAPTION_JOBS), log.ends(JUDGE_JOBS))
    return sum(end for topic in ends for end in topic.values())


async def _planned(there: Installation, run: str) -> float:
    """Jobs of the whole run, one a sample; more than any number as long as nobody knows."""
    summary = await read_summary(run_store(there.store, run))
    return float("inf") if summary is None else sum(part.samples for part in summary.benchmarks)
