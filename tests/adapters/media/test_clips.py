from pathlib import Path

import av
import numpy as np
import pytest
from tests.fakes.footage import sound

from caliper.adapters.media.bounds import MediaLimits
from caliper.adapters.media.clips import open_frame
from caliper.core.errors import InvalidInput, MediaMissing

LIMITS = MediaLimits()


def clip(
    path: Path, greys: list[int], size: tuple[int, int] = (64, 48), aspect: str = "1:1"
) -> Path:
    """A clip of ten frames a second, each of one grey; every 50th is a key frame."""
    width, height = size
    with av.open(str(path), "w") as container:
        stream = container.add_stream(
            "mpeg4", rate=10, options={"sc_threshold": "1000000000", "aspect": aspect}
        )
        stream.codec_context.gop_size = 50
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for grey in greys:
            pixels = np.full((height, width, 3), grey, dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
    return path


def grey(path: Path) -> float:
    image = open_frame(path, LIMITS)
    assert (image.mode, image.size) == ("RGB", (64, 48))
    return float(np.asarray(image).mean())


@pytest.mark.parametrize("suffix", ["mp4", "mkv", "avi", "mov"])
def test_the_middle_frame(tmp_path: Path, suffix: str) -> None:
    path = clip(tmp_path / f"a.{suffix}", [5 * number for number in range(41)])
    assert grey(path) == pytest.approx(100, abs=12)


def test_the_middle_of_a_clip_that_is_long(tmp_path: Path) -> None:
    path = clip(tmp_path / "a.mp4", [0] * 370 + [200] * 430)
    assert grey(path) == pytest.approx(200, abs=6)


def test_a_clip_of_one_frame(tmp_path: Path) -> None:
    path = clip(tmp_path / "a.mp4", [120])
    assert grey(path) == pytest.approx(120, abs=4)


def test_a_missing_clip(tmp_path: Path) -> None:
    with pytest.raises(MediaMissing):
        open_frame(tmp_path / "none.mp4", LIMITS)


def test_a_truncated_clip(tmp_path: Path) -> None:
    path = clip(tmp_path / "a.mp4", [0] * 20)
    whole = path.read_bytes()
    for keep in (0, 10, len(whole) // 2):
        path.write_bytes(whole[:keep])
        with pytest.raises(InvalidInput):
            open_frame(path, LIMITS)


def test_too_many_pixels(tmp_path: Path) -> None:
    path = clip(tmp_path / "a.mp4", [0] * 3)
    with pytest.raises(InvalidInput, match="64 x 48 is more than 3071 pixels"):
        open_frame(path, MediaLimits(frame_pixels=64 * 48 - 1))


def test_a_small_file_whose_pixels_are_said_to_be_wide(tmp_path: Path) -> None:
    path = clip(tmp_path / "a.mkv", [0] * 3, (2000, 2000), "10:1")
    assert path.stat().st_size < 50_000
    with pytest.raises(InvalidInput, match="20000 x 2000 is more than 36000000 pixels"):
        open_frame(path, LIMITS)


def test_sound_alone_is_no_clip(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no video stream"):
        open_frame(sound(tmp_path / "a.mkv"), LIMITS)


def test_a_playlist_opens_nothing(tmp_path: Path) -> None:
    clip(tmp_path / "real.mp4", [0] * 3)
    lists = {
        "a.mp4": "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nreal.mp4\n#EXT-X-ENDLIST\n",
        "b.mp4": "ffconcat version 1.0\nfile real.mp4\n",
    }
    for name, text in lists.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(InvalidInput):
            open_frame(tmp_path / name, LIMITS)
