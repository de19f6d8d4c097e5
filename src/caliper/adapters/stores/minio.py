"""The object store on MinIO or any other S3 endpoint (the SDK blocks and runs in threads)."""

from __future__ import annotations

import asyncio
import io
import shutil
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from minio.datatypes import Object
from minio.deleteobjects import DeleteObject
from minio.error import S3Error
from urllib3 import BaseHTTPResponse

from caliper.adapters.keys import check_key, check_prefix, check_size
from caliper.adapters.stores.access import CONCURRENCY, StoreAccess
from caliper.adapters.stores.s3_errors import translate_errors
from caliper.core.errors import StoreUnavailable

_PAGE = 1000
MISSING_CODES = frozenset({"NoSuchKey", "XMinioParentIsObject", "InvalidRange"})
_CONFLICT_CODES = frozenset({"PreconditionFailed", "ConditionalRequestConflict", "NoSuchKey"})

_Result = TypeVar("_Result")


class MinioStore:
    """ports.storage.ObjectStore in an existing bucket: see `bucket.apply_storage`.

    An invalid key raises InvalidInput. A `put` that raises StoreUnavailable may have stored the
    object nevertheless: the server did not answer in time.
    """

    def __init__(self, access: StoreAccess) -> None:
        self._connections = access.connections()
        self._client = access.client(self._connections)
        self._bucket = access.bucket
        self._threads = ThreadPoolExecutor(CONCURRENCY, thread_name_prefix="store")

    async def put(self, key: str, data: bytes | Path) -> None:
        name = check_key(key)
        await self._call(lambda: self._put(name, data))

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        name = check_key(key)
        data = await self._call(
            lambda: self._read(name, None if max_bytes is None else max_bytes + 1)
        )
        return check_size(key, data, max_bytes)

    async def version(self, key: str) -> str | None:
        name = check_key(key)
        return await self._call(lambda: self._version(name))

    async def replace(self, key: str, data: bytes | Path, version: str | None) -> str | None:
        name = check_key(key)
        return await self._call(lambda: self._replace(name, data, version))

    async def get_file(self, key: str, file: Path) -> bool:
        name = check_key(key)
        return await self._call(lambda: self._write(name, file))

    async def get_range(self, key: str, first: int, length: int) -> bytes | None:
        name = check_key(key)
        return await self._call(lambda: self._read(name, None, first, length))

    async def size(self, key: str) -> int | None:
        name = check_key(key)
        stat = await self._call(lambda: self._stat(name))
        return None if stat is None else stat.size

    async def delete(self, *keys: str) -> None:
        names = [DeleteObject(check_key(key)) for key in keys]
        await self._call(lambda: self._delete(names))

    async def list(self, prefix: str) -> AsyncIterator[str]:
        names = self._names(check_prefix(prefix))
        while page := await self._call(lambda: tuple(islice(names, _PAGE))):
            for name in page:
                yield name

    async def close(self) -> None:
        """Wait for running calls, end the threads and close the connections."""
        await asyncio.to_thread(self._threads.shutdown)
        self._connections.clear()

    async def _call(self, work: Callable[[], _Result]) -> _Result:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._threads, lambda: translate_errors(work, self._bucket)
        )

    def _put(self, name: str, data: bytes | Path) -> None:
        if isinstance(data, Path):
            # One part at a time: parallel uploads would hold a whole report in memory.
            self._client.fput_object(self._bucket, name, str(data), num_parallel_uploads=1)
        else:
            self._client.put_object(self._bucket, name, io.BytesIO(data), len(data))

    def _delete(self, names: Sequence[DeleteObject]) -> None:
        for error in self._client.remove_objects(self._bucket, names):
            if error.code not in MISSING_CODES:
                raise StoreUnavailable(f"bucket {self._bucket}: {error.code}: {error.message}")

    def _version(self, name: str) -> str | None:
        stat = self._stat(name)
        return None if stat is None else stat.etag

    def _stat(self, name: str) -> Object | None:
        try:
            return self._client.stat_object(self._bucket, name)
        except S3Error as error:
            if error.code not in MISSING_CODES:
                raise
            return None

    def _replace(self, name: str, data: bytes | Path, version: str | None) -> str | None:
        content = data if isinstance(data, bytes) else data.read_bytes()
        condition: dict[str, Any] = (
            {"If-None-Match": "*"} if version is None else {"If-Match": f'"{version}"'}
        )
        try:
            # SLF001: no public method of the SDK sends a condition.
            result = self._client._put_object(self._bucket, name, content, condition)  # noqa: SLF001
        except S3Error as error:
            if error.code not in _CONFLICT_CODES:
                raise
        else:
            return result.etag
        # A retry finds what the first try wrote.
        current = self._version(name)
        return current if self._read(name, None) == content else None

    def _read(self, name: str, size: int | None, first: int = 0, length: int = 0) -> bytes | None:
        """The first `size` bytes, None for all, of an object or of its part: offset, length."""
        with self._response(name, first, length) as response:
            return None if response is None else response.read(size)

    def _write(self, name: str, file: Path) -> bool:
        with self._response(name, 0, 0) as response:
            if response is None:
                return False
            with file.open("wb") as target:
                shutil.copyfileobj(response, target)
        return True

    @contextmanager
    def _response(self, name: str, first: int, length: int) -> Iterator[BaseHTTPResponse | None]:
        """The response to a GET, None if the object does not exist."""
        try:
            response = self._client.get_object(self._bucket, name, first, length)
        except S3Error as error:
            if error.code not in MISSING_CODES:
                raise
            yield None
            return
        try:
            yield response
        finally:
            response.close()
            response.release_conn()

    def _names(self, prefix: str) -> Iterator[str]:
        for entry in self._client.list_objects(self._bucket, prefix=prefix, recursive=True):
            if entry.object_name is not None:
                yield entry.object_name
