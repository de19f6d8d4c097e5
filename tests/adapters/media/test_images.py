import io
import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps
from tests.fakes.png import png

from caliper.adapters.media.bounds import MediaLimits
from caliper.adapters.media.images import encode, open_image, picture_size
from caliper.adapters.media.place import find
from caliper.core.errors import InvalidInput, MediaMissing
from caliper.core.preparation import Preparation

LIMITS = MediaLimits()
RED, WHITE = (255, 0, 0), (255, 255, 255)


def saved(path: Path, image: Image.Image, **options: object) -> Path:
    image.save(path, **options)  # type: ignore[arg-type]
    return path


def halves(mode: str, left: object, right: object, size: tuple[int, int] = (40, 20)) -> Image.Image:
    """A picture whose left half has one colour and whose right half another."""
    image = Image.new(mode, size, left)  # type: ignore[arg-type]
    image.paste(right, (size[0] // 2, 0, *size))  # type: ignore[arg-type]
    return image


def near(found: object, expected: tuple[int, ...]) -> bool:
    return all(abs(a - b) <= 6 for a, b in zip(found, expected, strict=True))  # type: ignore[call-overload]


@pytest.mark.parametrize("suffix", ["png", "jpg", "bmp", "gif", "tiff", "webp"])
def test_common_formats_come_as_rgb(tmp_path: Path, suffix: str) -> None:
    path = saved(tmp_path / f"a.{suffix}", Image.new("RGB", (16, 8), RED))
    image = open_image(path, LIMITS)
    assert (image.mode, image.size) == ("RGB", (16, 8))
    assert near(image.getpixel((3, 3)), RED)


def test_a_picture_is_turned_as_its_exif_says(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned a quarter clockwise: the left half comes to the top
    for name in ("a.png", "a.jpg"):
        path = saved(tmp_path / name, halves("RGB", RED, WHITE), exif=exif)
        for longest in (None, 20):
            image = open_image(path, LIMITS, longest)
            assert image.height == 2 * image.width
            assert near(image.getpixel((image.width // 2, 1)), RED)
            assert near(image.getpixel((image.width // 2, image.height - 2)), WHITE)


@pytest.mark.parametrize(
    "image",
    [
        halves("RGBA", (255, 0, 0, 255), (0, 0, 0, 0)),
        halves("LA", (128, 255), (0, 0)),
        halves("RGBA", (255, 0, 0, 255), (0, 0, 0, 0)).convert("PA"),
    ],
    ids=["RGBA", "LA", "PA"],
)
def test_transparency_is_laid_over_white(tmp_path: Path, image: Image.Image) -> None:
    path = saved(tmp_path / "a.png", image.convert("RGBA") if image.mode == "PA" else image)
    found = open_image(path, LIMITS)
    assert found.getpixel((30, 10)) == WHITE
    assert found.getpixel((10, 10)) != WHITE


def test_a_transparent_colour_of_a_palette_is_white(tmp_path: Path) -> None:
    image = halves("P", 0, 1)
    image.putpalette([255, 0, 0, 0, 0, 255])
    path = saved(tmp_path / "a.png", image, transparency=b"\xff\x00")
    found = open_image(path, LIMITS)
    assert (found.getpixel((10, 10)), found.getpixel((30, 10))) == (RED, WHITE)


def test_cmyk_is_converted(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.jpg", Image.new("CMYK", (16, 16), (0, 255, 255, 0)), quality=95)
    assert near(open_image(path, LIMITS).getpixel((8, 8)), RED)


@pytest.mark.parametrize("suffix", ["png", "tiff"])
def test_sixteen_bits_are_scaled_to_eight(tmp_path: Path, suffix: str) -> None:
    values = np.array([[0, 257 * 16, 257 * 128, 65535]], dtype=np.uint16)
    path = saved(tmp_path / f"a.{suffix}", Image.fromarray(values))
    found = open_image(path, LIMITS)
    assert [found.getpixel((x, 0)) for x in range(4)] == [(v, v, v) for v in (0, 16, 128, 255)]


@pytest.mark.parametrize("suffix", ["gif", "webp", "png"])
def test_an_animation_gives_its_first_frame(tmp_path: Path, suffix: str) -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in (RED, (0, 255, 0), (0, 0, 255))]
    path = saved(tmp_path / f"a.{suffix}", frames[0], save_all=True, append_images=frames[1:])
    assert near(open_image(path, LIMITS).getpixel((4, 4)), RED)


def test_shrinking_keeps_the_proportions_and_never_enlarges(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.jpg", Image.new("RGB", (400, 200), RED))
    assert open_image(path, LIMITS, 100).size == (100, 50)
    assert open_image(path, LIMITS, 1000).size == (400, 200)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(MediaMissing):
        open_image(tmp_path / "none.jpg", LIMITS)


@pytest.mark.parametrize("name", ["none.jpg", "img\ud800.jpg", "folder/\udfff"])
def test_a_name_of_which_there_is_no_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(MediaMissing, match="no file"):
        find(tmp_path, name)


@pytest.mark.parametrize("suffix", ["png", "jpg", "gif", "tiff", "webp"])
def test_a_truncated_file(tmp_path: Path, suffix: str) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    path = saved(tmp_path / f"a.{suffix}", Image.fromarray(noise))
    whole = path.read_bytes()
    for keep in (0, 5, len(whole) // 2):
        path.write_bytes(whole[:keep])
        with pytest.raises(InvalidInput, match="not a readable picture") as caught:
            open_image(path, LIMITS)
        assert caught.value.file == str(path)


def test_sixteen_bits_of_colour_become_their_upper_eight(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(png(1, 1, b"\0" + struct.pack(">3H", 65535, 257 * 16, 0), bits=16))
    assert open_image(path, LIMITS).getpixel((0, 0)) == (255, 16, 0)


@pytest.mark.parametrize(
    ("width", "height"), [(50_000, 50_000), (20_000, 20_000), (20_000, 10_000), (14_000, 14_000)]
)
def test_a_decompression_bomb_is_not_decoded(tmp_path: Path, width: int, height: int) -> None:
    path = tmp_path / "bomb.png"
    path.write_bytes(png(width, height, b"\0" * 1000))
    with pytest.raises(InvalidInput, match="pixels"):
        open_image(path, LIMITS)


def test_the_bounds_are_parameters(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.png", Image.new("RGB", (40, 25), RED))
    size = path.stat().st_size
    assert open_image(path, MediaLimits(picture_bytes=size, pixels=1000)).size == (40, 25)
    with pytest.raises(InvalidInput, match="40 x 25 is more than 999 pixels"):
        open_image(path, MediaLimits(pixels=999))
    with pytest.raises(InvalidInput, match=f"larger than {size - 1} bytes"):
        open_image(path, MediaLimits(picture_bytes=size - 1))


def test_a_large_picture_within_the_bounds_is_no_warning(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.png", Image.new("1", (10_000, 9_000)))
    assert open_image(path, LIMITS, 10).size == (10, 9)


def test_reading_a_picture_changes_nobody_s_warning_filters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filters = list(warnings.filters)
    during: list[object] = []
    unpatched = Image.open

    def opened(*arguments: Any, **options: Any) -> Image.Image:
        during.append(list(warnings.filters))
        return unpatched(*arguments, **options)

    monkeypatch.setattr(Image, "open", opened)
    open_image(saved(tmp_path / "a.png", Image.new("RGB", (16, 8), RED)), LIMITS)
    assert during == [filters]


def test_what_is_no_picture(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    for data in (b"text", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", b"\0" * 999):
        path.write_bytes(data)
        with pytest.raises(InvalidInput):
            open_image(path, LIMITS)


def test_formats_that_no_dataset_uses_stay_shut(tmp_path: Path) -> None:
    for suffix in ("ico", "tga", "ppm"):
        path = saved(tmp_path / f"a.{suffix}", Image.new("RGB", (16, 16), RED))
        with pytest.raises(InvalidInput, match="not a readable picture"):
            open_image(path, LIMITS)


def test_a_folder_is_no_picture(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="Is a directory"):
        open_image(tmp_path, LIMITS)


def encoded(kind: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (9, 7), RED).save(out, kind)
    return out.getvalue()


SAMPLES = {kind: encoded(kind) for kind in ("PNG", "JPEG", "GIF", "TIFF", "WEBP", "BMP", "AVIF")}


@given(
    kind=st.sampled_from(sorted(SAMPLES)),
    changes=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=8),
)
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_broken_bytes_are_refused_or_read(
    tmp_path: Path, kind: str, changes: list[tuple[int, int]]
) -> None:
    data = bytearray(SAMPLES[kind])
    for place, value in changes:
        data[place % len(data)] = value
    path = tmp_path / "a"
    path.write_bytes(data)
    try:
        image = open_image(path, MediaLimits(pixels=1_000_000), 32)
    except InvalidInput:
        return
    assert image.mode == "RGB"


NOISE = Image.fromarray(np.random.default_rng(0).integers(0, 255, (300, 400, 3), dtype=np.uint8))


def sent(image: Image.Image, **asked: int) -> tuple[bytes, tuple[int, int]]:
    data = encode(image, Preparation(**asked))
    with Image.open(io.BytesIO(data), formats=["JPEG"]) as found:
        return data, found.size


def test_a_picture_is_sent_at_the_stated_size_and_quality() -> None:
    assert sent(NOISE)[1] == (400, 300)
    assert sent(NOISE, longest=200)[1] == (200, 150)
    assert len(sent(NOISE, quality=50)[0]) < len(sent(NOISE)[0])
    assert sent(NOISE) == sent(NOISE.copy())


def test_a_picture_of_too_many_bytes_is_shrunk_further() -> None:
    whole = len(sent(NOISE)[0])
    assert sent(NOISE, image_bytes=whole)[1] == (400, 300)
    data, size = sent(NOISE, image_bytes=whole - 1)
    assert size == (300, 225)
    assert len(data) < whole
    assert len(sent(NOISE, image_bytes=10_000)[0]) <= 10_000


def test_what_else_a_file_says_is_not_sent(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x010E] = "secret"
    path = saved(tmp_path / "a.jpg", NOISE, exif=exif, comment=b"secret", icc_profile=b"secret")
    plain = saved(tmp_path / "b.jpg", NOISE)
    data = encode(open_image(path, LIMITS, 100), Preparation())
    assert data == encode(open_image(plain, LIMITS, 100), Preparation())
    assert b"secret" not in data


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_a_large_jpeg_is_shrunk_to_the_colours_it_has(tmp_path: Path, mode: str) -> None:
    image = halves("RGB", RED, WHITE, (2000, 1000)).convert(mode)
    path = saved(tmp_path / "a.jpg", image, quality=95)
    found = open_image(path, LIMITS, 200)
    assert found.size == (200, 100)
    expected = RED if mode != "L" else (76, 76, 76)
    assert near(found.getpixel((50, 50)), expected)
    assert near(found.getpixel((150, 50)), WHITE)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation_is_put_upright(tmp_path: Path, orientation: int) -> None:
    corner = Image.new("RGB", (64, 32), RED)
    corner.paste(WHITE, (0, 0, 16, 16))
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = saved(tmp_path / "a.png", corner, exif=exif)
    found = open_image(path, LIMITS, 32)
    with Image.open(path) as stored:
        expected = ImageOps.exif_transpose(stored).resize(found.size)
    assert np.abs(np.asarray(found, dtype=int) - np.asarray(expected, dtype=int)).mean() < 12


@pytest.mark.parametrize(("orientation", "size"), [(1, (30, 20)), (3, (30, 20)), (6, (20, 30))])
def test_the_size_of_a_picture_is_that_upright(
    tmp_path: Path, orientation: int, size: tuple[int, int]
) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    for name in ("a.jpg", "a.png"):
        Image.new("RGB", (30, 20)).save(tmp_path / name, exif=exif)
        assert picture_size(tmp_path / name, MediaLimits()) == size
    with pytest.raises(InvalidInput, match="30 x 20 is more than 599 pixels"):
        picture_size(tmp_path / "a.png", MediaLimits(pixels=599))
