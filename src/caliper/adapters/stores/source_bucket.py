"""A bucket that others write, under whatever keys."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from typing import TypeVar

from minio import S3Error

from caliper.adapters.keys import check_size
from caliper.adapters.stores.access import StoreAccess
from caliper.adapters.stores.minio import MISSING_CODES
from caliper.adapters.stores.s3_errors import translate_errors

_Result = TypeVar("_Result")


class SourceBucket:
    """pipeline.suites.notifications.SourceObjects in an existing bucket."""

    def __init__(self, access: StoreAccess) -> None:
        self._connections = access.connections()
        self._client = access.client(self._connections)
        self._bucket = access.bucket

    async def version(self, key: str) -> str | None:
        """The object's ETag."""
        return await self._call(lambda: self._client.stat_object(self._bucket, key).etag)

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        """The object's bytes."""
        size = None if max_bytes is None else max_bytes + 1
        return check_size(key, await self._call(lambda: self._read(key, size)), max_bytes)

    async def put(self, key: str, data: bytes) -> None:
        """Store an object. Raises StoreUnavailable."""
        put, size = self._client.put_object, len(data)
        await self._call(lambda: put(self._bucket, key, io.BytesIO(data), size))

    async def delete(self, key: str) -> None:
        """Delete an object, if it exists. Raises StoreUnavailable."""
        await self._call(lambda: self._client.remove_object(self._bucket, key))

    async def keys(self, prefix: str) -> list[str]:
        """The keys that begin with a prefix. Raises StoreUnavailable."""
        return await self._call(lambda: self._names(prefix)) or []

    async def close(self) -> None:
        """Close the connections."""
        self._connections.clear()

    async def _call(self, work: Callable[[], _Result]) -> _Result | None:
        def attempt() -> _Result | None:
            try:
                return work()
            except S3Error as error:
                if error.code not in MISSING_CODES:
                    raise
                return None

        return await asyncio.to_thread(translate_errors, attempt, self._bucket)

    def _names(self, prefix: str) -> list[str]:
        objects = self._client.list_objects(self._bucket, prefix=prefix, recursive=True)
        return [each.object_name for each in objects if each.object_name]

    def _read(self, key: str, size: int | None) -> bytes:
        response = self._client.get_object(self._bucket, key)
        try:
            return response.read(size)
        finally:
            response.close()
            response.release_conn()
