"""Make the clips: camera moves over photographs, countable things and small events.

Run: python make_clips.py
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from clip_tools import HEIGHT, WIDTH, Box, background, between, camera_move, cut_out, steps, write
from common import photo
from make_robot_scenes import ball, cube, green_box, robot_arm, workbench
from PIL import Image, ImageDraw

INK = "#222222"

CAMERA_MOVES: dict[str, tuple[str, Box, Box]] = {
    "pan_left_pagoda.mp4": ("pagoda.jpg", (280, 40, 640, 280), (0, 40, 360, 280)),
    "pan_left_brushes.mp4": ("brushes.jpg", (360, 100, 720, 340), (0, 100, 360, 340)),
    "pan_right_mountain.mp4": ("mountain.jpg", (0, 60, 390, 320), (330, 60, 720, 320)),
    "pan_right_meadow.mp4": ("meadow.jpg", (0, 60, 390, 320), (330, 60, 720, 320)),
    "tilt_up_rocket.mp4": ("rocket.jpg", (160, 213, 481, 427), (160, 0, 481, 214)),
    "tilt_down_dogs.mp4": ("dogs.jpg", (0, 20, 479, 339), (0, 390, 479, 709)),
    "zoom_in_cat.mp4": ("cat.jpg", (0, 0, 450, 300), (110, 85, 245, 175)),
    "zoom_out_dahlia.mp4": ("dahlia.jpg", (258, 184, 354, 248), (0, 0, 640, 427)),
}


def launch() -> Iterator[Image.Image]:
    """The rocket stands, its engine lights, it lifts off and leaves at the top."""
    outline = [
        (320, 126),
        (311, 142),
        (309, 178),
        (314, 186),
        (314, 402),
        (334, 402),
        (334, 186),
        (337, 178),
        (335, 142),
        (327, 128),
    ]
    rocket = cut_out("rocket.jpg", outline)
    ground = photo("rocket.jpg")
    pixels = ground.load()
    for y in range(118, 402):
        left, right = pixels[296, y], pixels[352, y]
        for x in range(297, 352):
            share = (x - 296) / 56
            pixels[x, y] = tuple(
                round(a + (b - a) * share) for a, b in zip(left, right, strict=True)
            )
    for share in steps(60):
        page = ground.copy()
        rise = 640 * max(0.0, share - 0.25) ** 2 * 1.4
        top = round(126 - rise)
        if share > 0.15:
            pen = ImageDraw.Draw(page)
            foot, length = (
                top + 276,
                between(10, 90, (share - 0.15) * 3) * (1 + 0.12 * math.sin(share * 90)),
            )
            for wide, part, colour in (
                (14, 1.0, "#ff8c1a"),
                (9, 0.7, "#ffd84d"),
                (5, 0.4, "white"),
            ):
                pen.polygon(
                    [(324 - wide, foot), (324 + wide, foot), (324, foot + length * part)],
                    fill=colour,
                )
        page.paste(rocket, (309, top), rocket)
        yield page.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)


def bouncing_ball() -> Iterator[Image.Image]:
    """A red ball falls onto the grass, bounces three times and lies still."""
    ground = background("meadow.jpg")
    bounces = ((0.0, 0.2, 0, 220), (0.2, 0.5, 150, 0), (0.5, 0.72, 90, 0), (0.72, 0.88, 40, 0))
    for share in steps(60):
        height = 0.0
        for start, end, top, fall in bounces:
            if start <= share < end:
                part = (share - start) / (end - start)
                height = fall * (1 - part * part) if fall else 4 * top * part * (1 - part)
        page = ground.copy()
        ball(ImageDraw.Draw(page), between(150, 330, share / 0.88), 270 - height, 20, "#d62828")
        yield page


def sliding_cup() -> Iterator[Image.Image]:
    """The red cup on its saucer slides from left to right over grey bricks."""
    ring = [(277 + 201 * math.cos(a / 20), 228 + 160 * math.sin(a / 20)) for a in range(126)]
    rim = [(290 + 118 * math.cos(a / 20), 112 + 96 * math.sin(a / 20)) for a in range(126)]
    picture = photo("coffee.jpg", "RGBA")
    mask = Image.new("L", picture.size, 0)
    for shape in (ring, rim):
        ImageDraw.Draw(mask).polygon(shape, fill=255)
    picture.putalpha(mask)
    cup = picture.crop(mask.getbbox()).resize((170, 160), Image.Resampling.LANCZOS)
    ground = background("bricks.jpg")
    for share in steps():
        page = ground.copy()
        page.paste(cup, (round(between(10, 300, share * 1.25 - 0.1)), 90), cup)
        yield page


def robot_pick() -> Iterator[Image.Image]:
    """The arm goes down, grips the red cube, lifts it and drops it into the green box."""
    path = [
        (0.0, 440, 250),
        (0.2, 440, 328),
        (0.3, 440, 328),
        (0.5, 440, 200),
        (0.75, 180, 200),
        (1.0, 180, 200),
    ]
    for share in steps(60):
        x, y = 180.0, 200.0
        for (t0, x0, y0), (t1, x1, y1) in itertools.pairwise(path):
            if t0 <= share <= t1:
                part = (share - t0) / (t1 - t0)
                x, y = between(x0, x1, part), between(y0, y1, part)
        held = 0.27 < share < 0.8
        place = (440.0, 430.0)
        if held:
            place = (x, y + 102)
        elif share >= 0.8:
            place = (180.0, between(302, 380, (share - 0.8) * 12))
        page, pen = workbench()
        green_box(pen, 180, 420, back=True)
        cube(pen, *place)
        green_box(pen, 180, 420, back=False)
        ball(pen, 320, 412, 24)
        robot_arm(
            pen, (630, 400), (x, y), between(38, 27, (share - 0.2) * 10) if share < 0.8 else 38
        )
        yield page.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)


def figure(
    pen: ImageDraw.ImageDraw, x: float, foot: float, arms: tuple[float, float], legs: float
) -> None:
    """A stick figure; arms are two angles from straight down, legs half the opening, in degrees."""
    hip, neck = foot - 60, foot - 120
    pen.ellipse((x - 17, neck - 34, x + 17, neck), fill="white", outline=INK, width=4)
    pen.line((x, neck, x, hip), fill=INK, width=5)
    for angle in arms:
        turn = math.radians(angle)
        pen.line(
            (x, neck + 12, x + 48 * math.sin(turn), neck + 12 + 48 * math.cos(turn)),
            fill=INK,
            width=5,
        )
    for angle in (legs, -legs):
        turn = math.radians(angle)
        pen.line((x, hip, x + 62 * math.sin(turn), hip + 60 * math.cos(turn)), fill=INK, width=5)


def park() -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """A drawn park: blue sky, green ground, a tree on the right."""
    page = Image.new("RGB", (WIDTH, HEIGHT), "#bfe3f7")
    pen = ImageDraw.Draw(page)
    pen.rectangle((0, 250, WIDTH, HEIGHT), fill="#7cb56a")
    pen.rectangle((418, 150, 440, 255), fill="#6b4a2b")
    pen.ellipse((375, 50, 478, 175), fill="#2f7d36")
    return page, pen


def walking() -> Iterator[Image.Image]:
    """A stick figure walks from left to right and stops at the tree."""
    for share in steps(60):
        page, pen = park()
        moving = share < 0.85
        swing = 28 * math.sin(share * 40) if moving else 0.0
        figure(pen, between(40, 360, share / 0.85), 290, (swing, -swing), abs(swing) + 4)
        yield page


def waving() -> Iterator[Image.Image]:
    """A stick figure stands still and waves one raised arm."""
    for share in steps():
        page, pen = park()
        figure(pen, 200, 290, (122 + 26 * math.sin(share * 32), -15), 14)
        yield page


def jumping() -> Iterator[Image.Image]:
    """A stick figure runs up and jumps over a brown box."""
    for share in steps(60):
        page, pen = park()
        pen.rectangle((205, 245, 255, 290), fill="#a9743f", outline=INK, width=3)
        part = min(1.0, max(0.0, (share - 0.3) / 0.4))
        swing = 30 * math.sin(share * 60)
        in_air = 0 < part < 1
        arms = (120.0, -120.0) if in_air else (swing, -swing)
        figure(
            pen,
            between(40, 360, share * 1.05),
            290 - 4 * 95 * part * (1 - part),
            arms,
            38 if in_air else abs(swing) + 4,
        )
        yield page


def throwing() -> Iterator[Image.Image]:
    """Two stick figures throw a yellow ball to each other."""
    for share in steps(60):
        page, pen = park()
        part = (share * 3) % 1.0
        to_right = int(share * 3) % 2 == 0
        arms = {True: (100.0, -20.0), False: (60.0, -20.0)}
        figure(pen, 90, 290, arms[to_right], 14)
        figure(pen, 320, 290, tuple(-a for a in arms[not to_right]), 14)  # type: ignore[arg-type]
        x = between(140, 270, part if to_right else 1 - part)
        ball(pen, x, 190 - 300 * part * (1 - part), 11, "#ffd84d")
        yield page


if __name__ == "__main__":
    for name, (picture, start, end) in CAMERA_MOVES.items():
        write(name, camera_move(picture, start, end))
    write("launch.mp4", launch())
    write("bouncing_ball.mp4", bouncing_ball())
    write("sliding_cup.mp4", sliding_cup())
    write("robot_pick.mp4", robot_pick())
    write("walking.mp4", walking())
    write("waving.mp4", waving())
    write("jumping.mp4", jumping())
    write("throwing.mp4", throwing())
