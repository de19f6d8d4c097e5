"""Storage without room for another byte: MinIO's bucket, and the disk of every service."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from minio.credentials import StaticProvider
from minio.minioadmin import MinioAdmin
from tests.fakes.separate import Installation

_UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


@contextmanager
def full_bucket(there: Installation) -> Iterator[None]:
    """MinIO has no room for another byte of the bucket."""
    parts = urlsplit(there.ground.minio)
    admin = MinioAdmin(
        endpoint=f"{parts.hostname}:{parts.port}",
        credentials=StaticProvider(parts.username or "", parts.password or ""),
        secure=False,
    )
    admin.bucket_quota_set(there.ground.bucket, 1)
    try:
        yield
    finally:
        admin.bucket_quota_clear(there.ground.bucket)


@contextmanager
def longest_file(size: int) -> Iterator[None]:
    """This process cannot write a file beyond `size` bytes, as on a disk that is full then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def full_disk(there: Installation) -> Iterator[None]:
    """No service that runs now can write another byte to a file."""
    pids = list[int]()
    for service in there.services.values():
        with suppress(RuntimeError):
            pids.append(service.pid)
    for pid in pids:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, _UNLIMITED)
