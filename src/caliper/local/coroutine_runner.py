"""Runs coroutines for synchronous callers (commands, scripts and notebooks), and blocking calls for
coroutines.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import wraps
from threading import Thread
from typing import Any, Concatenate, ParamSpec, TypeVar

import uvloop

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_Self = TypeVar("_Self")
_Task = tuple[asyncio.AbstractEventLoop, "asyncio.Task[Any]"]
_OnTask = Callable[[asyncio.AbstractEventLoop, "asyncio.Task[Any]"], object]


def run_blocking(work: Coroutine[Any, Any, _Result]) -> _Result:
    """The result of `work`, from an event loop in its own thread: the caller's thread may already
    have a running one.

    Ctrl-C cancels the work, waits for its end, and raises KeyboardInterrupt.
    """
    began: Future[_Task] = Future()
    with ThreadPoolExecutor(1, thread_name_prefix="caliper") as thread:
        try:
            return thread.submit(_run, work, lambda *both: began.set_result(both)).result()
        except KeyboardInterrupt:
            loop, task = began.result()
            with suppress(RuntimeError):  # It has ended.
                loop.call_soon_threadsafe(task.cancel)
            raise


def run_interruptible(work: Coroutine[Any, Any, _Result]) -> _Result:
    """The result of `work`. SIGTERM interrupts it like Ctrl-C, keeping the work done."""
    return _run(work, lambda loop, task: loop.add_signal_handler(signal.SIGTERM, task.cancel))


def _run(work: Coroutine[Any, Any, _Result], on_task: _OnTask) -> _Result:
    async def begin() -> _Result:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine that runs has a task
        on_task(asyncio.get_running_loop(), task)
        return await work

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(begin())


async def in_daemon_thread(name: str, work: Callable[[], _Result]) -> _Result:
    """The result of `work` in a thread of that name, for which the process does not wait at its
    end, unlike for those of executors: what it calls may never answer. Once begun, it goes on even
    if nobody waits for it any more.
    """
    done: Future[_Result] = Future()

    def do() -> None:
        # From here on, nobody can cancel it.
        if done.set_running_or_notify_cancel():
            try:
                done.set_result(work())
            except BaseException as error:  # noqa: BLE001 - raised where it is awaited
                done.set_exception(error)

    Thread(target=do, name=name, daemon=True).start()
    return await asyncio.wrap_future(done)


def blocking(
    form: Callable[Concatenate[_Self, _Arguments], Coroutine[Any, Any, _Result]],
) -> Callable[Concatenate[_Self, _Arguments], _Result]:
    """The blocking form of an `async` method, by `run_blocking`, named without the leading a."""

    @wraps(form)
    def wait(own: _Self, /, *arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        return run_blocking(form(own, *arguments, **named))

    wait.__name__ = form.__name__.removeprefix("a")
    wait.__qualname__ = form.__qualname__.replace(form.__name__, wait.__name__)
    return wait
