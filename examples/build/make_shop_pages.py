"""Draw the product pages and packages; brands and prices are made up.

Two pages show photographs of the set (the coffee cup and the bowl with the
fig). Run: python make_shop_pages.py
"""

# The pages carry the dashes, crosses and signs of real ones.
# ruff: noqa: RUF001

from __future__ import annotations

import math

from common import Colour, Letters, crop_to, photo, save, star, text
from PIL import Image, ImageDraw

INK = "#222222"
GREY = "#7d7d7d"
RED = "#c62828"


def blank(
    width: int, height: int, colour: Colour = "white"
) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """An empty page and its pen."""
    page = Image.new("RGB", (width, height), colour)
    return page, ImageDraw.Draw(page)


def table(pen: ImageDraw.ImageDraw, place: tuple[int, int], rows: list[tuple[str, str]]) -> None:
    """A two-column specification table with grey stripes."""
    x, y = place
    for index, (name, value) in enumerate(rows):
        top = y + 34 * index
        pen.rectangle((x, top, x + 400, top + 33), fill="#f2f2f2" if index % 2 == 0 else "white")
        text(pen, (x + 10, top + 17), name, Letters(16, bold=True), anchor="lm")
        text(pen, (x + 170, top + 17), value, Letters(16), anchor="lm")


def shop_cup() -> None:
    """Product page of an espresso cup, on sale, with the coffee photograph."""
    page, pen = blank(960, 640)
    pen.rectangle((0, 0, 960, 56), fill="#3b2a20")
    text(pen, (30, 28), "RUSTICO®", Letters(28, "white", bold=True), anchor="lm")
    text(pen, (930, 28), "Basket (0)", Letters(18, "white"), anchor="rm")
    page.paste(crop_to(photo("coffee.jpg"), 450, 300), (30, 90))
    pen.polygon(star((90, 130), 52, 42, 16), fill=RED)
    text(pen, (90, 130), "−25%", Letters(24, "white", bold=True), anchor="mm")
    text(pen, (30, 410), "“A small pause in a big day.”", Letters(20, GREY))
    text(pen, (30, 460), "4.6 of 5 stars, 212 reviews", Letters(17))
    text(pen, (30, 500), "Warning: the cup gets hot. Hold it by the handle.", Letters(15, RED))
    text(pen, (30, 540), "Fits all espresso machines up to 7 cm.", Letters(16))
    text(pen, (520, 90), "Espresso Cup and Saucer", Letters(26, bold=True))
    text(pen, (520, 126), "Model RC-90, stoneware", Letters(18, GREY))
    text(pen, (520, 170), "€18.00", Letters(36, RED, bold=True))
    text(pen, (680, 182), "€24.00", Letters(22, GREY))
    pen.line((678, 195, 762, 195), fill=GREY, width=2)
    rows = [
        ("Capacity", "90 ml"),
        ("Material", "Stoneware"),
        ("Colour", "Rust red, white inside"),
        ("Saucer", "16 cm across"),
        ("Weight", "420 g"),
        ("Dishwasher", "Safe"),
        ("Included", "Cup and saucer"),
        ("Spoon", "Not included"),
    ]
    table(pen, (520, 240), rows)
    pen.rounded_rectangle((520, 545, 920, 605), 10, fill="#2e7d32")
    text(pen, (720, 575), "Add to basket", Letters(24, "white", bold=True), anchor="mm")
    save(page, "shop_cup.jpg")


def shop_bowl() -> None:
    """Product page of a bamboo bowl with an award badge."""
    page, pen = blank(960, 640, "#fffaf3")
    text(pen, (40, 24), "Casa Verde", Letters(34, "#33691e", bold=True))
    text(pen, (920, 34), "Free delivery over £40", Letters(18, GREY), anchor="ra")
    page.paste(crop_to(photo("fig.jpg"), 500, 340), (40, 90))
    pen.ellipse((455, 340, 595, 480), fill="#f9c74f", outline="#b8860b", width=4)
    for line, words in enumerate(("Best of", "Craft", "2024")):
        text(pen, (525, 386 + 26 * line), words, Letters(20, bold=True), anchor="mm")
    text(pen, (620, 90), "Leaf Bowl, large", Letters(30, bold=True))
    text(pen, (620, 140), "£32.00", Letters(34, "#33691e", bold=True))
    text(pen, (620, 190), "Only 3 left in stock", Letters(18, RED))
    for row, words in enumerate(
        (
            "Pressed bamboo, lacquered",
            "36 × 24 × 9 cm",
            "480 g, light to carry",
            "Scratch-resistant finish",
            "For fruit, bread or salad",
            "Hand wash only",
        )
    ):
        text(pen, (620, 235 + 34 * row), f"• {words}", Letters(17))
    text(pen, (40, 455), "The fig is not included.", Letters(16, GREY))
    text(pen, (40, 500), "Colours:", Letters(18, bold=True))
    for index, colour in enumerate(("#e03c12", "#2e7d32", "#1f3a5f")):
        pen.ellipse((140 + 50 * index, 492, 176 + 50 * index, 528), fill=colour)
    pen.ellipse((136, 488, 180, 532), outline=INK, width=3)
    pen.rounded_rectangle((620, 520, 920, 580), 10, fill="#33691e")
    text(pen, (770, 550), "Buy now", Letters(24, "white", bold=True), anchor="mm")
    save(page, "shop_bowl.jpg")


