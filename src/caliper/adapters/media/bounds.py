"""Bounds of safety: how large media may be before they are refused unread.

They are settings of a process, never of what is measured: within them they change nothing.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from caliper.core.errors import InvalidInput, MediaMissing

CLIPS = frozenset({".avi", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".webm"})
"""The endings of files that are clips; all others are pictures."""


@dataclass(frozen=True, slots=True)
class MediaLimits:
    """The most that is read of one file.

    `picture_bytes` and `clip_bytes` bound the file, `pixels` a picture (Pillow itself stops at
    178,956,970, whatever is allowed here), `frame_pixels` a frame of a clip: 8K is 35,389,440.
    `frames` and `seconds` bound a clip.
    """

    picture_bytes: int = 50_000_000
    clip_bytes: int = 500_000_000
    pixels: int = 178_956_970
    frame_pixels: int = 36_000_000
    frames: int = 216_000
    seconds: float = 3600.0

    def most_bytes(self, *, clip: bool) -> int:
        """The longest that a file may be."""
        return self.clip_bytes if clip else self.picture_bytes

    def check_size(self, width: int, height: int, most: int, path: Path) -> None:
        """Raise InvalidInput when a picture or frame has more than `most` pixels."""
        if width * height > most:
            raise InvalidInput(f"{width} x {height} is more than {most} pixels", file=str(path))

    def check_clip(self, frames: int, seconds: float, path: Path) -> None:
        """Raise InvalidInput when a clip has too many frames or lasts too long."""
        if frames > self.frames:
            raise InvalidInput(f"the clip has more than {self.frames} frames", file=str(path))
        if seconds > self.seconds:
            message = f"the clip lasts {seconds:,.0f} s, more than {self.seconds:,.0f} s"
            raise InvalidInput(message, file=str(path))


@dataclass(frozen=True, slots=True)
class DecoderOptions:
    """`workers` files are decoded at once; `cache_bytes` of what came of them are kept, and
    `held_bytes` of it may be in memory for calls.
    """

    limits: MediaLimits = field(default_factory=MediaLimits)
    workers: int = 4
    cache_bytes: int = 128 * 2**20
    held_bytes: int = 256 * 2**20


def opened(path: Path, most: int) -> BinaryIO:
    """The file, open for reading. Raises MediaMissing, or InvalidInput when it is unreadable or
    longer than `most` bytes.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError as error:
        raise MediaMissing(f"no file {path}") from error
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror}", file=str(path)) from error
    if os.fstat(file.fileno()).st_size > most:
        file.close()
        raise InvalidInput(f"larger than {most} bytes", file=str(path))
    return file
