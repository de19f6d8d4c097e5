"""Files written whole or not at all; every adapter that writes uses this."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from caliper.core.errors import InvalidInput, StoreFull

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A binary file that takes the place of `path` when the block ends without an error.

    What is written goes to a hidden file in the same folder, is flushed to the device and
    renamed, so that a reader or a crash finds the old file or the new one, never a part.
    Missing folders are made. Raises StoreFull when there is no space left, InvalidInput
    naming `path` for any other failure of the file system; an OSError that escapes from
    the block counts as one of `path`.
    """
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            # Not tempfile: its files are readable by their owner alone.
            with part.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise failed(path, error) from error


def failed(path: Path, error: OSError) -> StoreFull | InvalidInput:
    """What an OSError about `path` is called in this house."""
    if error.errno in _FULL:
        return StoreFull(f"no space left to write {path}")
    return InvalidInput(f"cannot be written: {error.strerror or error}", file=str(path))


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
