"""The object store in a directory: one file an object, for one machine or a shared disk."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

from caliper.adapters.keys import checked, checked_prefix
from caliper.core.errors import StoreFull, StoreUnavailable

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class DirectoryStore:
    """Objects as files under `root`, which the first `put` creates.

    What is no key raises InvalidInput. The disk is touched in threads.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    async def put(self, key: str, data: bytes) -> None:
        """Store `data` whole or not at all, on the disk when this returns.

        Raises StoreFull when there is no room, StoreUnavailable when the disk fails.
        """
        await asyncio.to_thread(_write, self._file(key), data)

    async def get(self, key: str) -> bytes | None:
        """The bytes under `key`, None when there are none. Raises StoreUnavailable."""
        return await asyncio.to_thread(_read, self._file(key))

    async def list(self, prefix: str) -> AsyncIterator[str]:
        """Keys that begin with `prefix`, in order of their characters.

        Raises StoreUnavailable.
        """
        folder, _, _ = checked_prefix(prefix).rpartition("/")
        start = self._file(folder) if folder else self._root
        for key in await asyncio.to_thread(_keys, self._root, start):
            if key.startswith(prefix):
                yield key

    def _file(self, key: str) -> Path:
        return self._root.joinpath(*checked(key).split("/"))


def _write(file: Path, data: bytes) -> None:
    # A name that no key can have: a reader never sees a half-written object.
    temporary = file.with_name(f".{uuid.uuid4().hex}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(file)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise failure(file, error) from error
    _sync_folder(file.parent)


def _sync_folder(folder: Path) -> None:
    # Makes the new name last through a power cut, where the file system can do that.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise failure(file, error) from error


def _keys(root: Path, start: Path) -> list[str]:
    found: list[str] = []
    try:
        for folder, _, names in os.walk(start, onerror=_unless_missing):
            below = Path(folder).relative_to(root)
            found += [(below / name).as_posix() for name in names if not name.startswith(".")]
    except OSError as error:
        raise failure(start, error) from error
    return sorted(found)


def _unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error


def failure(file: Path, error: OSError) -> StoreUnavailable:
    """What an error of the file system means: no room (StoreFull), or no store."""
    kind = StoreFull if error.errno in _NO_ROOM else StoreUnavailable
    return kind(f"{file}: {error.strerror or error}")
