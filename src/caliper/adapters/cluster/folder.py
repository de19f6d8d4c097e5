"""Secrets in a folder, in the layout of a Kubernetes mount: one folder per Secret, one file per
entry. For one machine, and for containers without a cluster.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from caliper.adapters.cluster.recipes import Data
from caliper.adapters.files import store_error


class FolderSecrets:
    """adapters.cluster.secrets.SecretStore. Files are readable by their owner only."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, name: str) -> Data | None:
        folder = self._root / name
        try:
            return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}
        except FileNotFoundError:
            return None
        except OSError as error:
            raise store_error(folder, error) from error

    # Files have no type.
    def create(self, name: str, kind: str, data: Data) -> bool:  # noqa: ARG002
        folder = self._root / name
        try:
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._beside(name) as temporary:
                _fill(temporary / "new", data)
                # `rename` fails if the target is a non-empty folder.
                (temporary / "new").rename(folder)
        except OSError as error:
            if folder.is_dir():
                return False
            raise store_error(folder, error) from error
        return True

    def replace(self, name: str, kind: str, data: Data) -> None:  # noqa: ARG002
        # Between the two moves there is none: whatever interrupts this, the next run creates it.
        folder = self._root / name
        try:
            with self._beside(name) as temporary:
                _fill(temporary / "new", data)
                folder.rename(temporary / "old")
                (temporary / "new").rename(folder)
        except OSError as error:
            raise store_error(folder, error) from error

    @contextmanager
    def _beside(self, name: str) -> Iterator[Path]:
        temporary = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=self._root))
        try:
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _fill(folder: Path, data: Data) -> None:
    folder.mkdir(mode=0o700)
    for file, content in data.items():
        _write(folder / file, content)


def _write(file: Path, content: bytes) -> None:
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(handle)
