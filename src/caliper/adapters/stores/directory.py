"""The object store in a directory: one file an object, for one machine or a shared disk."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from caliper.adapters.files import replacing, store_error, write_atomically
from caliper.adapters.keys import checked, checked_prefix, too_long

# A disk that makes sure of many files at once takes hardly longer than for one.
_AT_ONCE = 32
_Result = TypeVar("_Result")


class DirectoryStore:
    """Objects as files under `root`, which the first `put` creates.

    What is no key raises InvalidInput. The disk is touched in threads, which end with the store.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="store")

    async def put(self, key: str, data: bytes | Path) -> None:
        """Store bytes, or the content of a file with a part in memory at a time: whole or not at
        all, on the disk when this returns.

        Raises StoreFull when there is no room, StoreUnavailable when the disk fails.
        """
        if isinstance(data, Path):
            await self._call(_copy, data, self._file(key))
        else:
            await self._call(write_atomically, self._file(key), data)

    async def get(self, key: str, most: int | None = None) -> bytes | None:
        """The bytes under `key`, None when there are none. Raises StoreUnavailable, and
        InvalidInput when there are more than `most`.
        """
        found = await self._call(_read, self._file(key), -1 if most is None else most + 1)
        if found is not None and most is not None and len(found) > most:
            raise too_long(key, most)
        return found

    async def get_file(self, key: str, file: Path) -> bool:
        """Write the bytes under `key` to a file, a part in memory at a time; False when there
        are none. Raises StoreUnavailable.
        """
        return await self._call(_copied, self._file(key), file)

    async def list(self, prefix: str) -> AsyncIterator[str]:
        """Keys that begin with `prefix`, in order of their characters.

        Raises StoreUnavailable.
        """
        folder, _, _ = checked_prefix(prefix).rpartition("/")
        start = self._file(folder) if folder else self._root
        for key in await self._call(_keys, self._root, start):
            if key.startswith(prefix):
                yield key

    async def _call(self, work: Callable[..., _Result], *given: Any) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *given)

    def _file(self, key: str) -> Path:
        return self._root.joinpath(*checked(key).split("/"))


def _copy(source: Path, target: Path) -> None:
    with replacing(target) as written, source.open("rb") as read:
        shutil.copyfileobj(read, written)


def _copied(source: Path, target: Path) -> bool:
    try:
        read = source.open("rb")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return False
    except OSError as error:
        raise store_error(source, error) from error
    with read, replacing(target) as written:
        shutil.copyfileobj(read, written)
    return True


def _read(file: Path, first: int) -> bytes | None:
    """So many bytes of a file from its beginning, -1 for all."""
    try:
        with file.open("rb") as read:
            return read.read(first)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise store_error(file, error) from error


def _keys(root: Path, start: Path) -> list[str]:
    found: list[str] = []
    try:
        for folder, _, names in os.walk(start, onerror=_unless_missing):
            below = Path(folder).relative_to(root)
            found += [(below / name).as_posix() for name in names if not name.startswith(".")]
    except OSError as error:
        raise store_error(start, error) from error
    return sorted(found)


def _unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error
