"""Watches and marks folders, files and buckets while the checkpoints in them are evaluated."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from caliper.adapters.files import store_error, write_text
from caliper.core.checkpoints import CheckpointRevision, is_uri
from caliper.core.keys import digest
from caliper.local.bucket_captions import CheckpointBucket
from caliper.local.sources import is_gone, signature_of
from caliper.pipeline.suites.notifications import MANIFEST, MARKER

_FOLDER = "folder"


class BucketSources:
    """ports.sources.CheckpointSources: s3://BUCKET/KEY in the buckets that `bucket_of` finds by
    name, an object or a folder. Other sources are ignored. The marker of SUITE beside step-1 is
    .step-1.SUITE.caliper-lease.
    """

    def __init__(self, bucket_of: Callable[[str], CheckpointBucket | None]) -> None:
        self._bucket_of = bucket_of

    async def signature(self, checkpoint: CheckpointRevision) -> str | None:
        """The ETag of an object or of a folder's manifest, or a constant for other folders."""
        bucket, key = self._place(checkpoint.source)
        if bucket is None:
            return None
        etag = await bucket.version(_object(key))
        if etag is None and not key.endswith("/") and await bucket.keys(f"{key}/"):
            return _FOLDER
        return etag or ""

    async def loss(self, checkpoint: CheckpointRevision) -> str:
        """Why the checkpoint is no longer there."""
        there = await self.signature(checkpoint)
        return f"{checkpoint.source} " + ("now holds another version" if there else "was removed")

    async def mark(self, source: str, suite: str, text: str) -> None:
        """Write the marker. Raises StoreUnavailable."""
        bucket, key = self._place(source)
        if bucket is not None:
            await bucket.put(_marker(key, suite), text.encode())

    async def unmark(self, source: str, suite: str) -> None:
        """Remove the marker. Raises StoreUnavailable."""
        bucket, key = self._place(source)
        if bucket is not None:
            await bucket.delete(_marker(key, suite))

    def _place(self, uri: str) -> tuple[CheckpointBucket | None, str]:
        scheme, _, rest = uri.partition("://")
        name, _, key = rest.partition("/")
        return (self._bucket_of(name) if scheme == "s3" and key else None), key


class LocalSources(BucketSources):
    """The same, and paths."""

    async def signature(self, checkpoint: CheckpointRevision) -> str | None:
        """For a path, a digest of the sizes and times of its files."""
        if checkpoint.is_uri:
            return await super().signature(checkpoint)
        files = await asyncio.to_thread(signature_of, Path(checkpoint.source))
        return digest([list(file) for file in files])

    async def loss(self, checkpoint: CheckpointRevision) -> str:
        """Why the checkpoint is no longer there."""
        if checkpoint.is_uri:
            return await super().loss(checkpoint)
        return await asyncio.to_thread(is_gone, checkpoint)

    async def mark(self, source: str, suite: str, text: str) -> None:
        """Write the marker. Raises StoreUnavailable."""
        if is_uri(source):
            await super().mark(source, suite, text)
        else:
            await asyncio.to_thread(_write, Path(_marker(source, suite)), text)

    async def unmark(self, source: str, suite: str) -> None:
        """Remove the marker. Raises StoreUnavailable."""
        if is_uri(source):
            await super().unmark(source, suite)
        else:
            await asyncio.to_thread(_remove, Path(_marker(source, suite)))


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
