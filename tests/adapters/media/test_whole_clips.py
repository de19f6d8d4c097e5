"""Clips for servers that take the frames themselves: the file as it is, within the bounds."""

from fractions import Fraction
from pathlib import Path

import pytest
from tests.fakes.footage import Clip, sound, write_clip

from caliper.adapters.media.bounds import MediaLimits
from caliper.adapters.media.decoders import Decoders
from caliper.adapters.media.preparation import InlineMedia, MediaFolder, prepare_file
from caliper.core.errors import InvalidInput
from caliper.core.preparation import Preparation
from caliper.ports.models import WholeClip

WHOLE = Preparation(16, Fraction(2), clips="whole")


@pytest.mark.parametrize(
    ("name", "codec", "mime"),
    [("a.mp4", "libx264", "video/mp4"), ("a.WEBM", "libvpx-vp9", "video/webm")],
)
async def test_a_clip_is_sent_as_it_is(tmp_path: Path, name: str, codec: str, mime: str) -> None:
    path = write_clip(tmp_path / name.lower(), Clip(codec=codec)).rename(tmp_path / name)
    data = path.read_bytes()
    clip = [WholeClip(data, mime, 16, Fraction(2))]
    assert await MediaFolder(tmp_path, Decoders(), WHOLE).images([name]) == clip

    async def fetch(_: int) -> bytes:
        return data

    assert list(await InlineMedia(Decoders(), WHOLE).images("0" * 64, name, fetch)) == clip


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (MediaLimits(clip_bytes=1000), "larger than 1000 bytes"),
        (MediaLimits(frames=39), "more than 39 frames"),
        (MediaLimits(seconds=1.5), "lasts 2 s"),
        (MediaLimits(frame_pixels=100), "more than 100 pixels"),
    ],
    ids=["bytes", "frames", "seconds", "pixels"],
)
def test_bounds_are_those_of_frames(tmp_path: Path, limits: MediaLimits, message: str) -> None:
    path = write_clip(tmp_path / "a.mp4", Clip(frames=40, rate=Fraction(20)))
    with pytest.raises(InvalidInput, match=message):
        prepare_file(path, WHOLE, limits)


def test_what_is_no_clip_is_not_sent(tmp_path: Path) -> None:
    (tmp_path / "text.mp4").write_text("no clip")
    for path in (tmp_path / "text.mp4", sound(tmp_path / "sound.mp4")):
        with pytest.raises(InvalidInput):
            prepare_file(path, WHOLE, MediaLimits())
