"""Clips whose frames tell their own index: four rows of bars, light for 1, read back exactly.

path = write_clip(folder / "a.mp4", Clip(frames=80))
[index_of(jpeg) for jpeg in shown]    # the indices, in presentation order
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from PIL import Image

BITS = 12
CELL = 16
# Four columns and three rows of cells, plus a row that is light on the left only: it shows
# whether the picture is upright.
WIDTH, HEIGHT = 4 * CELL, 4 * CELL


@dataclass(frozen=True, slots=True)
class Clip:
    """The contents of a clip. `times` are in milliseconds, for a variable frame rate."""

    frames: int = 40
    rate: Fraction = Fraction(25)
    codec: str = "libx264"
    b_frames: int = 2
    times: Sequence[int] | None = None
    rotation: int = 0
    options: dict[str, str] = field(default_factory=dict)
    faststart: bool = False


def picture_of(index: int) -> np.ndarray:
    """The pattern of an index, as grey RGB."""
    grey = np.zeros((HEIGHT, WIDTH), dtype=np.uint8)
    for bit in range(BITS):
        if index >> bit & 1:
            row, column = divmod(bit, 4)
            grey[row * CELL : (row + 1) * CELL, column * CELL : (column + 1) * CELL] = 255
    grey[3 * CELL :, : 2 * CELL] = 255
    return np.repeat(grey[:, :, None], 3, axis=2)


def index_of(jpeg: bytes) -> int:
    """The index shown in a frame. Raises ValueError if the frame is not upright."""
    with Image.open(io.BytesIO(jpeg), formats=["JPEG"]) as image:
        small = image.convert("L").resize((WIDTH, HEIGHT))
    cells = np.asarray(small, dtype=float).reshape(4, CELL, 4, CELL).mean(axis=(1, 3)) > 127
    if list(cells[3]) != [True, True, False, False]:
        raise ValueError("the frame is turned or torn")
    return sum(1 << bit for bit in range(BITS) if cells[divmod(bit, 4)])


def write_clip(path: Path, clip: Clip = Clip()) -> Path:
    """Write a clip in which frame i shows the pattern of i."""
    options = {"movflags": "faststart"} if clip.faststart else {}
    with av.open(str(path), "w", options=options) as container:
        stream = container.add_stream(clip.codec, rate=clip.rate, options=dict(clip.options))
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.codec_context.gop_size = 12
        stream.codec_context.max_b_frames = clip.b_frames
        if clip.times is not None:
            stream.codec_context.time_base = Fraction(1, 1000)
        if clip.rotation:
            stream.set_display_rotation(clip.rotation)
        for index in range(clip.frames):
            frame = av.VideoFrame.from_ndarray(picture_of(index), format="rgb24")
            if clip.times is not None:
                frame.pts, frame.time_base = clip.times[index], Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def sound(path: Path) -> Path:
    """A file of sound alone."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 800), dtype=np.int16), layout="mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
    return path
