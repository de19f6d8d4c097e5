"""The captions of checkpoints in buckets: `s3://BUCKET/KEY`, an object or a folder of them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from caliper.adapters.cluster.grants import STORE_GRANTS
from caliper.adapters.datasets.caption_detection import LARGEST, SUFFIXES
from caliper.core.checkpoints import CheckpointRevision
from caliper.core.errors import BackendUnavailable, InvalidInput, StoreUnavailable
from caliper.pipeline.store.disk_spill import temporary_folder
from caliper.pipeline.suites.notifications import SourceObjects

_SCHEME = "s3://"
_ETAG = re.compile(r"[0-9a-f]{32}(-\d+)?", re.ASCII)
_OWN = frozenset(
    key.partition("/")[0]
    for grant in STORE_GRANTS.values()
    for key in (*grant.reads, *grant.writes)
) - {"captions"}
"""An installation's folders in its bucket. Below captions/ only digests lead to anything, and
people may store theirs there.
"""
_MOST = 1000
"""The maximum number of files for the captions of a checkpoint."""


class CheckpointBucket(SourceObjects, Protocol):
    """A bucket with checkpoints, and with markers beside them."""

    async def keys(self, prefix: str) -> list[str]:
        """The keys that begin with a prefix. Raises StoreUnavailable."""
        ...

    async def put(self, key: str, data: bytes) -> None:
        """Store an object. Raises StoreUnavailable."""
        ...

    async def delete(self, key: str) -> None:
        """Delete an object, if it exists. Raises StoreUnavailable."""
        ...

    async def close(self) -> None:
        """Close its connections."""
        ...


class BucketCaptions:
    """Fetches the captions of checkpoints from buckets, which `open_bucket` opens by name.

    `own_bucket` is the installation's: the objects that it stores there belong to other callers,
    too.
    """

    def __init__(
        self, open_bucket: Callable[[str], CheckpointBucket], own_bucket: str = ""
    ) -> None:
        self._open, self._own_bucket = open_bucket, own_bucket

    @asynccontextmanager
    async def fetched(self, checkpoint: CheckpointRevision) -> AsyncIterator[CheckpointRevision]:
        """The checkpoint with a folder on this machine as its source, for the duration of the
        context. An empty folder means that the source is gone.

        Raises InvalidInput for a source that is not in a bucket, or is too large; errors about its
        files name the source. Raises BackendUnavailable for a bucket that does not answer.
        """
        source = checkpoint.source
        bucket, _, key = source.removeprefix(_SCHEME).partition("/")
        if not source.startswith(_SCHEME) or not bucket:
            message = (
                "an installation cannot read it: expected the captions at s3://BUCKET/KEY, in a "
                "bucket of its store"
            )
            raise InvalidInput(message, file=source)
        if bucket == self._own_bucket and not _is_foreign(key):
            raise InvalidInput("the installation keeps its own objects there", file=source)
        objects = self._open(bucket)
        try:
            with temporary_folder("caliper-captions-") as folder:
                place = await self._fetch(objects, checkpoint, key, folder)
                try:
                    yield replace(checkpoint, source=str(place), is_digest=False)
                except InvalidInput as error:
                    there = error.file.replace(str(place), source.rstrip("/"))
                    raise InvalidInput(
                        error.message, file=there, line=error.line, field=error.field
                    ) from error
        finally:
            await objects.close()

    async def _fetch(
        self, objects: CheckpointBucket, checkpoint: CheckpointRevision, key: str, folder: Path
    ) -> Path:
        try:
            etag = await objects.version(key) if key and key[-1] != "/" else None
            if etag is not None:
                return await self._fetch_object(objects, checkpoint, (key, etag), folder)
            prefix = key if not key or key[-1] == "/" else f"{key}/"
            keys = [each for each in await objects.keys(prefix) if each.endswith(SUFFIXES)]
            if len(keys) > _MOST:
                raise InvalidInput(f"more than {_MOST:,} files", file=checkpoint.source)
            for each in keys:
                await self._save(objects, each, folder, each.removeprefix(prefix))
        except StoreUnavailable as error:
            # Somebody named this bucket: it must not stop the evaluation of others.
            raise BackendUnavailable(str(error)) from error
        return folder

    async def _fetch_object(
        self,
        objects: CheckpointBucket,
        checkpoint: CheckpointRevision,
        version: tuple[str, str],
        folder: Path,
    ) -> Path:
        key, etag = version
        # The revision of an object announced by a bucket is its ETag.
        if _ETAG.fullmatch(checkpoint.revision) and checkpoint.revision != etag:
            return folder
        return await self._save(objects, key, folder, key.rpartition("/")[2])

    async def _save(self, objects: CheckpointBucket, key: str, folder: Path, name: str) -> Path:
        file = folder / name
        if ".." in file.parts or not file.is_relative_to(folder):
            raise InvalidInput("not usable as a file name", file=key)
        data = await objects.get(key, LARGEST)
        if data is not None:
            try:
                await asyncio.to_thread(_write, file, data)
            except OSError as error:
                # Too long, or both a file and a folder.
                message = f"cannot be a file: {error.strerror}"
                raise InvalidInput(message, file=key) from error
        return file


def _is_foreign(key: str) -> bool:
    """Whether an installation stores nothing of its own below a key."""
    # Stores and clients may treat keys as equal that differ in these.
    names = [name for name in key.split("/") if name not in ("", ".")]
    return bool(names) and ".." not in names and names[0] not in _OWN


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def is_empty(place: Path) -> bool:
    """Whether nothing was fetched."""
    return place.is_dir() and not any(place.iterdir())
