"""Make pictures in other styles and with other camera angles from the photographs.

Run: python make_styles.py
"""

from __future__ import annotations

import math
import random

import numpy as np
from common import photo, save
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageOps


def pixel_art() -> None:
    """The pagoda in large square pixels and few colours."""
    small = photo("pagoda.jpg").resize((80, 53), Image.Resampling.BOX)
    small = small.quantize(14, dither=Image.Dither.NONE).convert("RGB")
    save(small.resize((640, 424), Image.Resampling.NEAREST), "pagoda_pixels.png")


def pencil_sketch() -> None:
    """The cat as a pencil drawing on white paper."""
    grey = ImageOps.autocontrast(photo("cat.jpg", "L")).resize((676, 450), Image.Resampling.LANCZOS)
    blurred = ImageOps.invert(grey).filter(ImageFilter.GaussianBlur(9))
    base = np.asarray(grey, dtype=float)
    light = base * 255 / (256 - np.asarray(blurred, dtype=float))
    strokes = np.clip(light, 0, 255)
    strokes = 255 - np.clip((255 - strokes) * 2.2, 0, 255)
    save(Image.fromarray(strokes.astype(np.uint8)), "cat_sketch.jpg")


def old_photograph() -> None:
    """The stairs in brown tones with scratches, spots and dark corners."""
    grey = photo("stairs.jpg", "L").filter(ImageFilter.GaussianBlur(1.1))
    toned = ImageOps.colorize(ImageOps.autocontrast(grey), "#2b1a0c", "#f0dcb4")
    pen = ImageDraw.Draw(toned)
    dice = random.Random(11)
    for _ in range(14):
        x, y = dice.randrange(512), dice.randrange(512)
        pen.line(
            (x, y, x + dice.randrange(-8, 8), y + dice.randrange(30, 160)), fill="#f7ead0", width=1
        )
    for _ in range(90):
        x, y, r = dice.randrange(512), dice.randrange(512), dice.choice((1, 1, 2))
        pen.ellipse((x - r, y - r, x + r, y + r), fill=dice.choice(("#f7ead0", "#3a2817")))
    yy, xx = np.mgrid[0:512, 0:512]
    shade = np.clip(1.25 - np.hypot(xx - 256, yy - 256) / 360, 0.35, 1)[..., None]
    aged = Image.fromarray((np.asarray(toned) * shade).astype(np.uint8))
    save(ImageOps.expand(aged, 24, "#efe3c6"), "stairs_old.jpg")


def brush_strokes() -> None:
    """The meadow painted with short, thick, broken strokes of colour."""
    source = photo("meadow.jpg")
    bright = np.clip((np.asarray(source, dtype=float) - 110) * 1.25 + 120, 0, 255).astype(np.uint8)
    page = Image.fromarray(bright).filter(ImageFilter.GaussianBlur(14))
    pen = ImageDraw.Draw(page)
    dice = random.Random(5)
    for length, width, count in ((26, 9, 5200), (16, 5, 8000)):
        for _ in range(count):
            x, y = dice.randrange(source.width), dice.randrange(source.height)
            colour = tuple(
                int(min(255, max(0, int(c) + dice.randrange(-26, 27)))) for c in bright[y, x]
            )
            angle = math.radians(dice.gauss(15 if y < 200 else 70, 22))
            dx, dy = length / 2 * math.cos(angle), length / 2 * math.sin(angle)
            pen.line((x - dx, y - dy, x + dx, y + dy), fill=colour, width=width)
    save(page, "meadow_painted.jpg")


