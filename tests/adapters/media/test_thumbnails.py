import io
from pathlib import Path

import pytest
from PIL import Image
from tests.fakes.sources import EXAMPLES

from caliper.adapters.media.bounds import THUMBNAIL_CLIP_BYTES, THUMBNAIL_PIXELS, MediaLimits
from caliper.adapters.media.thumbnails import Thumbnails
from caliper.core.errors import InvalidInput, MediaMissing


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "media"
    (folder / "images").mkdir(parents=True)
    Image.new("RGB", (600, 300), "red").save(folder / "images" / "a.png")
    Image.new("RGB", (60, 30), "red").save(tmp_path / "secret.png")
    return folder


def size(jpeg: bytes | None) -> tuple[int, int]:
    assert jpeg is not None
    with Image.open(io.BytesIO(jpeg), formats=["JPEG"]) as image:
        return image.size


@pytest.mark.parametrize("name", ["images/a.png", "./images/a.png", "images//a.png"])
def test_a_picture_gives_a_small_jpeg(root: Path, name: str) -> None:
    assert size(Thumbnails(root).jpeg(name)) == (256, 128)
    assert size(Thumbnails(root).jpeg(name, longest=100)) == (100, 50)


def test_a_missing_picture(root: Path) -> None:
    for name in ("images/b.png", "images", "images/a.png/b"):
        assert Thumbnails(root).jpeg(name) is None
        with pytest.raises(MediaMissing):
            Thumbnails(root).load(name)
    with pytest.raises(MediaMissing):
        Thumbnails(root / "nowhere").load("a.png")


def test_a_picture_that_cannot_be_used(root: Path) -> None:
    (root / "b.png").write_bytes(b"no picture")
    assert Thumbnails(root).jpeg("b.png") is None
    with pytest.raises(InvalidInput):
        Thumbnails(root).load("b.png")
    assert Thumbnails(root, MediaLimits(pixels=100)).jpeg("images/a.png") is None


def test_larger_files_than_a_service_can_take(root: Path) -> None:
    Image.new("1", (6000, 5001)).save(root / "b.png")
    with pytest.raises(InvalidInput, match=f"more than {THUMBNAIL_PIXELS} pixels"):
        Thumbnails(root).load("b.png")
    with (root / "b.mp4").open("wb") as file:
        file.truncate(THUMBNAIL_CLIP_BYTES + 1)
    with pytest.raises(InvalidInput, match=f"larger than {THUMBNAIL_CLIP_BYTES} bytes"):
        Thumbnails(root).load("b.mp4")


@pytest.mark.parametrize(
    "name", ["../secret.png", "images/../../secret.png", "images/../images/a.png", "", "a\0b", "."]
)
def test_names_that_leave_the_folder_or_name_nothing(root: Path, name: str) -> None:
    assert Thumbnails(root).jpeg(name) is None
    with pytest.raises(InvalidInput, match="not a path inside the media folder"):
        Thumbnails(root).load(name)


def test_an_absolute_path_is_refused_even_inside(root: Path) -> None:
    with pytest.raises(InvalidInput):
        Thumbnails(root).load(str(root / "images" / "a.png"))


def test_links_that_leave_the_folder(root: Path, tmp_path: Path) -> None:
    (root / "out.png").symlink_to(tmp_path / "secret.png")
    (root / "up").symlink_to(tmp_path)
    for name in ("out.png", "up/secret.png"):
        with pytest.raises(InvalidInput, match="leads out"):
            Thumbnails(root).load(name)


def test_links_within_the_folder_and_to_it(root: Path, tmp_path: Path) -> None:
    (root / "same.png").symlink_to(Path("images") / "a.png")
    (tmp_path / "link").symlink_to(root)
    assert size(Thumbnails(tmp_path / "link").jpeg("same.png")) == (256, 128)


def test_a_loop_of_links(root: Path) -> None:
    (root / "loop.png").symlink_to(root / "loop.png")
    with pytest.raises(MediaMissing):
        Thumbnails(root).load("loop.png")


def test_a_sheet_shows_a_clip_from_its_start_to_its_end() -> None:
    clips = Thumbnails(EXAMPLES / "media")
    sheet = clips.sheet("videos/coins_appear.mp4", 900)
    width, height = size(sheet)
    assert width == 900
    assert 300 < height <= 900
    assert clips.sheet("videos/lost.mp4", 900) is None
    assert clips.sheet("images/coffee.jpg", 300) == clips.jpeg("images/coffee.jpg", 300)
