"""Receives datasets: one file or medium at a time waits on disk until its digest is compared."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

from caliper.adapters.wire.text import from_wire
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput, within
from caliper.pipeline.store.dataset_uploads import DatasetManifest, DatasetUpload
from caliper.pipeline.store.disk_spill import temporary_folder
from caliper.pipeline.store.owners import Ownership
from caliper.pipeline.store.supplies import Admit
from caliper.ports.storage import ObjectStore
from caliper.serving.uploads import UploadRoom, Uploads


async def receive_dataset(
    store: ObjectStore,
    uploads: Uploads,
    requests: AsyncIterator[pb.UploadDatasetRequest],
    ownership: Ownership | None = None,
    admit: Admit | None = None,
) -> pb.UploadDatasetResponse:
    """Store what one stream brings of a dataset, as far as `admit` lets it. With `ownership` its
    name is the caller's.

    Raises InvalidInput naming the request's field, what DatasetUpload raises, BackendOverloaded if
    other uploads leave no room.
    """
    with temporary_folder("caliper-dataset-") as folder, uploads.room() as room:
        make = partial(DatasetUpload, store, ownership=ownership, admit=admit)
        upload = await _begun(requests, make)
        content: _Content | None = None
        async for request in requests:
            part = request.WhichOneof("part")
            if part == "medium" and content is None:
                _announce(upload, request.medium)
            elif part == "content" and request.content.sha256:
                await _put(upload, content)
                content = _begin_content(upload, request.content, folder, room)
                await content.add(request.content.data)
            elif part == "content" and content is not None:
                await content.add(request.content.data)
            else:
                message = "expected one header, then media, then content that names its SHA-256"
                raise InvalidInput(message, field=part or "header")
        await _put(upload, content)
        return pb.UploadDatasetResponse(dataset=upload.digest, missing=await upload.finish())


async def _begun(
    requests: AsyncIterator[pb.UploadDatasetRequest],
    make: Callable[[DatasetManifest], DatasetUpload],
) -> DatasetUpload:
    first = await anext(requests, None)
    if first is None or first.WhichOneof("part") != "header":
        raise InvalidInput("expected a header first", field="header")
    try:
        upload = make(_manifest(first.header))
    except InvalidInput as error:
        raise within("header", error) from error
    await upload.begin()
    return upload


def _manifest(header: pb.DatasetHeader) -> DatasetManifest:
    name = benchmark(header.benchmark).name
    files = {from_wire(file.name): file.sha256 for file in header.files}
    if len(files) < len(header.files):
        raise InvalidInput("two files with one name", field="files.name")
    return DatasetManifest(name, files, header.folder, header.replies, header.name)


def _announce(upload: DatasetUpload, medium: pb.DatasetFile) -> None:
    try:
        upload.announce(from_wire(medium.name), medium.sha256)
    except InvalidInput as error:
        raise within("medium", error) from error


class _Content:
    """The bytes of one file or medium in a temporary file."""

    def __init__(self, file: Path, sha256: str, room: UploadRoom) -> None:
        self.file, self.sha256 = file, sha256
        self._room, self._hash = room, hashlib.sha256()

    async def add(self, data: bytes) -> None:
        self._room.add(len(data), "content.data")
        # Megabytes, and disks may be slow: in a thread, they do not block the event loop.
        writing = asyncio.ensure_future(asyncio.to_thread(self._write, data))
        try:
            await asyncio.shield(writing)
        finally:
            # Also for a call that ends meanwhile, whose folder is then removed.
            await asyncio.wait([writing])

    def _write(self, data: bytes) -> None:
        self._hash.update(data)
        with self.file.open("ab") as stream:
            stream.write(data)

    def clear(self) -> None:
        self.file.unlink()
        self._room.clear()

    def check(self) -> None:
        """Raise InvalidInput if these are other bytes than those of the digest."""
        if (found := self._hash.hexdigest()) != self.sha256:
            message = f"expected bytes whose SHA-256 is {self.sha256}, found {found}"
            raise InvalidInput(message, field="content.data")


def _begin_content(
    upload: DatasetUpload, first: pb.DatasetContent, folder: Path, room: UploadRoom
) -> _Content:
    try:
        upload.keys(first.sha256)
    except InvalidInput as error:
        raise within("content", error) from error
    return _Content(folder / "content", first.sha256, room)


async def _put(upload: DatasetUpload, content: _Content | None) -> None:
    """Store the bytes once they are those of the digest, and give their room back."""
    if content is not None:
        content.check()
        await upload.put(content.sha256, content.file)
        content.clear()
