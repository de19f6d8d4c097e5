"""Pictures from untrusted files: bounded, upright, RGB, and re-encoded."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from PIL import Image, UnidentifiedImageError

from caliper.adapters.media.bounds import MediaLimits, open_file
from caliper.adapters.media.pixel_room import ROOM
from caliper.core.errors import InvalidInput
from caliper.core.preparation import Preparation

# It warns of sizes that are limited here and of harmless corrupt EXIF. Not for the time of a call
# only: two threads that do so restore each other's filters, for good.
warnings.filterwarnings("ignore", module="PIL")
# Formats of datasets. Others are refused: EPS, for one, would start an interpreter.
_FORMATS = ("AVIF", "BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")
_ORIENTATION = 0x0112
# From this EXIF orientation on, width and height change places.
_TURNED = 5
# Rows of a 16-bit picture that are converted at a time.
_ROWS = 64
# EXIF orientation to the transposition that puts a picture upright.
_TRANSPOSITIONS = {
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

    It is rotated as its EXIF says, transparency is laid over white, an animation gives its
    first frame, and 16 bits per channel become the upper 8. With `longest` (pixels), it is
    shrunk to fit a square of that side; a JPEG is decoded at a half, a quarter or an eighth of
    its size if that is still larger, so that the whole picture is never in memory. Raises
    MediaMissing if there is no file, InvalidInput if it is too large, truncated or not a picture.
    """
    with _opened(path, limits) as file:
        return _decode(file, path, limits, longest)


def picture_size(path: Path, limits: MediaLimits) -> tuple[int, int]:
    """Width and height of the picture in a file, upright. Raises as `open_image` does."""
    with _opened(path, limits) as file, Image.open(file, formats=_FORMATS) as image:
        limits.check_size(*image.size, limits.pixels, path)
        width, height = image.size
        # Of a PNG, the orientation may stand behind all pixels, which are then decoded.
        with ROOM.hold(width * height, limits.pixels):
            turned = image.getexif().get(_ORIENTATION, 1) >= _TURNED
        return (height, width) if turned else (width, height)


@contextmanager
def _opened(path: Path, limits: MediaLimits) -> Iterator[BinaryIO]:
    """The file, opened; what decoders raise within becomes InvalidInput."""
    with open_file(path, limits.picture_bytes) as file:
        try:
            yield file
        except InvalidInput:
            raise
        except UnidentifiedImageError as error:
            # Its message contains the name of a Python object.
            message = f"not a readable picture: none of {', '.join(_FORMATS)}"
            raise InvalidInput(message, file=str(path)) from error
        except Exception as error:
            # On broken data, decoders raise exceptions of any kind.
            message = f"not a readable picture: {error!s:.200}"
            raise InvalidInput(message, file=str(path)) from error


def encode_jpeg(image: Image.Image, quality: int = 80) -> bytes:
    """Encode as JPEG (4:2:0), without any metadata of the file."""
    out = io.BytesIO()
    # Otherwise Pillow would copy the comment of the file.
    image.save(out, "JPEG", quality=quality, optimize=True, comment=b"")
    return out.getvalue()


def contact_sheet(frames: Sequence[bytes], columns: int) -> Image.Image:
    """Encoded frames of equal size side by side, line by line."""
    images = [Image.open(io.BytesIO(frame)) for frame in frames]
    width, height = images[0].size
    lines = -(-len(images) // columns)
    sheet = Image.new("RGB", (width * min(columns, len(images)), height * lines))
    for place, image in enumerate(images):
        sheet.paste(image, (place % columns * width, place // columns * height))
    return sheet


def encode(image: Image.Image, preparation: Preparation) -> bytes:
    """Encode as the JPEG that models are sent: equal pixels give equal bytes.

    The picture is shrunk to the longest side. While the JPEG exceeds `image_bytes`, the side is
    reduced to three quarters, always from the same picture.
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
    with ExitStack() as room:
        picture, rotation = _load(file, path, limits, longest, room)
        if longest is not None:
            picture.thumbnail((longest, longest))
        if picture.mode == "RGBA":
            picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture)
        upright = picture if rotation is None else picture.transpose(rotation)
        return upright.convert("RGB")


def _load(
    file: BinaryIO, path: Path, limits: MediaLimits, longest: int | None, room: ExitStack
) -> tuple[Image.Image, Image.Transpose | None]:
    """The picture with 8 bits per channel, and what puts it upright. Its pixels are held in `room`.

    Apart from what follows, so that the picture as read is freed before it is shrunk.
    """
    with Image.open(file, formats=_FORMATS) as image:
        # The decoder of WebP holds four copies of a picture, others two.
        copies = 2 if image.format == "WEBP" else 1
        limits.check_size(*image.size, limits.pixels // copies, path)
        if longest is not None:
            # Lets the JPEG decoder skip detail that shrinking would discard.
            image.draft("RGB", (longest, longest))
        room.enter_context(ROOM.hold(image.width * image.height * copies, limits.pixels))
        image.load()
        return _eight_bits(image), _TRANSPOSITIONS.get(image.getexif().get(_ORIENTATION, 1))


def _eight_bits(image: Image.Image) -> Image.Image:
    """The picture with 8 bits per channel: L, RGB, or RGBA if it has transparency.

    A large picture is not copied if it has them already.
    """
    if image.mode.startswith("I"):
        return _high_bytes(image)
    mode = "RGBA" if image.has_transparency_data else "RGB"
    done = image.mode == mode or (image.mode == "L" and mode == "RGB")
    return image if done else image.convert(mode)


def _high_bytes(image: Image.Image) -> Image.Image:
    """The upper 8 of 16 bits, as Pillow would clip the values at 255 instead of scaling them."""
    high = np.empty((image.height, image.width), np.uint8)
    for top in range(0, image.height, _ROWS):
        # By rows: numpy's arrays of the whole picture would take several times its memory.
        rows = image.crop((0, top, image.width, min(top + _ROWS, image.height)))
        high[top : top + _ROWS] = np.asarray(rows).clip(0, 65535) >> 8
    return Image.fromarray(high)
