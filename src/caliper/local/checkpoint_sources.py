"""Looks after folders, files and a bucket while the checkpoints in them are evaluated."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from caliper.adapters.files import store_error, write_text
from caliper.core.checkpoints import CheckpointRevision, is_uri
from caliper.core.keys import digest
from caliper.local.sources import is_gone, signature_of
from caliper.pipeline.suites.notifications import MANIFEST, MARKER


class MarkedBucket(Protocol):
    """A bucket as far as checkpoints in it are looked after; see `SourceBucket`."""

    async def version(self, key: str) -> str | None:
        """The ETag of an object, None if it does not exist. Raises StoreUnavailable."""
        ...

    async def put(self, key: str, data: bytes) -> None:
        """Store an object. Raises StoreUnavailable."""
        ...

    async def delete(self, key: str) -> None:
        """Delete an object, if it exists. Raises StoreUnavailable."""
        ...


class LocalSources:
    """ports.sources.CheckpointSources: paths, and s3://BUCKET/KEY in the `buckets` by name. The
    marker of SUITE beside step-1 is .step-1.SUITE.caliper-lease.
    """

    def __init__(self, buckets: Mapping[str, MarkedBucket]) -> None:
        self._buckets = buckets

    async def signature(self, checkpoint: CheckpointRevision) -> str | None:
        """Sizes and times of its files; of an object, or the manifest in a folder, the ETag."""
        if not checkpoint.is_uri:
            files = await asyncio.to_thread(signature_of, Path(checkpoint.source))
            return digest([list(file) for file in files])
        bucket, key = self._place(checkpoint.source)
        return None if bucket is None else await bucket.version(_object(key)) or ""

    async def loss(self, checkpoint: CheckpointRevision) -> str:
        """Why it is another checkpoint now, or none."""
        if not checkpoint.is_uri:
            return await asyncio.to_thread(is_gone, checkpoint)
        there = await self.signature(checkpoint)
        return f"{checkpoint.source} " + ("holds another version now" if there else "was removed")

    async def mark(self, source: str, suite: str, text: str) -> None:
        """Write the marker. Raises StoreUnavailable."""
        if not is_uri(source):
            await asyncio.to_thread(_write, Path(_marker(source, suite)), text)
            return
        bucket, key = self._place(source)
        if bucket is not None:
            await bucket.put(_marker(key, suite), text.encode())

    async def unmark(self, source: str, suite: str) -> None:
        """Remove the marker. Raises StoreUnavailable."""
        if not is_uri(source):
            await asyncio.to_thread(_remove, Path(_marker(source, suite)))
            return
        bucket, key = self._place(source)
        if bucket is not None:
            await bucket.delete(_marker(key, suite))

    def _place(self, uri: str) -> tuple[MarkedBucket | None, str]:
        scheme, _, rest = uri.partition("://")
        name, _, key = rest.partition("/")
        return (self._buckets.get(name) if scheme == "s3" and key else None), key


def _object(key: str) -> str:
    return key + MANIFEST if key.endswith("/") else key


def _marker(source: str, suite: str) -> str:
    folder, slash, name = source.rstrip("/").rpartition("/")
    return f"{folder}{slash}.{name}.{suite}{MARKER}"


def _write(file: Path, text: str) -> None:
    if file.parent.is_dir():
        write_text(file, text)


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except NotADirectoryError:
        return
    except OSError as error:
        raise store_error(file, error) from error
