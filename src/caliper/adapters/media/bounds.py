"""Safety limits: media beyond them are rejected without being read.

They are settings of the process, not of a measurement: media within them are unaffected.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from caliper.core.errors import InvalidInput, MediaMissing

CLIPS: Mapping[str, str] = {
    ".avi": "video/x-msvideo",
    ".m4v": "video/mp4",
    ".mkv": "video/x-matroska",
    ".mov": "video/quicktime",
    ".mp4": "video/mp4",
    ".mpeg": "video/mpeg",
    ".mpg": "video/mpeg",
    ".webm": "video/webm",
}
"""File suffixes of clips, with their media types; all other files are pictures."""
PICTURES = frozenset({".avif", ".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"})
"""File suffixes of pictures in folders where other files may be."""
THUMBNAIL_PIXELS = 30_000_000
"""The most pixels decoded for a thumbnail: in the costliest mode, nine bytes each."""
THUMBNAIL_FRAME_PIXELS = 9_000_000
"""The most pixels of a frame that a thumbnail is made of: 4K. Decoders hold up to 17 frames."""
THUMBNAIL_CLIP_BYTES = 64 * 2**20
"""The largest clip that a thumbnail is made of: from a store, all of it is fetched."""


@dataclass(frozen=True, slots=True)
class MediaLimits:
    """Limits for one file.

    `picture_bytes` and `clip_bytes` limit the file, `pixels` a picture (Pillow itself stops at
    178,956,970 in any case), `frame_pixels` a frame of a clip (8K is 35,389,440), `frames` and
    `seconds` a clip.
    """

    picture_bytes: int = 50_000_000
    clip_bytes: int = 500_000_000
    pixels: int = 178_956_970
    frame_pixels: int = 36_000_000
    frames: int = 216_000
    seconds: float = 3600.0

    def for_thumbnails(self) -> MediaLimits:
        """These limits, and those of thumbnails, which services make of any picture."""
        return replace(
            self,
            clip_bytes=min(self.clip_bytes, THUMBNAIL_CLIP_BYTES),
            pixels=min(self.pixels, THUMBNAIL_PIXELS),
            frame_pixels=min(self.frame_pixels, THUMBNAIL_FRAME_PIXELS),
        )

    def most_bytes(self, *, clip: bool) -> int:
        """The largest allowed size of a file in bytes."""
        return self.clip_bytes if clip else self.picture_bytes

    def check_size(self, width: int, height: int, most: int, path: Path) -> None:
        """Raise InvalidInput if a picture or frame has more than `most` pixels."""
        if width * height > most:
            raise InvalidInput(f"{width} x {height} is more than {most} pixels", file=str(path))

    def check_clip(self, frames: int, seconds: float, path: Path) -> None:
        """Raise InvalidInput if a clip has too many frames or is too long."""
        if frames > self.frames:
            raise InvalidInput(f"the clip has more than {self.frames} frames", file=str(path))
        if seconds > self.seconds:
            message = f"the clip lasts {seconds:,.0f} s, more than {self.seconds:,.0f} s"
            raise InvalidInput(message, file=str(path))


@dataclass(frozen=True, slots=True)
class DecoderOptions:
    """Options of the decoders.

    Up to `workers` files are decoded at once, `cache_bytes` of their images are cached, and
    calls may hold `held_bytes` of images in memory.
    """

    limits: MediaLimits = field(default_factory=MediaLimits)
    workers: int = 4
    cache_bytes: int = 128 * 2**20
    held_bytes: int = 256 * 2**20


def open_file(path: Path, most: int) -> BinaryIO:
    """Open a file for reading.

    Raises MediaMissing, or InvalidInput if it is unreadable or larger than `most` bytes.
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
