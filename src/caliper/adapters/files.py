"""Files written whole or not at all; every adapter that writes uses this."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from caliper.core.errors import StoreFull, StoreUnavailable

# A full disk, a quota, and the size limit of a process end in the same need for room.
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A binary file that takes the place of `path` when the block ends without an error.

    What is written goes to a hidden file in the same folder, is flushed to the device and
    renamed, so that a reader or a crash finds the old file or the new one, never a part.
    Missing folders are made. Raises what `store_error` makes of an OSError, one that
    escapes from the block included.
    """
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        file = _created(part)
        try:
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise store_error(path, error) from error


def _created(path: Path) -> BinaryIO:
    # Not tempfile: its files are readable by their owner alone.
    try:
        return path.open("xb")
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("xb")


def store_error(path: Path, error: OSError) -> StoreUnavailable:
    """What a failure of the file system about `path` means: no room, or no store."""
    if error.errno in _NO_ROOM:
        return StoreFull(f"{path}: disk full; free some space and rerun the same command")
    return StoreUnavailable(f"{path}: {error.strerror or error}")


def write_atomically(path: Path, data: bytes) -> Path:
    """Write `data` as `replacing` does, and return `path`."""
    with replacing(path) as file:
        file.write(data)
    return path


def write_text(path: Path, text: str) -> Path:
    """Write `text` as UTF-8 as `replacing` does, and return `path`."""
    return write_atomically(path, encoded(text))


def encoded(text: str) -> bytes:
    r"""UTF-8, with a lone surrogate (it has no UTF-8 form) as its escape `\udXXX`.

    Inside a JSON string that escape is what the surrogate was, so JSON loses nothing.
    """
    return text.encode("utf-8", "backslashreplace")
