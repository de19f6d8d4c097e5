"""A bucket that others write, under whatever keys."""

from __future__ import annotations

from caliper.adapters.keys import check_size
from caliper.adapters.stores.minio import MinioStore


class SourceBucket(MinioStore):
    """pipeline.suites.notifications.SourceObjects: as `MinioStore`, but keys may be any."""

    async def version(self, key: str) -> str | None:
        """The object's ETag."""
        return await self._call(lambda: self._version(key))

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        """The object's bytes."""
        size = None if max_bytes is None else max_bytes + 1
        return check_size(key, await self._call(lambda: self._read(key, size)), max_bytes)
