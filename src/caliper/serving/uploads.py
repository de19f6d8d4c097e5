"""Reads uploaded captions from a stream of messages."""

from __future__ import annotations

from collections.abc import AsyncIterator

from caliper.adapters.wire.text import from_wire
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.serving.adhoc import LONGEST_CAPTION

MOST_TEXT = 1 << 29
"""The most characters of captions and samples in a set, which is held in memory until complete."""


async def captions_in(requests: AsyncIterator[pb.UploadCaptionsRequest]) -> dict[str, str]:
    """The captions by sample. Raises InvalidInput naming the request's field."""
    captions: dict[str, str] = {}
    has_header, size = False, 0
    async for request in requests:
        if has_header != (request.WhichOneof("part") == "caption"):
            raise InvalidInput("expected one header, and then captions", field="header")
        if has_header:
            sample, text = _caption(request.caption)
            if sample in captions:
                raise InvalidInput(f"a second caption of {sample!r:.100}", field="caption.sample")
            size += len(sample) + len(text)
            if size > MOST_TEXT:
                raise InvalidInput(f"more than {MOST_TEXT} characters in all", field="caption")
            captions[sample] = text
        else:
            _check_header(request.header)
            has_header = True
    if not captions:
        raise InvalidInput("no captions", field="caption" if has_header else "header")
    return captions


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
