"""Pictures from files that nobody vouches for: bounded, upright, RGB, and encoded anew."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import BinaryIO

import numpy as np
from PIL import Image, UnidentifiedImageError

from caliper.adapters.media.bounds import MediaLimits, opened
from caliper.core.errors import InvalidInput
from caliper.core.preparation import Preparation

# What datasets come in. Others stay shut: EPS, for one, would start an interpreter.
_FORMATS = ("AVIF", "BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")
_ORIENTATION = 0x0112
# What puts a picture upright, by its EXIF orientation.
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def open_image(path: Path, limits: MediaLimits, longest: int | None = None) -> Image.Image:
    """The picture in a file as RGB, upright.

    It is turned as its EXIF says, transparency is laid over white, an animation gives its
    first frame, and 16 bits a channel become the upper 8. With `longest` (pixels) it is shrunk
    to fit a square of that side: JPEG is decoded at a half, a quarter or an eighth of its size
    where that is still larger, so that it never stands in memory whole.
    Raises MediaMissing when there is no file, InvalidInput when it is too large, truncated
    or no picture.
    """
    with opened(path, limits.picture_bytes) as file:
        try:
            with warnings.catch_warnings():
                # Pillow warns of what is bounded here or harmless, such as corrupt EXIF.
                warnings.simplefilter("ignore")
                return _decode(file, path, limits, longest)
        except InvalidInput:
            raise
        except UnidentifiedImageError as error:
            # Its own words hold the name of a Python object.
            message = f"not a readable picture: none of {', '.join(_FORMATS)}"
            raise InvalidInput(message, file=str(path)) from error
        except Exception as error:
            # Decoders raise whatever broken bytes trip them into.
            message = f"not a readable picture: {error!s:.200}"
            raise InvalidInput(message, file=str(path)) from error


def encode_jpeg(image: Image.Image, quality: int = 80) -> bytes:
    """The picture as JPEG bytes (4:2:0), with nothing of what its file said beside it."""
    out = io.BytesIO()
    # Pillow would carry a comment over into the new file.
    image.save(out, "JPEG", quality=quality, optimize=True, comment=b"")
    return out.getvalue()


def encode(image: Image.Image, preparation: Preparation) -> bytes:
    """The picture as the JPEG that models are sent: the same bytes for the same pixels.

    It is shrunk to the longest side; while the JPEG is longer than `image_bytes`, to three
    quarters of the side before, from the same picture.
    """
    side = preparation.longest
    while True:
        fitted = image.copy()
        fitted.thumbnail((side, side))
        data = encode_jpeg(fitted, preparation.quality)
        if len(data) <= preparation.image_bytes:
            return data
        side = max(fitted.size) * 3 // 4


def _decode(file: BinaryIO, path: Path, limits: MediaLimits, longest: int | None) -> Image.Image:
    with Image.open(file, formats=_FORMATS) as image:
        limits.check_size(*image.size, limits.pixels, path)
        if longest is not None:
            # Lets the JPEG decoder skip what shrinking would throw away.
            image.draft("RGB", (longest, longest))
        image.load()
        turned = _TURNS.get(image.getexif().get(_ORIENTATION, 1))
        picture = _eight_bits(image)
    if longest is not None:
        picture.thumbnail((longest, longest))
    if picture.mode == "RGBA":
        picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture)
    upright = picture if turned is None else picture.transpose(turned)
    return upright.convert("RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    """RGB of 8 bits, or RGBA where something is transparent."""
    if image.mode.startswith("I"):
        # Converting clips 16-bit values at 255; people expect them scaled.
        high = np.asarray(image).clip(0, 65535) >> 8
        return Image.fromarray(high.astype(np.uint8)).convert("RGB")
    return image.convert("RGBA" if image.has_transparency_data else "RGB")
