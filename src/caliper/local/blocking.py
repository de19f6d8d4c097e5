"""Runs coroutines for callers that are none, wherever they are: scripts and notebooks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

import uvloop

_Result = TypeVar("_Result")
_Task = tuple[asyncio.AbstractEventLoop, "asyncio.Task[Any]"]


def run_blocking(work: Coroutine[Any, Any, _Result]) -> _Result:
    """The result of `work`, from an event loop in a thread of its own: the caller's thread may
    have one that runs.

    Ctrl-C cancels the work, waits for its end, and raises KeyboardInterrupt.
    """
    began: Future[_Task] = Future()
    with ThreadPoolExecutor(1, thread_name_prefix="caliper") as thread:
        ended = thread.submit(_run, work, began)
        try:
            return ended.result()
        except KeyboardInterrupt:
            loop, task = began.result()
            with suppress(RuntimeError):  # It ended meanwhile.
                loop.call_soon_threadsafe(task.cancel)
            raise


def _run(work: Coroutine[Any, Any, _Result], began: Future[_Task]) -> _Result:
    async def begin() -> _Result:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine that runs has a task
        began.set_result((asyncio.get_running_loop(), task))
        return await work

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(begin())
