"""Sends a dataset to a gateway: first its description, then the content that is missing there."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from caliper.adapters.wire.text import to_wire
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.core.errors import (
    BackendError,
    BackendTimeout,
    BackendUnavailable,
    InvalidInput,
)
from caliper.pipeline.store.supplies import Parcel

_CHUNK = 1 << 20
_BATCH = 256 << 20
"""About so many bytes of content go with one call, whose time is limited."""

_BROKEN_OFF = (BackendError, BackendTimeout, BackendUnavailable)
"""The errors of calls that may get further when they are made again."""

Parts = Callable[[], Iterator[pb.UploadDatasetRequest]]
Send = Callable[[Parts], Awaitable[pb.UploadDatasetResponse]]
"""Makes one call of UploadDataset, with the messages of the iterator."""


async def send_dataset(
    parcel: Parcel, name: str, ask: Send, send: Send, progress: Callable[[int], None]
) -> None:
    """Push a dataset, as NAME@VERSION or without a name if that is empty. `progress` is called with
    the sizes of files and media as they are there. `ask` makes the calls without contents.

    Raises InvalidInput for a file that cannot be read, or that changes meanwhile; what `ask` and
    `send` raise, and BackendUnavailable if the gateway lost what it was sent.
    """
    outline = _Outline(parcel, name)
    await asyncio.to_thread(outline.read)
    response = await ask(partial(outline.parts, outline.media, {}))
    if response.dataset != parcel.digest:
        raise InvalidInput("changed while it was pushed", file=str(parcel.files[0]))
    missing = set(response.missing)
    progress(sum(size for sha256, size in outline.sizes.items() if sha256 not in missing))
    # The files come last: with them the dataset is complete.
    digests = dict.fromkeys((*outline.media.values(), *outline.files.values()))
    begun = {each.sha256: each.offset for each in response.partial}
    for batch in outline.batches([sha256 for sha256 in digests if sha256 in missing]):
        left = {sha256: begun.get(sha256, 0) for sha256 in batch}
        await _send_batch(outline, left, ask, send)
        progress(sum(outline.sizes[sha256] for sha256 in batch))


async def _send_batch(outline: _Outline, left: dict[str, int], ask: Send, send: Send) -> None:
    """Send contents, each from its offset on. After a call that ends early, because a link is slow
    or breaks, another one follows as long as calls make progress; after one without progress, a
    call with the first content alone.
    """
    batch, again = {*left}, False
    paths = [path for path, sha256 in outline.media.items() if sha256 in batch]
    while left:
        some = dict([next(iter(left.items()))]) if again else left
        try:
            response = await send(partial(outline.parts, paths, some))
        except BackendError as error:
            if type(error) not in _BROKEN_OFF:
                raise
            response = await _ask_after_break(ask, partial(outline.parts, paths, {}))
            offsets = {each.sha256: each.offset for each in response.partial}
            missing = {each: offsets.get(each, 0) for each in left if each in response.missing}
            stands = len(missing) == len(left) and sum(missing.values()) <= sum(left.values())
            # A refusal while sending may be explained only to a second call, and a gateway may
            # notice late that a link broke.
            if stands and again:
                raise
            left, again = missing, stands
            continue
        if not some.keys().isdisjoint(response.missing):
            raise BackendUnavailable("the gateway lost the pushed data; push it again")
        left, again = {each: left[each] for each in left if each not in some}, False


async def _ask_after_break(ask: Send, parts: Parts) -> pb.UploadDatasetResponse:
    """What `ask` returns. That a link broke may be told to the next call over it as well."""
    try:
        return await ask(parts)
    except BackendUnavailable:
        return await ask(parts)


class _Outline:
    """The contents of a dataset: the SHA-256 of its files by name, and of its media by path."""

    def __init__(self, parcel: Parcel, name: str) -> None:
        self._parcel, self._name = parcel, name
        self.files: dict[str, str] = {}
        self.media: dict[str, str] = {}
        self._places: dict[str, Path] = {}
        self.sizes = Counter[str]()

    def read(self) -> None:
        """Read all files. Raises InvalidInput naming one that cannot be read."""
        self.files = {file.name: self._add(file) for file in self._parcel.files}
        self.media = {path: self._add(file) for path, file in self._parcel.media.items()}

    def _add(self, file: Path) -> str:
        try:
            with file.open("rb") as stream:
                sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
                self.sizes[sha256] += stream.tell()
        except OSError as error:
            raise _unreadable(file, error) from error
        self._places[sha256] = file
        return sha256

    def batches(self, digests: Iterable[str]) -> Iterator[list[str]]:
        """The digests in groups, in their order. The content of a group goes with one call."""
        batch, size = list[str](), 0
        for sha256 in digests:
            batch.append(sha256)
            size += self.sizes[sha256]
            if size >= _BATCH:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def parts(
        self, paths: Iterable[str], contents: Mapping[str, int]
    ) -> Iterator[pb.UploadDatasetRequest]:
        """The messages of one call: about the media with these paths, and with these contents, each
        from its offset on. Raises InvalidInput naming a file that cannot be read any more.
        """
        parcel = self._parcel
        header = pb.DatasetHeader(
            benchmark=parcel.benchmark,
            name=self._name,
            files=[_file(name, sha256) for name, sha256 in self.files.items()],
            folder=parcel.folder,
            replies=parcel.replies,
        )
        yield pb.UploadDatasetRequest(header=header)
        for path in paths:
            yield pb.UploadDatasetRequest(medium=_file(path, self.media[path]))
        for sha256, offset in contents.items():
            for content in _content(self._places[sha256], sha256, offset):
                yield pb.UploadDatasetRequest(content=content)


def _content(file: Path, sha256: str, offset: int) -> Iterator[pb.DatasetContent]:
    try:
        with file.open("rb") as stream:
            stream.seek(offset)
            yield pb.DatasetContent(sha256=sha256, offset=offset, data=stream.read(_CHUNK))
            while data := stream.read(_CHUNK):
                yield pb.DatasetContent(data=data)
    except OSError as error:
        raise _unreadable(file, error) from error


def _unreadable(file: Path, error: OSError) -> InvalidInput:
    return InvalidInput(f"cannot read it: {error.strerror}", file=str(file))


def _file(name: str, sha256: str) -> pb.DatasetFile:
    return pb.DatasetFile(name=to_wire(name), sha256=sha256)