def still_life() -> Image.Image:
    """A guitar, a bottle and a bowl in flat colours: the ground of the cubist picture."""
    page = Image.new("RGB", (600, 600), "#b89a6a")
    pen = ImageDraw.Draw(page)
    pen.polygon([(0, 400), (600, 340), (600, 600), (0, 600)], fill="#6e5a3c")
    pen.ellipse((130, 330, 350, 540), fill="#a8642a")
    pen.ellipse((170, 220, 320, 370), fill="#a8642a")
    pen.ellipse((205, 320, 285, 400), fill="#2a211a")
    pen.polygon([(225, 60), (262, 60), (268, 330), (222, 330)], fill="#3d2b1c")
    for x in (236, 245, 254):
        pen.line((x, 60, x, 480), fill="#e8dcc0", width=2)
    pen.polygon([(400, 230), (490, 230), (500, 470), (390, 470)], fill="#3f5a4b")
    pen.polygon([(425, 110), (465, 110), (472, 235), (418, 235)], fill="#3f5a4b")
    pen.rectangle((402, 310, 490, 390), fill="#e0d3ae")
    pen.pieslice((330, 430, 560, 600), 0, 180, fill="#8c8778")
    return page


def cubist() -> None:
    """The still life cut into angular, shifted, shaded facets."""
    source = still_life()
    page = source.copy()
    dice = random.Random(21)
    for _ in range(46):
        x, y = dice.randrange(40, 560), dice.randrange(40, 560)
        turn = dice.random() * math.pi
        corners = [
            (
                x + dice.randrange(50, 120) * math.cos(turn + k * 2.09),
                y + dice.randrange(50, 120) * math.sin(turn + k * 2.09),
            )
            for k in range(3)
        ]
        mask = Image.new("L", page.size, 0)
        ImageDraw.Draw(mask).polygon(corners, fill=255)
        moved = ImageChops.offset(source, dice.randrange(-38, 39), dice.randrange(-38, 39))
        moved = moved.rotate(dice.randrange(-14, 15), center=(x, y))
        tone = Image.new(
            "RGB", page.size, dice.choice(("#2a211a", "#e8dcc0", "#8a6a3a", "#5b6a6a"))
        )
        page.paste(Image.blend(moved, tone, dice.choice((0.12, 0.22, 0.32))), (0, 0), mask)
        ImageDraw.Draw(page).line([*corners, corners[0]], fill="#2a211a", width=2)
    save(page, "still_life_cubist.jpg")


def space_composite() -> None:
    """The cat as a see-through giant among the galaxies, with glowing light beams from its eyes."""
    sky = photo("deep_field.jpg")
    cat = photo("cat.jpg").resize((620, 412), Image.Resampling.LANCZOS)
    tinted = ImageOps.colorize(ImageOps.grayscale(cat), "#020616", "#7fd7ff", mid="#1d3f8f")
    yy, xx = np.mgrid[0:412, 0:620]
    fade = np.clip(1.6 * (1 - np.hypot((xx - 310) / 310, (yy - 206) / 206)), 0, 0.85) * 255
    sky.paste(tinted, (50, 190), Image.fromarray(fade.astype(np.uint8)))
    beams = Image.new("RGB", sky.size, "black")
    pen = ImageDraw.Draw(beams)
    for x, y, end in ((289, 352, 140), (483, 374, 560)):
        pen.line((x, y, end, 627), fill="#ff2fd0", width=10)
        pen.ellipse((x - 26, y - 26, x + 26, y + 26), fill="#ff7be5")
    glow = beams.filter(ImageFilter.GaussianBlur(9))
    save(
        ImageChops.add(ImageChops.add(sky, glow), beams.filter(ImageFilter.GaussianBlur(2))),
        "cat_space.jpg",
    )


def tilted(name: str, angle: float, box: tuple[int, int, int, int], result: str) -> None:
    """Turn a photograph and cut away the empty corners: a dutch angle."""
    turned = photo(name).rotate(angle, resample=Image.Resampling.BICUBIC)
    save(turned.crop(box), result)


if __name__ == "__main__":
    pixel_art()
    pencil_sketch()
    old_photograph()
    brush_strokes()
    cubist()
    space_composite()
    tilted("rocket.jpg", 17, (110, 75, 530, 355), "rocket_tilted.jpg")
    tilted("pagoda.jpg", -19, (120, 80, 520, 350), "pagoda_tilted.jpg")
