"""The object store in a directory: one file per object, for one machine or a shared disk."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from caliper.adapters.files import locked, open_replacement, store_error
from caliper.adapters.keys import check_key, check_prefix, check_size

# Syncing many files to disk concurrently takes hardly longer than syncing one.
_SYNCING_THREADS, _THREADS = 32, 4
_FEW = 16
"""Without syncing, fewer calls take less time than handing them to one more thread."""
_Result = TypeVar("_Result")
_Call = tuple[asyncio.Future[Any], Callable[[], Any]]


class DirectoryStore:
    """ports.storage.ObjectStore: files under `root`, which the first `put` creates.

    An invalid key raises InvalidInput. Disk access runs in threads, which end with the store. If
    not `synced`, objects of the last seconds may be lost or damaged when the machine crashes.
    """

    def __init__(self, root: Path, *, synced: bool = True) -> None:
        self._root, self._synced = root, synced
        self._size, self._few = (_SYNCING_THREADS, 1) if synced else (_THREADS, _FEW)
        self._threads = ThreadPoolExecutor(self._size, thread_name_prefix="store")
        self._waiting: list[_Call] = []
        self._running = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    async def put(self, key: str, data: bytes | Path) -> None:
        await self._call(partial(_put, self._file(key), data, synced=self._synced))

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        size = -1 if max_bytes is None else max_bytes + 1
        data = await self._call(partial(_read, self._file(key), size))
        return check_size(key, data, max_bytes)

    async def version(self, key: str) -> str | None:
        return await self._call(partial(_version, self._file(key)))

    async def replace(self, key: str, data: bytes | Path, version: str | None) -> str | None:
        file = self._file(key)
        return await self._call(partial(_replace, file, data, version, synced=self._synced))

    async def get_file(self, key: str, file: Path) -> bool:
        return await self._call(partial(_copy_if_exists, self._file(key), file))

    async def get_range(self, key: str, first: int, length: int) -> bytes | None:
        return await self._call(partial(_read, self._file(key), length, first)) or None

    async def size(self, key: str) -> int | None:
        return await self._call(partial(_size_of, self._file(key)))

    async def delete(self, *keys: str) -> None:
        calls = [partial(_delete, self._root, self._file(key)) for key in keys]
        await asyncio.gather(*map(self._call, calls))

    async def list(self, prefix: str) -> AsyncIterator[str]:
        folder, _, _ = check_prefix(prefix).rpartition("/")
        start = self._file(folder) if folder else self._root
        for key in await self._call(partial(_keys, self._root, start)):
            if key.startswith(prefix):
                yield key

    async def _call(self, work: Callable[[], _Result]) -> _Result:
        """Do the work in a thread, together with other calls that wait for one."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            # Work left behind by an earlier loop will never end.
            self._loop, self._waiting, self._running = loop, [], 0
        future: asyncio.Future[_Result] = loop.create_future()
        if len(self._waiting) % self._few == 0:
            loop.call_soon(self._hand_over)
        self._waiting.append((future, work))
        return await future

    def _hand_over(self) -> None:
        if not self._waiting or (self._running and len(self._waiting) < self._few):
            return
        calls, self._waiting = self._waiting, []
        share = max(self._few, -(-len(calls) // self._size))
        for first in range(0, len(calls), share):
            self._running += 1
            self._threads.submit(self._work, calls[first : first + share])

    def _work(self, calls: Sequence[_Call]) -> None:
        results = [(future, *_outcome(work)) for future, work in calls]
        calls[0][0].get_loop().call_soon_threadsafe(self._settle, results)

    def _settle(self, results: Sequence[tuple[asyncio.Future[Any], Any, Exception | None]]) -> None:
        self._running -= 1
        for future, value, error in results:
            if future.cancelled():
                continue
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error)
        self._hand_over()

    def _file(self, key: str) -> Path:
        return Path(f"{self._root}/{check_key(key)}")


def _outcome(work: Callable[[], Any]) -> tuple[Any, Exception | None]:
    try:
        return work(), None
    except Exception as error:  # noqa: BLE001 - raised where the call is awaited
        return None, error


def _put(target: Path, data: bytes | Path, *, synced: bool) -> None:
    with open_replacement(target, synced=synced) as file:
        if isinstance(data, bytes):
            file.write(data)
        else:
            with data.open("rb") as source:
                shutil.copyfileobj(source, file)


def _replace(target: Path, data: bytes | Path, version: str | None, *, synced: bool) -> str | None:
    with locked(target):
        new = hashlib.sha256(data).hexdigest() if isinstance(data, bytes) else _version(data)
        current = _version(target)
        if current == version:
            _put(target, data, synced=synced)
        elif current != new:
            return None
    return new


def _version(file: Path) -> str | None:
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise store_error(file, error) from error


def _copy_if_exists(source: Path, target: Path) -> bool:
    try:
        source_file = source.open("rb")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return False
    except OSError as error:
        raise store_error(source, error) from error
    with source_file, open_replacement(target) as target_file:
        shutil.copyfileobj(source_file, target_file)
    return True


def _size_of(file: Path) -> int | None:
    try:
        return file.stat().st_size if file.is_file() else None
    except OSError as error:
        raise store_error(file, error) from error


def _delete(root: Path, file: Path) -> None:
    """Delete a file, and the folders that are empty then."""
    try:
        if not file.is_file():
            return
        file.unlink(missing_ok=True)
        for folder in file.relative_to(root).parents[:-1]:
            (root / folder).rmdir()
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.ENOENT):
            raise store_error(file, error) from error


def _read(file: Path, size: int, first: int = 0) -> bytes | None:
    """`size` bytes of a file from `first` on, -1 for all."""
    try:
        with file.open("rb") as stream:
            stream.seek(first)
            return stream.read(size)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise store_error(file, error) from error


def _keys(root: Path, start: Path) -> list[str]:
    keys: list[str] = []
    try:
        for folder, _, names in os.walk(start, onerror=_unless_missing):
            below = Path(folder).relative_to(root)
            keys += [(below / name).as_posix() for name in names if not name.startswith(".")]
    except OSError as error:
        raise store_error(start, error) from error
    return sorted(keys)


def _unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error
