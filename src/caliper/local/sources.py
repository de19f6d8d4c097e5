"""Checkpoints on disk: their revisions, and folders that deliver them."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from caliper.core.checkpoints import CheckpointRevision, is_uri
from caliper.core.errors import InvalidInput

_UNFINISHED = (".tmp", ".part", ".partial", ".incomplete")
Signature = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class NamedSource:
    """A checkpoint as named by a user: a path, or a URI with a `revision`. Missing fields come from
    the source: the digest of its files, and its name.
    """

    source: str
    revision: str = ""
    name: str = ""
    step: int | None = None
    tags: tuple[str, ...] = ()

    def read(self) -> CheckpointRevision:
        """The checkpoint. Raises InvalidInput for a source that does not exist or is empty."""
        path, remote = Path(self.source), is_uri(self.source)
        if remote and not self.revision:
            raise InvalidInput("a URI needs --revision", file=self.source, field="revision")
        if not remote and not path.exists():
            raise InvalidInput("no such file or folder", file=self.source)
        name = self.name or (Path(self.source.rstrip("/")).name if remote else _stem(path))
        return CheckpointRevision(
            self.source if remote else str(path.absolute()),
            self.revision or digest_of(path),
            name,
            self.step,
            tuple(sorted(set(self.tags))),
            is_digest=not self.revision,
            appeared="" if remote else _appeared(path),
        )


def _appeared(path: Path) -> str:
    """The time when a checkpoint's last file was written."""
    last = max((time for _, _, time in signature_of(path)), default=0) // 1_000_000 / 1_000
    return datetime.fromtimestamp(last, UTC).isoformat(timespec="milliseconds") if last else ""


def _stem(path: Path) -> str:
    real = path.absolute()
    return real.name if real.is_dir() else real.stem


def is_gone(checkpoint: CheckpointRevision) -> str:
    """Why a checkpoint cannot be evaluated as it was registered; empty if it can."""
    if checkpoint.is_uri:
        return ""
    path = Path(checkpoint.source)
    if not path.exists():
        return f"{path} no longer exists"
    if not checkpoint.is_digest:
        return ""
    try:
        current = digest_of(path)
    except InvalidInput as error:
        return str(error)
    return "" if current == checkpoint.revision else f"{path} now holds other files"


def digest_of(path: Path) -> str:
    """SHA-256 of the names and contents of a file or of all visible files below a folder, wherever
    it is. Raises InvalidInput if there are no files, or one cannot be read.
    """
    whole, files = hashlib.sha256(), _files(path)
    if not files:
        raise InvalidInput("contains no files", file=str(path))
    for file in files:
        try:
            with file.open("rb") as content:
                inner = hashlib.file_digest(content, "sha256").digest()
        except OSError as error:
            raise InvalidInput(f"cannot read it: {error.strerror}", file=str(file)) from error
        name = b"" if file == path else os.fsencode(file.relative_to(path))
        whole.update(name + b"\0" + inner)
    return whole.hexdigest()


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    files = (Path(folder, name) for folder, _, names in os.walk(path) for name in names)
    return sorted(
        file for file in files if not any(_is_hidden(part) for part in file.relative_to(path).parts)
    )


def signature_of(path: Path) -> Signature:
    """Names, sizes and times of a checkpoint's files; empty if it does not exist."""
    try:
        files = [(file, file.stat()) for file in _files(path)]
    except OSError:
        return ()
    return tuple((str(file), stat.st_size, stat.st_mtime_ns) for file, stat in files)


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name.endswith(_UNFINISHED)


@dataclass(slots=True)
class WatchedFolder:
    """A folder in which each visible file or folder is a checkpoint.

    A checkpoint counts when two scans agree on it, so that it is not read while it is written; with
    `once`, after the first scan. `warn` receives errors about unreadable ones, which are left out
    until they change.
    """

    path: Path
    warn: Callable[[str], None]
    once: bool = False
    _last_scan: dict[str, Signature] = field(default_factory=dict)
    _read: dict[str, Signature] = field(default_factory=dict)

    async def arrivals(self) -> Sequence[CheckpointRevision]:
        """Checkpoints new or changed since the last call. Raises InvalidInput without a folder."""
        return await asyncio.to_thread(self._scan)

    def _scan(self) -> list[CheckpointRevision]:
        try:
            names = sorted(file.name for file in self.path.iterdir() if not _is_hidden(file.name))
        except OSError as error:
            raise InvalidInput(f"cannot watch it: {error.strerror}", file=str(self.path)) from error
        delivered = []
        signatures = {name: signature_of(self.path / name) for name in names}
        for name, signature in signatures.items():
            is_settled = self.once or self._last_scan.get(name) == signature
            if signature and is_settled and self._read.get(name) != signature:
                self._read[name] = signature
                try:
                    delivered.append(NamedSource(str(self.path / name)).read())
                except InvalidInput as error:
                    self.warn(str(error))
        self._last_scan = signatures
        self._read = {name: read for name, read in self._read.items() if name in signatures}
        return delivered
