"""Single frames of clips."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from pathlib import Path

import av
from av.container import InputContainer
from PIL import Image

from caliper.adapters.media.images import Limits
from caliper.core.errors import InvalidInput, MediaMissing

SUFFIXES = frozenset({".avi", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".webm"})
# Containers of one file. Playlists stay shut: they would open files and addresses they name.
_OPTIONS = {"format_whitelist": "avi,matroska,mov,mpeg,mpegts,mpegvideo"}
# From a key frame to the middle of the clip: ten seconds at 30 a second.
_FRAMES_DECODED = 300


class Moment(StrEnum):
    """Which frame of a clip is shown."""

    FIRST = "first"
    MIDDLE = "middle"


def open_frame(path: Path, moment: Moment, limits: Limits) -> Image.Image:
    """One frame of a clip as RGB. A clip that does not tell its length gives the first.

    Raises MediaMissing when there is no file, InvalidInput when it is broken, too large in
    pixels, or holds no picture.
    """
    try:
        with av.open(str(path), options=_OPTIONS) as container:
            if not container.streams.video:
                raise InvalidInput("the clip has no video stream", file=str(path))
            return _frame(container, moment, limits, path)
    except av.error.FileNotFoundError as error:
        raise MediaMissing(f"no file {path}") from error
    except (av.error.FFmpegError, ValueError, OSError) as error:
        raise InvalidInput(f"not a readable clip: {error!s:.200}", file=str(path)) from error


def _frame(container: InputContainer, moment: Moment, limits: Limits, path: Path) -> Image.Image:
    stream = container.streams.video[0]
    if stream.width * stream.height > limits.pixels:
        size = f"{stream.width} x {stream.height}"
        raise InvalidInput(f"{size} is more than {limits.pixels} pixels", file=str(path))
    # The header is only a claim: the decoder holds frames to the same bound.
    stream.codec_context.options = {"max_pixels": str(limits.pixels)}
    wanted = 0.0
    if moment is Moment.MIDDLE and container.duration:
        wanted = container.duration / av.time_base / 2
        container.seek(container.duration // 2)
    found = _at(container.decode(stream), wanted)
    if found is None:
        raise InvalidInput("the clip holds no frame that can be decoded", file=str(path))
    return Image.fromarray(found.to_ndarray(format="rgb24"))


def _at(frames: Iterator[av.VideoFrame], wanted: float) -> av.VideoFrame | None:
    """The first frame at `wanted` seconds or later, else the last one before."""
    last = None
    for frame in islice(frames, _FRAMES_DECODED):
        last = frame
        if (frame.time or 0.0) >= wanted:
            break
    return last
