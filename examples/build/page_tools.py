"""Paper, inks, a stamp and arrows for the drawn documents."""

from __future__ import annotations

from common import Letters, Point, font, text
from PIL import Image, ImageDraw

INK = "#222222"
BLUE = "#1f5fa8"
GREY = "#9a9a9a"


def sheet(
    width: int, height: int, colour: str = "white"
) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """An empty page and the pen to draw on it."""
    page = Image.new("RGB", (width, height), colour)
    return page, ImageDraw.Draw(page)


def stamp(page: Image.Image, words: str, place: tuple[int, int], angle: float) -> None:
    """Put a tilted red rubber stamp on a page."""
    layer = Image.new("RGBA", (240, 100), (0, 0, 0, 0))
    pen = ImageDraw.Draw(layer)
    pen.rectangle((6, 6, 233, 93), outline=(200, 30, 30, 255), width=6)
    pen.text((120, 50), words, fill=(200, 30, 30, 255), font=font(52, bold=True), anchor="mm")
    turned = layer.rotate(angle, expand=True, resample=Image.Resampling.BICUBIC)
    page.paste(turned, place, turned)


def arrow(pen: ImageDraw.ImageDraw, start: Point, end: Point, label: str = "") -> None:
    """A straight arrow along one axis, with an optional label beside it."""
    pen.line((*start, *end), fill=INK, width=3)
    x, y = end
    if start[0] == end[0]:
        pen.polygon([(x, y), (x - 8, y - 14), (x + 8, y - 14)], fill=INK)
    else:
        side = 14 if end[0] < start[0] else -14
        pen.polygon([(x, y), (x + side, y - 8), (x + side, y + 8)], fill=INK)
    if label:
        middle = ((start[0] + x) / 2 + 8, (start[1] + y) / 2 - 8)
        text(pen, middle, label, Letters(16, bold=True), anchor="ls")
