"""Pictures from files that nobody vouches for: bounded, upright, RGB."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from caliper.core.errors import InvalidInput, MediaMissing

# What datasets come in. Others stay shut: EPS, for one, would start an interpreter.
_FORMATS = ("AVIF", "BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a picture may be, in bytes of the file and in pixels.

    Pillow itself stops at 178,956,970 pixels, whatever is allowed here.
    """

    file_bytes: int = 50_000_000
    pixels: int = 178_956_970


def open_image(path: Path, limits: Limits, longest: int | None = None) -> Image.Image:
    """The picture in a file as RGB, upright.

    It is turned as its EXIF says, transparency is laid over white, an animation gives its
    first frame, and grey of 16 bits is scaled to 8. With `longest` (pixels) it
    is shrunk to fit a square of that side.
    Raises MediaMissing when there is no file, InvalidInput when it is too large, truncated
    or no picture.
    """
    data = _bytes(path, limits)
    try:
        with warnings.catch_warnings():
            # Pillow warns of what is bounded here or harmless, such as corrupt EXIF.
            warnings.simplefilter("ignore")
            return _decode(data, limits, longest)
    except InvalidInput as error:
        raise InvalidInput(error.message, file=str(path)) from error
    except Exception as error:
        # Decoders raise whatever broken bytes trip them into.
        raise InvalidInput(f"not a readable picture: {error!s:.200}", file=str(path)) from error


def encode_jpeg(image: Image.Image, quality: int = 80) -> bytes:
    """The picture as JPEG bytes."""
    out = io.BytesIO()
    image.save(out, "JPEG", quality=quality, optimize=True)
    return out.getvalue()


def _bytes(path: Path, limits: Limits) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(limits.file_bytes + 1)
    except FileNotFoundError as error:
        raise MediaMissing(f"no file {path}") from error
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror}", file=str(path)) from error
    if len(data) > limits.file_bytes:
        raise InvalidInput(f"larger than {limits.file_bytes} bytes", file=str(path))
    return data


def _decode(data: bytes, limits: Limits, longest: int | None) -> Image.Image:
    with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
        width, height = image.size
        if width * height > limits.pixels:
            raise InvalidInput(f"{width} x {height} is more than {limits.pixels} pixels")
        if longest is not None:
            # Lets the JPEG decoder skip what shrinking would throw away.
            image.draft("RGB", (longest, longest))
        image.load()
        upright = _rgb(ImageOps.exif_transpose(image))
    if longest is not None:
        upright.thumbnail((longest, longest))
    return upright


def _rgb(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I"):
        # Converting clips 16-bit values at 255; people expect them scaled.
        high = np.asarray(image).astype(np.int64).clip(0, 65535) >> 8
        image = Image.fromarray(high.astype(np.uint8))
    if image.has_transparency_data:
        over = image.convert("RGBA")
        white = Image.new("RGBA", over.size, "white")
        image = Image.alpha_composite(white, over)
    return image.convert("RGB")
