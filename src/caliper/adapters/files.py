"""Atomic file writes, which every adapter that writes files uses; locks; signs of changed files."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from caliper.core.errors import InvalidInput, StoreFull, StoreUnavailable

# A full disk, a quota and the file size limit of a process all call for more room.
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

Stamp = tuple[int, int, int] | None
"""Modification time, size and inode of a file, which change whenever it does; None of no file."""


def file_stamp(path: Path) -> Stamp:
    """The stamp of a file as it is now."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


@contextmanager
def open_replacement(path: Path, *, synced: bool = True) -> Iterator[BinaryIO]:
    """Open a binary file that replaces `path` when the block ends without an error.

    The data goes to a hidden file in the same folder, is flushed to the device and renamed,
    so that readers find the old file or the new one, never a part, even after a crash. If not
    `synced`, that holds for a crash of the process, not of the machine.
    Creates missing folders. Raises InvalidInput for a path without a name, and the error that
    `store_error` returns for any OSError, including one raised in the block.
    """
    if not path.name:
        raise InvalidInput("a folder, not a file", file=str(path))
    part = path.with_name(f".{path.name}.{os.urandom(4).hex()}.part")
    try:
        file = _create(part)
        try:
            with file:
                yield file
                if synced:
                    file.flush()
                    os.fsync(file.fileno())
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise store_error(path, error) from error


def _create(path: Path) -> BinaryIO:
    # Not tempfile: its files are readable by their owner alone.
    try:
        return path.open("xb")
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("xb")


@contextmanager
def locked(target: Path) -> Iterator[None]:
    """Exclude other processes, and threads, that replace files of the folder of `target`, which is
    created if it is missing. The lock of one that dies is released. Raises the error that
    `store_error` returns for any OSError.
    """
    folder = target.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:
            # Its last file was deleted at this moment, and the folder with it.
            folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)
    except OSError as error:
        raise store_error(folder, error) from error


def store_error(path: Path, error: OSError) -> StoreUnavailable | InvalidInput:
    """The error for a file system failure at `path`: StoreFull if there is no room, InvalidInput
    for a name that is too long, which no time heals.
    """
    if error.errno in _NO_ROOM:
        return StoreFull(f"{path}: disk full; free some space and rerun the same command")
    reason = error.strerror or str(error)
    if error.errno == errno.ENAMETOOLONG:
        return InvalidInput(reason, file=str(path))
    return StoreUnavailable(f"{path}: {reason}")


def fill_folder(folder: Path, fill: Callable[[Path], None]) -> Path:
    """Fill a folder that appears only when it is complete, and return it. An existing one stays
    as it is. Raises the error that `store_error` returns for any OSError.
    """
    if folder.is_dir():
        return folder
    part = folder.with_name(f".{folder.name}.{os.urandom(4).hex()}.part")
    try:
        part.mkdir(parents=True)
        fill(part)
        try:
            part.rename(folder)
        except OSError:
            # Another process was faster.
            if not folder.is_dir():
                raise
    except OSError as error:
        raise store_error(folder, error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return folder


def output_file(path: Path) -> Path:
    """The file that is replaced by writing to `path`: the target of a link, which stays.

    Raises InvalidInput for a pipe or a device, which a file would take the place of.
    """
    target, mode = path, stat.S_IFREG
    # If it does not exist or cannot be reached, opening it tells so.
    with suppress(OSError):
        if path.is_symlink():
            target = Path(os.path.realpath(path))
        mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise InvalidInput("not a regular file", file=str(path))
    return target


def write_atomically(path: Path, data: bytes) -> Path:
    """Replace the `output_file` at `path` by `data` atomically and return `path`. Raises what that
    and `open_replacement` raise.
    """
    with open_replacement(output_file(path)) as file:
        file.write(data)
    return path


def write_text(path: Path, text: str) -> Path:
    """Replace `path` by `text` (UTF-8) atomically and return `path`. Raises like
    `write_atomically`.
    """
    return write_atomically(path, encode_text(text))


def encode_text(text: str) -> bytes:
    r"""Encode as UTF-8; a lone surrogate, which has no UTF-8 form, becomes its escape `\udXXX`.

    Inside a JSON string the escape means the surrogate itself, so JSON loses nothing.
    """
    return text.encode("utf-8", "backslashreplace")
