"""Draw the storybook characters and the robot scenes.

The characters are old ones in the public domain; the drawings are ours.
Run: python make_drawings.py
"""

from __future__ import annotations

import math
import random

from common import Colour, Letters, save, star, text
from PIL import Image, ImageDraw

INK = "#222222"


def canvas(width: int, height: int, colour: Colour) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """A filled canvas and its pen."""
    page = Image.new("RGB", (width, height), colour)
    return page, ImageDraw.Draw(page)


def disc(
    pen: ImageDraw.ImageDraw, x: float, y: float, r: float, fill: Colour, **more: object
) -> None:
    """A filled circle."""
    pen.ellipse((x - r, y - r, x + r, y + r), fill=fill, **more)  # type: ignore[arg-type]


def humpty() -> None:
    """Humpty Dumpty: an egg in trousers with a bow tie, sitting on a brick wall."""
    page, pen = canvas(600, 600, "#aee1f9")
    disc(pen, 520, 80, 45, "#ffd84d")
    pen.rectangle((0, 380, 600, 600), fill="#b5533c")
    for row, y in enumerate(range(380, 600, 44)):
        pen.line((0, y, 600, y), fill="#e9cdbf", width=4)
        for x in range(-40 + 40 * (row % 2), 640, 80):
            pen.line((x, y, x, y + 44), fill="#e9cdbf", width=4)
    for side in (-1, 1):
        pen.line([(300 + 45 * side, 375), (300 + 60 * side, 470)], fill="#2a4b9b", width=26)
        pen.ellipse((300 + 60 * side - 28, 462, 300 + 60 * side + 28, 492), fill=INK)
        pen.line([(300 + 100 * side, 280), (300 + 170 * side, 220)], fill="#fff2dc", width=16)
    pen.ellipse((185, 110, 415, 400), fill="#fff2dc", outline=INK, width=4)
    pen.chord((185, 110, 415, 400), 12, 168, fill="#2a4b9b", outline=INK, width=4)
    pen.polygon([(300, 285), (250, 262), (250, 308)], fill="#d62839")
    pen.polygon([(300, 285), (350, 262), (350, 308)], fill="#d62839")
    for x in (262, 338):
        disc(pen, x, 195, 20, "white", outline=INK, width=3)
        disc(pen, x + 3, 198, 8, INK)
    pen.arc((255, 200, 345, 255), 20, 160, fill=INK, width=5)
    save(page, "humpty.png")


def santa() -> None:
    """Santa Claus with a sack, in the snow at night."""
    page, pen = canvas(600, 600, "#14213d")
    dice = random.Random(7)
    for _ in range(70):
        disc(pen, dice.randrange(600), dice.randrange(430), dice.choice((2, 3, 4)), "white")
    pen.rectangle((0, 480, 600, 600), fill="#f4f7fb")
    pen.ellipse((390, 290, 540, 510), fill="#8a5a2b", outline=INK, width=3)
    pen.rectangle((445, 270, 485, 300), fill="#8a5a2b")
    pen.ellipse((180, 260, 420, 520), fill="#c1121f", outline=INK, width=3)
    pen.rectangle((184, 400, 416, 430), fill=INK)
    pen.rectangle((278, 394, 322, 436), outline="#ffd84d", width=7)
    pen.line([(400, 340), (465, 285)], fill="#c1121f", width=40)
    disc(pen, 465, 282, 20, "white")
    for x in (240, 360):
        pen.ellipse((x - 45, 500, x + 45, 545), fill=INK)
    disc(pen, 300, 220, 75, "#f2c9a1")
    pen.polygon([(218, 195), (382, 195), (402, 90), (300, 112), (232, 150)], fill="#c1121f")
    pen.rounded_rectangle((215, 180, 385, 206), 12, fill="white")
    disc(pen, 402, 92, 18, "white")
    pen.pieslice((220, 160, 380, 360), 0, 180, fill="white")
    disc(pen, 300, 238, 12, "#e58a7b")
    for x in (272, 328):
        disc(pen, x, 222, 6, INK)
    pen.arc((275, 250, 325, 280), 20, 160, fill="#c1121f", width=4)
    save(page, "santa.png")


def moon_face() -> None:
    """The Man in the Moon of the film of 1902, a shell stuck in his right eye."""
    page, pen = canvas(600, 600, "#1a1a1a")
    dice = random.Random(3)
    for _ in range(40):
        x, y = dice.randrange(600), dice.randrange(530)
        pen.polygon(star((x, y), 6, 2), fill="#c9c9c9")
    disc(pen, 300, 310, 210, "#d9d5c3", outline="#8d897a", width=6)
    for x, y, r in ((180, 420, 28), (420, 430, 22), (300, 140, 18), (430, 210, 16)):
        disc(pen, x, y, r, "#b9b5a3")
    disc(pen, 370, 280, 30, "white", outline=INK, width=4)
    disc(pen, 370, 286, 12, INK)
    pen.ellipse((180, 240, 280, 320), fill="#8d897a")
    pen.polygon(
        [(212, 302), (252, 268), (140, 130), (95, 168)], fill="#6f6f78", outline=INK, width=3
    )
    pen.ellipse((84, 116, 152, 180), fill="#55555e", outline=INK, width=3)
    pen.polygon([(300, 300), (275, 370), (325, 370)], fill="#b9b5a3", outline="#8d897a", width=3)
    pen.arc((220, 400, 380, 460), 190, 350, fill=INK, width=8)
    text(pen, (300, 560), "Le Voyage dans la Lune", Letters(26, "#d9d5c3", bold=True), anchor="mm")
    save(page, "moon_face.png")


