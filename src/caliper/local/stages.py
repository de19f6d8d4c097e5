"""The stages of a run in one process, from its plan to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.errors import InvalidInput
from caliper.core.messages import MessageValue
from caliper.pipeline.planning.planner import Planner
from caliper.pipeline.planning.publisher import PLAN_JOBS, RUNS, VERDICTS
from caliper.pipeline.work.stage import Stage
from caliper.pipeline.work.worker import Attempt, WorkerLimits, first_failure
from caliper.wiring.grounds import Ground

_REPORT_MODULES = ("numpy", "caliper.adapters.exports.parquet", "jinja2")
_IMPORT_STEP = 0.3
"""Seconds between these imports, for reading replies."""


def planning(planner: Planner, ground: Ground, published: Callable[[int], None]) -> Stage:
    """The stage that plans the run, and calls `published` with the number of its jobs."""

    async def plan(attempt: Attempt) -> None:
        result = await planner.plan(ground.codec.read_plan_job(attempt.data))
        if isinstance(result, InvalidInput):
            raise result
        published(result)

    async def end(_: MessageValue, error: BaseException) -> None:
        raise error

    return Stage(PLAN_JOBS, (plan, end), ground.stream, ground.clock, WorkerLimits())


def schedule_imports() -> None:
    """Import what only a report needs soon, one after another, while the models are busy. Importing
    in a thread would delay replies four times as long.
    """
    loop = asyncio.get_running_loop()
    for number, name in enumerate(_REPORT_MODULES):
        loop.call_later(number * _IMPORT_STEP, _import, name)


def _import(name: str) -> None:
    with suppress(ModuleNotFoundError):
        import_module(name)


async def work(
    plan: Stage,
    stages: Sequence[Stage],
    stream: MemoryStream,
    follow: Callable[[], Coroutine[Any, Any, None]],
    over: asyncio.Event,
) -> None:
    """Work on the run whose plan-job is on the stream, until `over` is set. `follow` consumes the
    verdicts on the stream.

    Raises ModelChanged or StoreUnavailable as soon as a stage meets one; the work done by then is
    kept. Raises InvalidInput when the run cannot be planned.
    """
    try:
        async with asyncio.TaskGroup() as group:
            await stream.close_topic(PLAN_JOBS)
            planned = group.create_task(plan.run())
            for stage in stages:
                group.create_task(stage.run())
            group.create_task(follow())
            await over.wait()
            # Report what a cap leaves out even of a run that had ended before.
            await planned
            for topic in (*(stage.topic for stage in stages), VERDICTS, RUNS):
                await stream.close_topic(topic)
    except BaseExceptionGroup as failures:
        raise first_failure(failures) from None
