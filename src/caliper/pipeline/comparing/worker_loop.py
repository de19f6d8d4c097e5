"""Runs long async work in a worker thread, on an event loop of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Generic, TypeVar

from caliper.ports.storage import ObjectStore

_Result = TypeVar("_Result")


class RelayedStore:
    """A ports.storage.ObjectStore for use in a worker loop.

    Its calls run on the event loop that it was created in, which owns the connections of `store`.
    """

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._loop = asyncio.get_running_loop()

    async def put(self, key: str, data: bytes | Path) -> None:
        await self._on_own_loop(self._store.put(key, data))

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        return await self._on_own_loop(self._store.get(key, max_bytes))

    async def version(self, key: str) -> str | None:
        """The version of a key. Raises StoreUnavailable."""
        return await self._on_own_loop(self._store.version(key))

    async def replace(self, key: str, data: bytes | Path, version: str | None) -> str | None:
        """Store `data` if `key` still has this version. Raises as the port does."""
        return await self._on_own_loop(self._store.replace(key, data, version))

    async def get_file(self, key: str, file: Path) -> bool:
        return await self._on_own_loop(self._store.get_file(key, file))

    async def list(self, prefix: str) -> AsyncIterator[str]:
        for key in await self._on_own_loop(self._keys(prefix)):
            yield key

    async def _keys(self, prefix: str) -> Sequence[str]:
        return [key async for key in self._store.list(prefix)]

    async def _on_own_loop(self, call: Coroutine[Any, Any, _Result]) -> _Result:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(call, self._loop))


async def run_in_thread(
    work: Callable[[], Coroutine[Any, Any, _Result]], executor: Executor
) -> _Result:
    """Run `work` in a thread of `executor`; it is cancelled with the caller."""
    loop = _WorkerLoop(work)
    try:
        return await asyncio.get_running_loop().run_in_executor(executor, loop.run)
    except asyncio.CancelledError:
        loop.cancel()
        raise


class _WorkerLoop(Generic[_Result]):
    def __init__(self, work: Callable[[], Coroutine[Any, Any, _Result]]) -> None:
        self._work = work
        self._guard = threading.Lock()
        self._cancelled = False
        self._running: tuple[asyncio.AbstractEventLoop, asyncio.Task[_Result]] | None = None

    def run(self) -> _Result:
        return asyncio.run(self._run())

    async def _run(self) -> _Result:
        task = asyncio.ensure_future(self._work())
        with self._guard:
            self._running = asyncio.get_running_loop(), task
            if self._cancelled:
                task.cancel()
        try:
            return await task
        finally:
            with self._guard:
                self._running = None

    def cancel(self) -> None:
        with self._guard:
            self._cancelled = True
            if self._running is not None:
                loop, task = self._running
                loop.call_soon_threadsafe(task.cancel)
