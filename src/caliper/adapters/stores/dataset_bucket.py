"""Datasets in buckets, copied into a folder per state of the bucket."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from caliper.adapters.files import open_replacement
from caliper.adapters.stores.access import StoreAccess
from caliper.adapters.stores.s3_errors import translate_errors
from caliper.adapters.transfers import MEDIA_SUFFIXES, check_room
from caliper.core.errors import InvalidInput
from caliper.ports.data_sources import Transferred

if TYPE_CHECKING:
    from minio import Minio

_CHUNK = 1 << 20
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/|$)")


@dataclass(frozen=True, slots=True)
class _Entry:
    key: str
    path: str
    size: int
    etag: str


@dataclass(frozen=True, slots=True)
class DatasetBuckets:
    """ports.data_sources.DataSource of the buckets that `access` reaches, whatever its own is.

    Copies are kept in `folder`; a dataset of more than `most_bytes` is refused.
    """

    folder: Path
    most_bytes: int
    access: StoreAccess

    def pinned(self, name: str) -> str:
        if not _BUCKET.match(name):
            # It is not repeated: it may hold a secret.
            raise InvalidInput("expected a bucket's name, as in s3://bucket/prefix")
        return name

    def fetch(self, name: str, transferred: Transferred, *, media: bool) -> Path:
        bucket, _, prefix = name.partition("/")
        access = replace(self.access, bucket=bucket)
        connections = access.connections()
        client = access.client(connections)
        try:
            return translate_errors(
                lambda: self._fetch(client, bucket, prefix.strip("/"), transferred, media=media),
                bucket,
            )
        finally:
            connections.clear()

    def _fetch(
        self, client: Minio, bucket: str, prefix: str, transferred: Transferred, *, media: bool
    ) -> Path:
        name = f"s3://{bucket}/{prefix}"
        entries = _entries(client, bucket, prefix, name)
        state = sha256(repr((self.access.url, bucket, prefix, entries)).encode()).hexdigest()
        copy = self.folder / bucket / state[:32]
        objects = [
            each for each in entries if media or not each.path.lower().endswith(MEDIA_SUFFIXES)
        ]
        if not objects:
            raise InvalidInput("there are no such objects", file=name)
        missing = [each for each in objects if not (copy / each.path).is_file()]
        total = sum(each.size for each in objects)
        done = total - sum(each.size for each in missing)
        check_room(name, copy, total, done, self.most_bytes)
        for entry in missing:
            # An object that was replaced meanwhile belongs to another state.
            unchanged: dict[str, str | list[str] | tuple[str]] = {"If-Match": f'"{entry.etag}"'}
            response = client.get_object(bucket, entry.key, request_headers=unchanged)
            try:
                with open_replacement(copy / entry.path) as file:
                    while chunk := response.read(_CHUNK):
                        file.write(chunk)
                        done += len(chunk)
                        transferred(done, total)
            finally:
                response.close()
                response.release_conn()
        only = entries[0].path if entries[0].key == prefix else ""
        return copy / only


def _entries(client: Minio, bucket: str, prefix: str, name: str) -> list[_Entry]:
    """The objects below a prefix, or the one of that name."""
    entries = []
    for each in client.list_objects(bucket, prefix=prefix, recursive=True):
        key = each.object_name or ""
        if key == prefix:
            path = PurePosixPath(key).name
        elif not prefix or key.startswith(f"{prefix}/"):
            path = key.removeprefix(f"{prefix}/") if prefix else key
        else:
            continue
        if not path or path.endswith("/"):
            # A folder, as some tools make them.
            continue
        # Two of them could be one file.
        if not {"", ".", ".."}.isdisjoint(path.split("/")):
            raise InvalidInput(f"not a path below it: {key!r:.80}", file=name)
        entries.append(_Entry(key, path, each.size or 0, each.etag or ""))
    return entries
