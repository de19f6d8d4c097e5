"""Paths, fonts and small drawing helpers shared by the generators."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from PIL import Image, ImageDraw, ImageFont

EXAMPLES = Path(__file__).resolve().parent.parent
MEDIA = EXAMPLES / "media"
IMAGES = MEDIA / "images"
VIDEOS = MEDIA / "videos"
FONTS = Path(mpl.get_data_path()) / "fonts" / "ttf"

Colour = str | tuple[int, int, int]
Point = tuple[float, float]


def font(size: int, *, bold: bool = False, face: str = "DejaVuSans") -> ImageFont.FreeTypeFont:
    """DejaVu at a size in pixels; the fonts ship with matplotlib."""
    suffix = "-Bold" if bold else ""
    return ImageFont.truetype(str(FONTS / f"{face}{suffix}.ttf"), size)


def photo(name: str, mode: str = "RGB") -> Image.Image:
    """Open one of the collected pictures."""
    return Image.open(IMAGES / name).convert(mode)


def save(picture: Image.Image, name: str) -> None:
    """Write a made picture: PNG with a small palette, or JPEG at quality 85."""
    path = IMAGES / name
    if path.suffix == ".jpg":
        picture.convert("RGB").save(path, quality=85, optimize=True)
        return
    palette = picture.convert("RGB").quantize(255, dither=Image.Dither.NONE)
    palette.save(path, optimize=True)


@dataclass(frozen=True, slots=True)
class Letters:
    """How words look: their size in pixels, their colour, and how thick they are."""

    size: int = 18
    fill: Colour = "#222222"
    bold: bool = False


PLAIN = Letters()


def text(
    draw: ImageDraw.ImageDraw,
    place: Point,
    words: str,
    letters: Letters = PLAIN,
    *,
    anchor: str = "la",
) -> None:
    """Draw one line of text; the anchor follows Pillow's two-letter codes."""
    look = font(letters.size, bold=letters.bold)
    draw.text(place, words, fill=letters.fill, font=look, anchor=anchor)


def star(centre: Point, outer: float, inner: float, points: int = 5) -> list[Point]:
    """Corner points of a star that stands on two points."""
    corners = []
    for index in range(points * 2):
        radius = outer if index % 2 == 0 else inner
        angle = math.pi * index / points - math.pi / 2
        corners.append((centre[0] + radius * math.cos(angle), centre[1] + radius * math.sin(angle)))
    return corners


def crop_to(picture: Image.Image, width: int, height: int) -> Image.Image:
    """Scale and cut a picture from its centre to fill a box."""
    scale = max(width / picture.width, height / picture.height)
    size = (round(picture.width * scale), round(picture.height * scale))
    grown = picture.resize(size, Image.Resampling.LANCZOS)
    left, top = (grown.width - width) // 2, (grown.height - height) // 2
    return grown.crop((left, top, left + width, top + height))
