"""Exactly the frames that the rule names are shown, whatever the clip is like."""

import io
import struct
from fractions import Fraction
from functools import partial
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image
from tests.fakes.footage import HEIGHT, WIDTH, Clip, index_of, sound, write_clip

from caliper.adapters.media.bounds import MediaLimits
from caliper.adapters.media.clips import encode_frames, open_frame
from caliper.adapters.media.images import encode
from caliper.core.errors import InvalidInput, MediaMissing
from caliper.core.preparation import Preparation

LIMITS = MediaLimits()
NTSC = Fraction(30000, 1001)


def shown(path: Path, limits: MediaLimits = LIMITS, **asked: object) -> list[int]:
    preparation = Preparation(**asked)  # type: ignore[arg-type]
    found = encode_frames(path, preparation, limits, partial(encode, preparation=preparation))
    return [index_of(jpeg) for jpeg in found]


def middles(frames: int, count: int) -> list[int]:
    return [(2 * k + 1) * frames // (2 * count) for k in range(count)]


@pytest.mark.parametrize("rate", [Fraction(25), NTSC], ids=["25", "ntsc"])
@pytest.mark.parametrize(
    ("ending", "codec"),
    [
        ("mp4", "libx264"),
        ("mkv", "libx264"),
        ("avi", "libx264"),
        ("mov", "mpeg4"),
        ("avi", "mpeg4"),
        ("mpg", "mpeg2video"),
        ("webm", "libvpx-vp9"),
        ("m4v", "mpeg4"),
    ],
)
def test_the_same_frames_in_every_container(
    tmp_path: Path, ending: str, codec: str, rate: Fraction
) -> None:
    b_frames = 0 if "vp9" in codec else 2
    path = write_clip(tmp_path / f"a.{ending}", Clip(80, rate, codec, b_frames))
    for count in (1, 3, 8, 13):
        assert shown(path, frames=count) == middles(80, count)
    # 3.2 s at 25 a second are 2 instants a second, from .25 s on.
    expected = [int((2 * k + 1) * rate / 4) for k in range(6 if rate == 25 else 5)]
    assert shown(path, frames=8, fps=Fraction(2)) == expected
    assert shown(path, frames=4, fps=Fraction(2)) == middles(80, 4)


@pytest.mark.parametrize("frames", [1, 2, 5, 8, 9])
def test_a_clip_of_few_frames_is_shown_whole(tmp_path: Path, frames: int) -> None:
    path = write_clip(tmp_path / "a.mp4", Clip(frames))
    assert shown(path, frames=9) == list(range(frames))
    assert shown(path, frames=9, fps=Fraction(240)) == list(range(frames))
    assert shown(path, frames=9, fps=Fraction(1, 100)) == [frames // 2]


@pytest.mark.parametrize("ending", ["mkv", "mp4"])
def test_a_variable_rate_goes_by_time(tmp_path: Path, ending: str) -> None:
    # A second at 10 frames, four seconds of a still, and a second at 20 frames.
    times = [*range(0, 1000, 100), *range(5000, 6000, 50)]
    path = write_clip(tmp_path / f"a.{ending}", Clip(30, Fraction(20), times=times))
    # The last frame of ten is on display from .9 s to 5 s; instants are a second apart.
    assert shown(path, frames=6) == [5, 9, 20]
    assert shown(path, frames=12, fps=Fraction(2)) == [2, 7, 9, 15, 25]
    assert shown(path, frames=24) == [1, 3, 6, 8, 9, 12, 17, 22, 27]


def test_frames_that_share_a_stamp_are_spread(tmp_path: Path) -> None:
    with av.open(str(write_clip(tmp_path / "a.mkv", Clip(40, b_frames=0)))) as source:
        copied(source, tmp_path / "b.mkv", lambda pts: pts // 80 * 80)
    assert shown(tmp_path / "b.mkv", frames=8) == middles(40, 8)


def copied(source: "av.container.InputContainer", path: Path, restamped: object) -> Path:
    """The packets of a clip without B-frames, with other time stamps."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.size:
                packet.pts = packet.dts = restamped(packet.pts)  # type: ignore[operator]
                packet.stream = stream
                container.mux(packet)
    return path


# Rows of the matrix in an MP4's track header, as 16.16 numbers, and how a picture is turned
# counter-clockwise by it. Phones held upright write the first.
MATRICES = {
    "clockwise": ((0, 1, -1, 0), 3),
    "half": ((-1, 0, 0, -1), 2),
    "back": ((0, -1, 1, 0), 1),
}


@pytest.mark.parametrize(("matrix", "quarters"), MATRICES.values(), ids=list(MATRICES))
def test_a_turned_clip_is_shown_upright(
    tmp_path: Path, matrix: tuple[int, ...], quarters: int
) -> None:
    path = write_clip(tmp_path / "a.mp4", Clip(8))
    preparation = Preparation()
    keep = partial(encode, preparation=preparation)
    stored = encode_frames(path, preparation, LIMITS, keep)
    data = bytearray(path.read_bytes())
    place = data.index(b"tkhd") + 4 + 40
    one = 1 << 16
    a, b, c, d = (number * one for number in matrix)
    data[place : place + 20] = struct.pack(">5i", a, b, 0, c, d)
    path.write_bytes(data)
    seen = encode_frames(path, preparation, LIMITS, keep)
    assert len(seen) == 8
    for before, after in zip(stored, seen, strict=True):
        assert np.abs(grey(after) - np.rot90(grey(before), quarters)).mean() < 8


def grey(jpeg: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(jpeg)).convert("L"), dtype=float)


@pytest.mark.parametrize(("ending", "share"), [("mkv", 0.7), ("mp4", 0.9), ("avi", 0.75)])
def test_of_a_broken_tail_what_decodes_is_used(tmp_path: Path, ending: str, share: float) -> None:
    clip = Clip(200, codec="mpeg4", b_frames=0, faststart=ending == "mp4")
    path = write_clip(tmp_path / f"a.{ending}", clip)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    decoded = decodable(path)
    assert 100 <= decoded < 200
    assert shown(path) == middles(decoded, 8)


def decodable(path: Path) -> int:
    """How many frames come out whole before the first error."""
    count = 0
    with av.open(str(path)) as container:
        for packet in container.demux(video=0):
            if not packet.is_corrupt:
                count += len(packet.decode())
    return count


def spoiled(source: Path, path: Path, broken: range) -> Path:
    """The clip with the packets of these numbers overwritten."""
    with av.open(str(source)) as clip, av.open(str(path), "w") as container:
        stream = container.add_stream_from_template(clip.streams.video[0])
        packets = (packet for packet in clip.demux(video=0) if packet.size)
        for number, packet in enumerate(packets):
            copy = av.Packet(b"\0" * packet.size if number in broken else bytes(packet))
            copy.pts, copy.dts, copy.time_base = packet.pts, packet.dts, packet.time_base
            copy.stream, copy.is_keyframe = stream, packet.is_keyframe
            container.mux(copy)
    return path


INTRA = {"x264-params": "keyint=1"}


def test_packets_that_do_not_decode_are_no_frames(tmp_path: Path) -> None:
    source = write_clip(tmp_path / "a.mkv", Clip(80, b_frames=0, options=INTRA))
    # What the packets promise are the middles of 80.
    assert shown(spoiled(source, tmp_path / "b.mkv", range(60, 80))) == middles(60, 8)
    # A hole of eight tenths of a second: the frame before it is on display.
    holed = spoiled(source, tmp_path / "c.mkv", range(35, 55))
    assert shown(holed, frames=4) == [10, 30, 34, 70]


def test_a_clip_of_which_too_little_decodes(tmp_path: Path) -> None:
    source = write_clip(tmp_path / "a.mkv", Clip(80, b_frames=0, options=INTRA))
    path = spoiled(source, tmp_path / "b.mkv", range(39, 80))
    with pytest.raises(InvalidInput, match=r"39 frames of 1\.6 s decode, of 3\.2 s") as caught:
        shown(path)
    assert caught.value.file == str(path)
    path = spoiled(source, tmp_path / "c.mkv", range(60, 80))
    with pytest.raises(InvalidInput, match="60 frames"):
        shown(path, frames=61)
    path = spoiled(source, tmp_path / "d.mkv", range(80))
    with pytest.raises(InvalidInput, match="no frame that can be decoded"):
        shown(path)


def test_each_bound_is_named_with_the_file(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "a.mp4", Clip(50))
    size = path.stat().st_size
    bounds = {
        f"larger than {size - 1} bytes": MediaLimits(clip_bytes=size - 1),
        "64 x 64 is more than 4095 pixels": MediaLimits(frame_pixels=WIDTH * HEIGHT - 1),
        "more than 49 frames": MediaLimits(frames=49),
        "lasts 2 s, more than 1 s": MediaLimits(seconds=1.0),
    }
    for message, limits in bounds.items():
        with pytest.raises(InvalidInput, match=message) as caught:
            shown(path, limits)
        assert caught.value.file == str(path)
    exact = MediaLimits(clip_bytes=size, frame_pixels=WIDTH * HEIGHT, frames=50, seconds=2.0)
    assert len(shown(path, exact)) == 8


def test_what_is_no_clip(tmp_path: Path) -> None:
    def saved(name: str, data: bytes) -> Path:
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    out = io.BytesIO()
    Image.new("RGB", (16, 16)).save(out, "GIF", save_all=True)
    for path in (
        saved("empty.mp4", b""),
        saved("text.mp4", b"this is no clip\n" * 99),
        saved("picture.mp4", out.getvalue()),
        sound(tmp_path / "sound.mkv"),
        tmp_path,
    ):
        with pytest.raises(InvalidInput) as caught:
            shown(path)
        assert caught.value.file == str(path)
    with pytest.raises(MediaMissing, match=r"none\.mp4"):
        shown(tmp_path / "none.mp4")


def test_pixels_that_are_not_square_become_so(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "a.mp4", Clip(8, options={"aspect": "2:1"}))
    preparation = Preparation()
    found = encode_frames(path, preparation, LIMITS, partial(encode, preparation=preparation))
    with Image.open(io.BytesIO(found[0])) as image:
        assert image.size == (128, 64)
    assert shown(path) == list(range(8))


@pytest.mark.parametrize("ending", ["mp4", "mkv"])
def test_the_limit_of_pixels_is_that_of_the_frame_as_it_is_seen(
    tmp_path: Path, ending: str
) -> None:
    path = write_clip(tmp_path / f"a.{ending}", Clip(8, options={"aspect": "2:1"}))
    assert shown(path, MediaLimits(frame_pixels=128 * 64)) == list(range(8))
    with pytest.raises(InvalidInput, match="128 x 64 is more than 8191 pixels") as caught:
        shown(path, MediaLimits(frame_pixels=128 * 64 - 1))
    assert caught.value.file == str(path)
    with pytest.raises(InvalidInput, match="128 x 64 is more than 8191 pixels"):
        open_frame(path, MediaLimits(frame_pixels=128 * 64 - 1))


def test_a_frame_that_is_turned_askew_takes_more_room(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "a.mp4", Clip(8, rotation=45))
    with pytest.raises(InvalidInput, match="91 x 91 is more than 8192 pixels"):
        shown(path, MediaLimits(frame_pixels=8192))
    upright = write_clip(tmp_path / "b.mp4", Clip(8, rotation=90))
    assert open_frame(upright, MediaLimits(frame_pixels=64 * 64)).size == (64, 64)
