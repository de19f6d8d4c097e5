"""Receives uploads of captions and datasets, which wait on disk until they are complete."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from caliper.adapters.wire.text import from_wire
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import BackendOverloaded, InvalidInput
from caliper.pipeline.store.disk_spill import SpilledTexts
from caliper.serving.adhoc import LONGEST_CAPTION
from caliper.serving.calls import viewer
from caliper.serving.partial_contents import PartialContents

UPLOAD_BYTES = 1 << 29
"""The most bytes of an upload."""
TEAM_BYTES, ALL_UPLOADS_BYTES = 2 << 29, 3 << 29
"""The most bytes of a team's uploads, and of all uploads, being received."""


class UploadRoom:
    """The bytes that one upload has on disk."""

    def __init__(self, uploads: Uploads) -> None:
        self._uploads, self._size = uploads, 0
        caller = viewer()
        self._team = "" if caller is None else caller.owner.team

    def add(self, length: int, field: str) -> None:
        """Take room for more bytes. Raises InvalidInput naming `field` if they are too many,
        BackendOverloaded if other uploads leave no room.
        """
        uploads, usage = self._uploads, self._uploads.usage
        self._size += length
        # Interrupted uploads make room for active ones.
        uploads.partial.shrink(uploads.together - usage.total() - length)
        usage[self._team] += length
        if self._size > uploads.each:
            raise InvalidInput(f"more than {uploads.each:,} bytes in all", field=field)
        if usage.total() > uploads.together or (self._team and usage[self._team] > uploads.of_team):
            raise BackendOverloaded("too much is being uploaded; try again later")

    def clear(self) -> None:
        """Give the room back."""
        self._uploads.usage[self._team] -= self._size
        self._size = 0


class Uploads:
    """The uploads of a service, with the most bytes on disk: of `each`, those `of_team`, and all
    `together`. `usage` is the bytes of each team. `partial` are interrupted contents, which count
    among `together`.
    """

    def __init__(
        self,
        each: int = UPLOAD_BYTES,
        together: int = ALL_UPLOADS_BYTES,
        of_team: int = TEAM_BYTES,
    ) -> None:
        self.each, self.together, self.of_team = each, together, of_team
        self.usage = Counter[str]()
        self.partial = PartialContents(each)

    @contextmanager
    def room(self) -> Iterator[UploadRoom]:
        """The room of one upload, which is given back at the end of the context."""
        room = UploadRoom(self)
        try:
            yield room
        finally:
            room.clear()

    @asynccontextmanager
    async def receive(
        self, requests: AsyncIterator[pb.UploadCaptionsRequest]
    ) -> AsyncIterator[SpilledTexts]:
        """Receive the captions of one upload; they count until the end of the context.

        Raises InvalidInput naming the request's field, BackendOverloaded if other uploads leave no
        room.
        """
        captions = SpilledTexts()
        with self.room() as room:
            async for request in _captions(requests):
                sample, text = _caption(request.caption)
                if sample in captions:
                    raise InvalidInput(
                        f"a second caption of {sample!r:.100}", field="caption.sample"
                    )
                room.add(request.ByteSize(), "caption")
                captions.update([(sample, text)])
            if not captions:
                raise InvalidInput("no captions", field="caption")
            yield captions


async def _captions(
    requests: AsyncIterator[pb.UploadCaptionsRequest],
) -> AsyncIterator[pb.UploadCaptionsRequest]:
    """The requests after the header, each with a caption. Raises InvalidInput."""
    has_header = False
    async for request in requests:
        if has_header != (request.WhichOneof("part") == "caption"):
            raise InvalidInput("expected one header, and then captions", field="header")
        if has_header:
            yield request
        else:
            _check_header(request.header)
            has_header = True
    if not has_header:
        raise InvalidInput("no captions", field="header")


def _check_header(header: pb.UploadHeader) -> None:
    try:
        benchmark(header.benchmark)
    except InvalidInput as error:
        raise InvalidInput(error.message, field="header.benchmark") from error


def _caption(caption: pb.UploadedCaption) -> tuple[str, str]:
    if not caption.sample:
        raise InvalidInput("expected the name of a sample", field="caption.sample")
    if len(caption.text) > LONGEST_CAPTION:
        raise InvalidInput(f"longer than {LONGEST_CAPTION:,} characters", field="caption.text")
    return from_wire(caption.sample), from_wire(caption.text)
