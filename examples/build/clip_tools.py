"""Writing clips and moving a window over a photograph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

import av
import numpy as np
from common import VIDEOS, photo
from PIL import Image, ImageDraw

WIDTH, HEIGHT = 480, 320
FRAMES_PER_SECOND = 15
FRAMES = 45

# One thread and no assembler: the same frames then give the same file each time.
ENCODING = {"crf": "27", "preset": "slow", "x264-params": "threads=1:lookahead-threads=1:asm=0"}

Box = tuple[float, float, float, float]


def write(name: str, frames: Iterable[Image.Image]) -> None:
    """Write frames of WIDTH x HEIGHT pixels as an H.264 file."""
    VIDEOS.mkdir(parents=True, exist_ok=True)
    with av.open(str(VIDEOS / name), "w") as container:
        stream = container.add_stream("libx264", rate=FRAMES_PER_SECOND, options=ENCODING)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.codec_context.time_base = Fraction(1, FRAMES_PER_SECOND)
        for picture in frames:
            frame = av.VideoFrame.from_ndarray(np.asarray(picture.convert("RGB")), format="rgb24")
            for packet in stream.encode(frame):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)


def steps(count: int = FRAMES) -> Iterator[float]:
    """The moments of a clip, from 0 to 1."""
    for index in range(count):
        yield index / (count - 1)


def between(start: float, end: float, share: float) -> float:
    """The value at a share of the way from start to end, held outside 0 to 1."""
    share = min(1.0, max(0.0, share))
    return start + (end - start) * share


def camera_move(name: str, start: Box, end: Box) -> Iterator[Image.Image]:
    """Move a window over a photograph: boxes are (left, top, right, bottom) in its pixels."""
    picture = photo(name)
    for share in steps():
        box = tuple(between(a, b, share) for a, b in zip(start, end, strict=True))
        yield picture.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC, box=box)


def background(name: str) -> Image.Image:
    """A photograph scaled and cut to the size of a clip."""
    picture = photo(name)
    scale = max(WIDTH / picture.width, HEIGHT / picture.height)
    width, height = WIDTH / scale, HEIGHT / scale
    left, top = (picture.width - width) / 2, (picture.height - height) / 2
    return picture.resize(
        (WIDTH, HEIGHT), Image.Resampling.LANCZOS, box=(left, top, left + width, top + height)
    )


def cut_out(name: str, polygon: list[tuple[float, float]]) -> Image.Image:
    """The part of a photograph inside a polygon, the rest transparent, cut to its bounds."""
    picture = photo(name, "RGBA")
    mask = Image.new("L", picture.size, 0)
    ImageDraw.Draw(mask).polygon(polygon, fill=255)
    picture.putalpha(mask)
    bounds = mask.getbbox()
    return picture.crop(bounds) if bounds else picture
