"""The object store in a directory: one file per object, for one machine or a shared disk."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from caliper.adapters.files import replacing, store_error, write_atomically
from caliper.adapters.keys import bounded, checked, checked_prefix

# Syncing many files to disk concurrently takes hardly longer than syncing one.
_THREADS = 32
_Result = TypeVar("_Result")


class DirectoryStore:
    """ports.storage.ObjectStore: files under `root`, which the first `put` creates. They are synced
    to disk when `put` returns.

    An invalid key raises InvalidInput. Disk access runs in threads, which end with the store.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="store")

    async def put(self, key: str, data: bytes | Path) -> None:
        if isinstance(data, Path):
            await self._call(_copy, data, self._file(key))
        else:
            await self._call(write_atomically, self._file(key), data)

    async def get(self, key: str, most: int | None = None) -> bytes | None:
        data = await self._call(_read, self._file(key), -1 if most is None else most + 1)
        return bounded(key, data, most)

    async def get_file(self, key: str, file: Path) -> bool:
        return await self._call(_copy_if_exists, self._file(key), file)

    async def list(self, prefix: str) -> AsyncIterator[str]:
        folder, _, _ = checked_prefix(prefix).rpartition("/")
        start = self._file(folder) if folder else self._root
        for key in await self._call(_keys, self._root, start):
            if key.startswith(prefix):
                yield key

    async def _call(self, work: Callable[..., _Result], *args: Any) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)

    def _file(self, key: str) -> Path:
        return self._root.joinpath(*checked(key).split("/"))


def _copy(source: Path, target: Path) -> None:
    with replacing(target) as target_file, source.open("rb") as source_file:
        shutil.copyfileobj(source_file, target_file)


def _copy_if_exists(source: Path, target: Path) -> bool:
    try:
        source_file = source.open("rb")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return False
    except OSError as error:
        raise store_error(source, error) from error
    with source_file, replacing(target) as target_file:
        shutil.copyfileobj(source_file, target_file)
    return True


def _read(file: Path, size: int) -> bytes | None:
    """The first `size` bytes of a file, -1 for all."""
    try:
        with file.open("rb") as stream:
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
