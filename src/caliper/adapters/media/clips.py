"""Single frames of clips."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
    with _opened(path, limits) as container:
        return _frame(container, moment, path)


def even_frames(path: Path, count: int, limits: Limits) -> list[Image.Image]:
    """`count` frames as RGB, taken evenly: the middle one of each of `count` equal parts.

    A clip with fewer frames gives all. Raises like `open_frame`.
    """
    with _opened(path, limits) as container:
        total = sum(1 for packet in container.demux(video=0) if packet.size)
    wanted = {(2 * part + 1) * total // (2 * count) for part in range(count)}
    with _opened(path, limits) as container:
        frames = enumerate(islice(container.decode(video=0), max(wanted, default=0) + 1))
        found = [_picture(frame) for place, frame in frames if place in wanted]
    if not found:
        raise InvalidInput("the clip holds no frame that can be decoded", file=str(path))
    return found


@contextmanager
def _opened(path: Path, limits: Limits) -> Iterator[InputContainer]:
    try:
        with av.open(str(path), options=_OPTIONS) as container:
            if not container.streams.video:
                raise InvalidInput("the clip has no video stream", file=str(path))
            stream = container.streams.video[0]
            if stream.width * stream.height > limits.pixels:
                size = f"{stream.width} x {stream.height}"
                raise InvalidInput(f"{size} is more than {limits.pixels} pixels", file=str(path))
            # The header is only a claim: the decoder holds frames to the same bound.
            stream.codec_context.options = {"max_pixels": str(limits.pixels)}
            yield container
    except av.error.FileNotFoundError as error:
        raise MediaMissing(f"no file {path}") from error
    except (av.error.FFmpegError, ValueError, OSError) as error:
        raise InvalidInput(f"not a readable clip: {error!s:.200}", file=str(path)) from error


def _picture(frame: av.VideoFrame) -> Image.Image:
    return Image.fromarray(frame.to_ndarray(format="rgb24"))


def _frame(container: InputContainer, moment: Moment, path: Path) -> Image.Image:
    wanted = 0.0
    if moment is Moment.MIDDLE and container.duration:
        wanted = container.duration / av.time_base / 2
        container.seek(container.duration // 2)
    found = _at(container.decode(video=0), wanted)
    if found is None:
        raise InvalidInput("the clip holds no frame that can be decoded", file=str(path))
    return _picture(found)


def _at(frames: Iterator[av.VideoFrame], wanted: float) -> av.VideoFrame | None:
    """The first frame at `wanted` seconds or later, else the last one before."""
    last = None
    for frame in islice(frames, _FRAMES_DECODED):
        last = frame
        if (frame.time or 0.0) >= wanted:
            break
    return last
