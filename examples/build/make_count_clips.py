"""Make the clips with things to count. Run: python make_count_clips.py"""

from __future__ import annotations

import math
from collections.abc import Iterator

from clip_tools import background, between, cut_out, steps, write
from make_robot_scenes import ball
from PIL import Image, ImageDraw, ImageOps

COINS = ((334, 44, 29), (347, 187, 31), (215, 52, 23), (212, 194, 24), (46, 261, 28))
INK = "#222222"


def gilded(coin: Image.Image) -> Image.Image:
    """A coin in gold tones with a dark rim, so that it stands out from grey stones."""
    gold = ImageOps.colorize(
        ImageOps.autocontrast(coin.convert("L")), "#5a3a00", "#ffe680", mid="#d9a11e"
    ).convert("RGBA")
    gold.putalpha(coin.getchannel("A"))
    gold = gold.resize((90, 90), Image.Resampling.LANCZOS)
    ImageDraw.Draw(gold).ellipse((1, 1, 88, 88), outline="#3a2600", width=3)
    return gold


def coins_appear() -> Iterator[Image.Image]:
    """Five golden coins appear one after another on gravel."""
    ground = background("gravel.jpg")
    discs = []
    for x, y, r in COINS:
        circle = [(x + r * math.cos(a / 10), y + r * math.sin(a / 10)) for a in range(63)]
        discs.append(gilded(cut_out("coins.jpg", circle)))
    for share in steps(60):
        page = ground.copy()
        for index, disc in enumerate(discs):
            if share >= 0.1 + 0.15 * index:
                page.paste(disc, (15 + 90 * index, 50 + 120 * (index % 2)), disc)
        yield page


def balls_roll() -> Iterator[Image.Image]:
    """One red ball and two blue balls roll from right to left over bricks."""
    ground = background("bricks.jpg")
    for share in steps():
        page = ground.copy()
        pen = ImageDraw.Draw(page)
        for delay, y, colour in (
            (0.0, 80, "#1e6fd9"),
            (90.0, 170, "#d62828"),
            (40.0, 255, "#1e6fd9"),
        ):
            ball(pen, between(440 + delay, 20 + delay, share), y, 26, colour)
        yield page


def petals_fall() -> Iterator[Image.Image]:
    """Seven pink petals fall in front of the dahlia."""
    ground = background("dahlia.jpg")
    for share in steps():
        page = ground.copy()
        pen = ImageDraw.Draw(page)
        for index in range(7):
            x = 45 + 65 * index + 14 * math.sin(share * 9 + index)
            y = between(-10 - 14 * (index % 3), 250 + 20 * (index % 3), share * 1.1)
            pen.ellipse((x - 9, y - 14, x + 9, y + 14), fill="#ff6fb5", outline="#9c1f60", width=2)
        yield page


def balloons_rise() -> Iterator[Image.Image]:
    """Two red, one yellow and three blue balloons rise over the meadow."""
    ground = background("meadow.jpg")
    colours = ("#d62828", "#1e6fd9", "#ffd84d", "#1e6fd9", "#d62828", "#1e6fd9")
    for share in steps():
        page = ground.copy()
        pen = ImageDraw.Draw(page)
        for index, colour in enumerate(colours):
            x, y = 50 + 76 * index, between(300 + 18 * (index % 3), 60 + 25 * (index % 3), share)
            pen.line((x, y + 26, x, y + 70), fill="white", width=2)
            pen.ellipse((x - 22, y - 28, x + 22, y + 28), fill=colour, outline=INK, width=2)
        yield page


def birds_cross() -> Iterator[Image.Image]:
    """Four black birds fly from left to right across the sunset."""
    ground = background("sunset.jpg")
    for share in steps():
        page = ground.copy()
        pen = ImageDraw.Draw(page)
        for index in range(4):
            x = between(-20, 330, share) + 34 * index
            y = 50 + 26 * (index % 2) - 8 * index + 20
            lift = 12 * math.sin(share * 40 + index)
            pen.line(
                [(x - 20, y - lift), (x, y), (x + 20, y - lift)],
                fill="black",
                width=5,
                joint="curve",
            )
        yield page


if __name__ == "__main__":
    write("coins_appear.mp4", coins_appear())
    write("balls_roll.mp4", balls_roll())
    write("petals_fall.mp4", petals_fall())
    write("balloons_rise.mp4", balloons_rise())
    write("birds_cross.mp4", birds_cross())
