"""Receives datasets: one file or medium at a time waits on disk until its digest is compared."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from caliper.adapters.wire.text import from_wire
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput, within
from caliper.core.owners import Owner
from caliper.pipeline.store.dataset_uploads import DatasetManifest, DatasetUpload
from caliper.pipeline.store.disk_spill import temporary_folder
from caliper.pipeline.store.owners import Ownership
from caliper.pipeline.store.supplies import Admit
from caliper.ports.storage import ObjectStore
from caliper.serving.partial_contents import PartialContent, PartialContents
from caliper.serving.threads import finish_in_thread
from caliper.serving.uploads import UploadRoom, Uploads

_CANCELLED_WITHIN = 0.2
"""Seconds. Measured: 0.2 ms."""


async def receive_dataset(
    store: ObjectStore,
    uploads: Uploads,
    requests: AsyncIterator[pb.UploadDatasetRequest],
    ownership: Ownership | None = None,
    admit: Admit | None = None,
) -> pb.UploadDatasetResponse:
    """Store the contents that one stream brings of a dataset, as far as `admit` allows. With
    `ownership`, its name belongs to the caller.

    Raises InvalidInput naming the request's field, what DatasetUpload raises, BackendOverloaded if
    other uploads leave no room.
    """
    with temporary_folder("caliper-dataset-") as folder, uploads.room() as room:
        make = partial(DatasetUpload, store, ownership=ownership, admit=admit)
        upload = await _begun(requests, make)
        owner = None if ownership is None else ownership.caller
        contents = _Contents(upload, uploads.partial, owner, folder / "content", room)
        try:
            await _receive(upload, requests, contents)
        except InvalidInput:
            raise
        except BaseException:
            # The stream broke off, or the call took too long.
            contents.keep()
            raise
        missing = await upload.finish()
        partials = map(contents.partial, missing)
        return pb.UploadDatasetResponse(
            dataset=upload.digest,
            missing=missing,
            partial=(each for each in partials if each.offset),
        )


async def _receive(
    upload: DatasetUpload, requests: AsyncIterator[pb.UploadDatasetRequest], contents: _Contents
) -> None:
    async for request in requests:
        part = request.WhichOneof("part")
        if part == "medium" and not contents.begun:
            _announce(upload, request.medium)
        elif part == "content" and (request.content.sha256 or contents.begun):
            if request.content.sha256:
                await contents.put()
                contents.begin(request.content)
            await contents.add(request.content.data)
        else:
            message = "expected one header, then media, then content that names its SHA-256"
            raise InvalidInput(message, field=part or "header")
    try:
        await contents.put()
    except InvalidInput:
        # gRPC ends the requests of a broken link first, and then cancels the call.
        await asyncio.sleep(_CANCELLED_WITHIN)
        raise


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


class _Contents:
    """The contents of one stream, one after the other in a temporary `file`."""

    def __init__(
        self,
        upload: DatasetUpload,
        partial_contents: PartialContents,
        owner: Owner | None,
        file: Path,
        room: UploadRoom,
    ) -> None:
        self._upload, self._partial, self._owner = upload, partial_contents, owner
        self._file, self._room = file, room
        self._sha256 = ""
        self._content = PartialContent(file)

    @property
    def begun(self) -> bool:
        """Whether a content has begun."""
        return self._sha256 != ""

    def begin(self, first: pb.DatasetContent) -> None:
        """Begin a content, or go on with one. Raises InvalidInput naming the field."""
        try:
            self._upload.keys(first.sha256)
        except InvalidInput as error:
            raise within("content", error) from error
        key = (self._owner, first.sha256)
        if first.offset == 0:
            self._partial.drop(key)
        elif first.offset != (offset := self._partial.offset(key)):
            raise InvalidInput(f"expected {offset}", field="content.offset")
        self._content = self._partial.take(key, self._file) or PartialContent(self._file)
        self._sha256 = first.sha256
        self._room.add(self._content.size, "content.data")

    async def add(self, data: bytes) -> None:
        """Write the next bytes."""
        self._room.add(len(data), "content.data")
        # Megabytes, and disks may be slow: in a thread, they do not block the event loop.
        # A call may end meanwhile: only after that is its folder removed.
        await finish_in_thread(partial(self._write, data))

    def _write(self, data: bytes) -> None:
        with self._file.open("ab") as stream:
            stream.write(data)
        self._content.hash.update(data)
        self._content.size += len(data)

    async def put(self) -> None:
        """Store the content, and give its room back. Raises InvalidInput if its digest is another
        than announced.
        """
        if not self.begun:
            return
        if (digest := self._content.hash.hexdigest()) != self._sha256:
            message = f"expected bytes whose SHA-256 is {self._sha256}, found {digest}"
            raise InvalidInput(message, field="content.data")
        await self._upload.put(self._sha256, self._file)
        self._file.unlink()
        self._sha256, self._content = "", PartialContent(self._file)
        self._room.clear()

    def keep(self) -> None:
        """Keep the received part of an interrupted content, if the disk allows it."""
        self._room.clear()
        with suppress(OSError):
            # A full disk may have written part of a message.
            if self.begun and self._file.stat().st_size == self._content.size:
                self._partial.keep((self._owner, self._sha256), self._content)

    def partial(self, sha256: str) -> pb.PartialContent:
        """The received part of an interrupted content."""
        return pb.PartialContent(sha256=sha256, offset=self._partial.offset((self._owner, sha256)))