def tea_box() -> None:
    """A green tea box seen at an angle on a plain white ground, one mug beside it."""
    page, pen = blank(720, 640)
    pen.polygon([(60, 600), (440, 600), (560, 560), (200, 540)], fill="#e8e8e8")
    pen.polygon([(90, 140), (370, 140), (450, 90), (180, 90)], fill="#4f9a54")
    pen.polygon([(370, 140), (450, 90), (450, 540), (370, 590)], fill="#23632a")
    pen.rectangle((90, 140, 370, 590), fill="#2f7d36")
    text(pen, (230, 175), "MORNING LEAF™", Letters(26, "white", bold=True), anchor="ma")
    pen.ellipse((160, 230, 300, 370), fill="#f5f0d8")
    pen.polygon([(230, 245), (270, 310), (230, 355), (190, 310)], fill="#6bb04a")
    pen.line((230, 250, 230, 355), fill="#2f7d36", width=3)
    text(pen, (230, 390), "Organic Green Tea", Letters(23, "white"), anchor="ma")
    text(pen, (230, 430), "20 tea bags · 40 g", Letters(19, "white"), anchor="ma")
    pen.rectangle((110, 480, 350, 520), fill="#f5f0d8")
    text(pen, (230, 500), "Keep dry. Store below 25 °C.", Letters(15), anchor="mm")
    text(pen, (230, 534), "♻ Recyclable carton", Letters(18, "white"), anchor="ma")
    pen.rectangle((520, 420, 640, 560), fill="#d9dde2")
    pen.ellipse((520, 400, 640, 440), fill="#8a5a2b", outline="#d9dde2", width=8)
    pen.ellipse((520, 545, 640, 575), fill="#d9dde2")
    pen.arc((615, 450, 690, 530), -90, 90, fill="#d9dde2", width=16)
    save(page, "tea_box.png")


def lamp(pen: ImageDraw.ImageDraw, foot: tuple[int, int], scale: float) -> None:
    """A blue desk lamp with a round foot, a bent arm and a cone shade."""
    x, y = foot
    blue = "#1d4e89"

    def at(dx: float, dy: float) -> tuple[float, float]:
        return (x + dx * scale, y + dy * scale)

    pen.ellipse((*at(-90, -20), *at(90, 25)), fill=blue)
    pen.line(
        [at(0, 0), at(-70, -200), at(60, -360)], fill=blue, width=int(14 * scale), joint="curve"
    )
    pen.ellipse((*at(-86, -216), *at(-54, -184)), fill="#c9a227")
    pen.polygon([at(40, -390), at(85, -350), at(180, -250), at(60, -300)], fill=blue)
    pen.polygon([at(60, -300), at(180, -250), at(170, -235), at(55, -285)], fill="#ffe9a8")


def lamp_front() -> None:
    """The whole lamp from the front on white, with name and price."""
    page, pen = blank(600, 640)
    lamp(pen, (280, 500), 1.0)
    text(pen, (300, 24), "LUMO One desk lamp", Letters(28, bold=True), anchor="ma")
    text(pen, (300, 560), "$49.00", Letters(30, bold=True), anchor="ma")
    text(
        pen, (300, 606), "Matte blue steel, brass joint, 42 cm tall", Letters(17, GREY), anchor="ma"
    )
    save(page, "lamp_front.png")


def lamp_detail() -> None:
    """Close-up of the foot with its touch button and socket."""
    page, pen = blank(600, 640, "#eef1f4")
    pen.ellipse((60, 240, 540, 520), fill="#1d4e89")
    pen.ellipse((60, 225, 540, 495), fill="#2863aa")
    pen.polygon([(280, 60), (330, 60), (325, 330), (290, 330)], fill="#1d4e89")
    pen.ellipse((170, 380, 250, 440), fill="#dfe6ee", outline="white", width=3)
    ring = [(210 + 18 * math.cos(a / 10), 410 + 13 * math.sin(a / 10)) for a in range(8, 56)]
    pen.line(ring, fill="#1d4e89", width=4)
    pen.line((210, 392, 210, 406), fill="#1d4e89", width=4)
    text(pen, (300, 20), "Touch to dim: 3 levels", Letters(26, bold=True), anchor="ma")
    pen.rounded_rectangle((400, 412, 452, 432), 9, fill="#111111")
    text(
        pen,
        (300, 550),
        "USB-C cable included. Works with any USB charger.",
        Letters(18),
        anchor="ma",
    )
    text(pen, (300, 590), "Splash-proof (IP44) · 5-year guarantee", Letters(18), anchor="ma")
    save(page, "lamp_detail.png")


if __name__ == "__main__":
    for make in (shop_cup, shop_bowl, tea_box, lamp_front, lamp_detail):
        make()