def pinocchio() -> None:
    """Pinocchio: a wooden boy with a long nose and a yellow hat, in profile."""
    page, pen = canvas(600, 600, "#f7e7c6")
    pen.rectangle((0, 500, 600, 600), fill="#a3b18a")
    pen.rectangle((190, 330, 310, 460), fill="#c1121f", outline=INK, width=3)
    for x in (205, 275):
        pen.rectangle((x, 460, x + 22, 540), fill="#d4a373", outline=INK, width=3)
        pen.ellipse((x - 12, 525, x + 44, 555), fill="#5a3d2b")
        disc(pen, x + 11, 498, 12, "#bc8a5f", outline=INK, width=2)
    pen.line([(300, 350), (390, 420)], fill="#d4a373", width=20)
    disc(pen, 345, 385, 13, "#bc8a5f", outline=INK, width=2)
    pen.line([(200, 350), (130, 430)], fill="#d4a373", width=20)
    disc(pen, 165, 390, 13, "#bc8a5f", outline=INK, width=2)
    disc(pen, 250, 240, 90, "#d4a373", outline=INK, width=3)
    for offset in (-45, 0, 45):
        pen.arc((190, 180 + offset, 260, 240 + offset), 190, 300, fill="#bc8a5f", width=3)
    pen.polygon(
        [(330, 225), (330, 258), (545, 245), (545, 236)], fill="#e0b07f", outline=INK, width=3
    )
    disc(pen, 290, 215, 15, "white", outline=INK, width=3)
    disc(pen, 294, 217, 6, INK)
    pen.arc((265, 265, 330, 305), 10, 130, fill=INK, width=4)
    pen.polygon([(160, 185), (340, 185), (235, 70)], fill="#ffd84d", outline=INK, width=3)
    pen.polygon([(285, 150), (330, 60), (306, 155)], fill="#d62839")
    pen.polygon([(230, 328), (180, 312), (180, 350)], fill="#2a4b9b")
    pen.polygon([(260, 328), (310, 312), (310, 350)], fill="#2a4b9b")
    save(page, "pinocchio.png")


def cheshire_cat() -> None:
    """The Cheshire Cat: a striped purple cat with a huge grin on a branch."""
    page, pen = canvas(600, 600, "#24324a")
    disc(pen, 500, 90, 40, "#f5f3ce")
    pen.rectangle((0, 420, 600, 462), fill="#5a3d2b")
    pen.polygon([(420, 420), (520, 330), (535, 342), (460, 420)], fill="#5a3d2b")
    for x, y in ((540, 320), (510, 300), (560, 300)):
        pen.ellipse((x - 28, y - 14, x + 28, y + 14), fill="#3f7d4e")
    pen.ellipse((140, 270, 380, 440), fill="#8e5ea2", outline=INK, width=3)
    for x in range(175, 380, 45):
        pen.arc((x - 20, 278, x + 20, 435), 90, 270, fill="#d58fc0", width=12)
    pen.arc((40, 360, 180, 560), 270, 90, fill="#8e5ea2", width=26)
    disc(pen, 300, 230, 110, "#8e5ea2", outline=INK, width=3)
    for left in (205, 325):
        pen.polygon(
            [(left, 165), (left + 35, 75), (left + 75, 140)], fill="#8e5ea2", outline=INK, width=3
        )
    for x in (258, 342):
        disc(pen, x, 200, 24, "#e9f56b", outline=INK, width=3)
        pen.ellipse((x - 6, 182, x + 6, 218), fill=INK)
    pen.polygon([(290, 228), (310, 228), (300, 242)], fill="#f4a7b9")
    pen.chord((208, 160, 392, 320), 15, 165, fill="white", outline=INK, width=4)
    for angle in range(30, 160, 15):
        x = 300 + 85 * math.cos(math.radians(angle))
        pen.line((x, 262, x, 240 + 76 * math.sin(math.radians(angle))), fill=INK, width=2)
    for y in (225, 245):
        pen.line((170, y - 10, 225, y), fill="white", width=2)
        pen.line((375, y, 430, y - 10), fill="white", width=2)
    save(page, "cheshire_cat.png")


if __name__ == "__main__":
    for make in (humpty, santa, moon_face, pinocchio, cheshire_cat):
        make()
