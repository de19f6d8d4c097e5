"""Receives uploads of captions, which wait on disk until they are complete."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from caliper.adapters.wire.text import from_wire
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import BackendOverloaded, InvalidInput
from caliper.pipeline.store.disk_spill import SpilledTexts
from caliper.serving.adhoc import LONGEST_CAPTION

UPLOAD_BYTES = 1 << 29
"""The most bytes of an upload."""
ALL_UPLOADS_BYTES = 3 << 29
"""The most bytes of all uploads being received: more than one caller may have in flight."""


class Uploads:
    """The uploads of a service: `each` of them, and `together` all, have so many bytes at most."""

    def __init__(self, each: int = UPLOAD_BYTES, together: int = ALL_UPLOADS_BYTES) -> None:
        self._each, self._together = each, together
        self._held = 0

    @asynccontextmanager
    async def receive(
        self, requests: AsyncIterator[pb.UploadCaptionsRequest]
    ) -> AsyncIterator[SpilledTexts]:
        """Receive the captions of one upload; they count until the end of the context.

        Raises InvalidInput naming the request's field, BackendOverloaded if other uploads leave no
        room.
        """
        captions, size = SpilledTexts(), 0
        try:
            async for request in _captions(requests):
                sample, text = _caption(request.caption)
                if sample in captions:
                    raise InvalidInput(
                        f"a second caption of {sample!r:.100}", field="caption.sample"
                    )
                length = request.ByteSize()
                size, self._held = size + length, self._held + length
                if size > self._each:
                    raise InvalidInput(f"more than {self._each} bytes in all", field="caption")
                if self._held > self._together:
                    raise BackendOverloaded("too many captions are being uploaded; try again later")
                captions.update([(sample, text)])
            if not captions:
                raise InvalidInput("no captions", field="caption")
            yield captions
        finally:
            self._held -= size


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
        raise InvalidInput(f"longer than {LONGEST_CAPTION} characters", field="caption.text")
    return from_wire(caption.sample), from_wire(caption.text)
