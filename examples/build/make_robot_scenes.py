"""Draw the robot scenes of the embodied samples; the clips use the same robot.

Run: python make_robot_scenes.py
"""

from __future__ import annotations

import math

from common import Letters, Point, save, text
from PIL import Image, ImageDraw

INK = "#222222"
STEEL = "#8d99a6"
ORANGE = "#f28c28"


def workbench(width: int = 720, height: int = 480) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """A workshop: pale wall, a window in the upper left, a wooden table."""
    page = Image.new("RGB", (width, height), "#dfe7ea")
    pen = ImageDraw.Draw(page)
    pen.rectangle((30, 30, 190, 150), fill="#ffe3a3", outline="#7a6a55", width=6)
    pen.line((110, 30, 110, 150), fill="#7a6a55", width=4)
    pen.polygon([(0, 330), (width, 330), (width, height), (0, height)], fill="#a9743f")
    for y in (360, 395, 435):
        pen.line((0, y, width, y), fill="#8d5c2e", width=2)
    return page, pen


def robot_arm(pen: ImageDraw.ImageDraw, base: Point, tip: Point, opening: float) -> None:
    """An orange arm of two links from its base to the wrist, with a two-finger gripper."""
    reach, (bx, by), (tx, ty) = 230.0, base, tip
    by -= 60
    span = min(math.hypot(tx - bx, ty - by), 2 * reach - 1)
    bend = math.acos(span / (2 * reach))
    heading = math.atan2(ty - by, tx - bx)
    side = 1 if tx < bx else -1
    elbow = (
        bx + reach * math.cos(heading + side * bend),
        by + reach * math.sin(heading + side * bend),
    )
    pen.rectangle((bx - 45, by, bx + 45, by + 60), fill=STEEL, outline=INK, width=3)
    pen.line([(bx, by), elbow, (tx, ty)], fill=ORANGE, width=30, joint="curve")
    for x, y in ((bx, by), elbow, (tx, ty)):
        pen.ellipse((x - 20, y - 20, x + 20, y + 20), fill="#3c4650")
    for way in (-1, 1):
        x = tx + way * opening
        pen.line(
            [(tx, ty + 10), (x, ty + 24), (x, ty + 62)], fill="#3c4650", width=9, joint="curve"
        )


def cube(pen: ImageDraw.ImageDraw, x: float, y: float, size: float = 46) -> None:
    """A red cube that stands on y, centred on x."""
    half, depth = size / 2, size / 4
    pen.rectangle((x - half, y - size, x + half, y), fill="#d62828", outline=INK, width=2)
    pen.polygon(
        [
            (x - half, y - size),
            (x - half + depth, y - size - depth),
            (x + half + depth, y - size - depth),
            (x + half, y - size),
        ],
        fill="#ef5350",
        outline=INK,
    )
    pen.polygon(
        [
            (x + half, y - size),
            (x + half + depth, y - size - depth),
            (x + half + depth, y - depth),
            (x + half, y),
        ],
        fill="#a11d1d",
        outline=INK,
    )


def green_box(pen: ImageDraw.ImageDraw, x: float, y: float, *, back: bool) -> None:
    """An open green box; draw the back first, then what is inside, then the front."""
    if back:
        pen.polygon(
            [(x - 70, y - 70), (x - 50, y - 100), (x + 90, y - 100), (x + 70, y - 70)],
            fill="#1b5e20",
            outline=INK,
        )
        return
    pen.rectangle((x - 70, y - 70, x + 70, y), fill="#388e3c", outline=INK, width=2)
    pen.polygon(
        [(x + 70, y - 70), (x + 90, y - 100), (x + 90, y - 28), (x + 70, y)],
        fill="#2e7d32",
        outline=INK,
    )


def ball(pen: ImageDraw.ImageDraw, x: float, y: float, r: float, fill: str = "#1e6fd9") -> None:
    """A ball with a highlight, centred on x and y."""
    pen.ellipse((x - r, y - r, x + r, y + r), fill=fill, outline=INK, width=2)
    pen.ellipse((x - r * 0.5, y - r * 0.6, x - r * 0.1, y - r * 0.2), fill="white")


def table_scene(cube_at: Point, tip: Point, opening: float) -> Image.Image:
    """The whole table with arm, cube, ball and box."""
    page, pen = workbench()
    green_box(pen, 180, 420, back=True)
    cube(pen, *cube_at)
    green_box(pen, 180, 420, back=False)
    ball(pen, 320, 412, 24)
    robot_arm(pen, (630, 400), tip, opening)
    return page


def corridor() -> None:
    """A wheeled robot in a corridor: open door left, person right, cone ahead."""
    page = Image.new("RGB", (720, 480), "#f1efe8")
    pen = ImageDraw.Draw(page)
    pen.polygon([(0, 480), (720, 480), (450, 250), (270, 250)], fill="#8f9aa3")
    pen.rectangle((270, 110, 450, 250), fill="#d8d4c8")
    pen.polygon([(0, 0), (270, 110), (270, 250), (0, 480)], fill="#e7e2d4")
    pen.polygon([(720, 0), (450, 110), (450, 250), (720, 480)], fill="#dcd6c5")
    pen.polygon([(60, 140), (190, 165), (190, 318), (60, 428)], fill="#4b3a2c")
    pen.polygon([(190, 165), (235, 150), (235, 340), (190, 318)], fill="#a9743f", outline=INK)
    pen.rectangle((325, 140, 395, 164), fill="#2e7d32")
    text(pen, (360, 152), "EXIT", Letters(18, "white", bold=True), anchor="mm")
    pen.polygon([(350, 330), (372, 270), (394, 330)], fill=ORANGE)
    pen.polygon([(358, 310), (364, 294), (380, 294), (386, 310)], fill="white")
    pen.rectangle((340, 330, 404, 338), fill=ORANGE)
    pen.ellipse((535, 150, 575, 190), fill="#e0ac7d", outline=INK)
    pen.rounded_rectangle((525, 192, 585, 300), 12, fill="#1e6fd9", outline=INK)
    pen.line([(585, 205), (620, 150)], fill="#1e6fd9", width=14)
    pen.ellipse((612, 134, 634, 156), fill="#e0ac7d")
    for x in (540, 570):
        pen.line((x, 300, x, 400), fill="#3c4650", width=20)
    pen.rounded_rectangle((215, 320, 345, 440), 18, fill="white", outline=INK, width=3)
    pen.rounded_rectangle((235, 340, 325, 385), 8, fill="#12324a")
    for x in (262, 298):
        pen.ellipse((x - 8, 354, x + 8, 370), fill="#5de2ff")
    for x in (230, 330):
        pen.ellipse((x - 22, 420, x + 22, 464), fill=INK)
    save(page, "robot_corridor.png")


if __name__ == "__main__":
    save(table_scene((440, 430), (440, 320), 34), "robot_before.png")
    save(table_scene((172, 380), (250, 230), 34), "robot_after.png")
    corridor()
