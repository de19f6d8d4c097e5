"""Frames of clips that nobody vouches for: exactly the chosen ones, upright."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from itertools import islice
from math import cos, radians, sin
from pathlib import Path

import av
from av.container import InputContainer
from av.stream import Disposition
from av.video.stream import VideoStream
from PIL import Image

from caliper.adapters.media.bounds import MediaLimits, opened
from caliper.adapters.media.timeline import Timeline, chosen, timeline
from caliper.core.errors import InvalidInput
from caliper.core.preparation import Preparation

# Containers of one file. Playlists stay shut: they would open files and addresses they name.
_OPTIONS = {"format_whitelist": "avi,matroska,mov,mpeg,mpegts,mpegvideo"}
# From a key frame to the middle of the clip: ten seconds at 30 a second.
_FRAMES_DECODED = 300
# What libav counts in where a stream does not say.
_TICK = Fraction(1, av.time_base)
# A clip is whole when so much of what it claims decodes: containers round.
_WHOLE = 0.9
# Less than that of a broken clip could not be told from another clip.
_ENOUGH = 0.5

Encode = Callable[[Image.Image], bytes]


class Moment(StrEnum):
    """Which frame of a clip is shown."""

    FIRST = "first"
    MIDDLE = "middle"


def open_frame(path: Path, moment: Moment, limits: MediaLimits) -> Image.Image:
    """One frame of a clip as RGB, for people to look at; the middle one is found by seeking. A
    clip that does not tell its length gives the first.

    Raises MediaMissing when there is no file, InvalidInput when it is broken, too large, or
    holds no picture.
    """
    with _opened(path, limits) as container:
        return _frame(container, moment, limits, path)


def shown_frames(
    path: Path, preparation: Preparation, limits: MediaLimits, encode: Encode
) -> list[bytes]:
    """The frames that `sampling.chosen` names, each encoded as soon as it is decoded.

    Nothing is sought: the clip is decoded from its start to its end, and what decodes is the
    clip. Its packets only tell beforehand which frames to keep; where they were wrong (a
    broken tail, hidden frames) it is decoded once more. Memory: one frame and what is shown.
    A clip that breaks off is used when at least half of the length that it claims decodes,
    and as many frames as `preparation` asks for. Raises like `open_frame`.
    """
    expected = chosen(_promised(path, limits), preparation)
    reel = _Reel(path, limits, frozenset(expected), encode)
    found = chosen(reel.play(), preparation)
    if not found:
        raise InvalidInput("the clip holds no frame that can be decoded", file=str(path))
    reel.check_whole(preparation)
    if not reel.kept.keys() >= set(found):
        reel = _Reel(path, limits, frozenset(found), encode)
        reel.play()
    return [reel.kept[index] for index in found]


@dataclass(slots=True)
class _Reel:
    """One pass over a clip. `kept` are the frames of the `wanted` indices, encoded; `seconds`
    is the length that decoded, `damaged` is set where something did not.
    """

    path: Path
    limits: MediaLimits
    wanted: frozenset[int]
    encode: Encode
    kept: dict[int, bytes] = field(default_factory=dict)
    frames: int = 0
    seconds: float = 0.0
    claimed: float = 0.0
    damaged: bool = False

    def play(self) -> Timeline:
        """Decode the clip to its end, and say when its frames are on display."""
        stamps: list[int | None] = []
        last = 0
        with _opened(self.path, self.limits) as container:
            stream = _video(container)
            self.claimed = _claimed(container)
            for frame in self._decoded(container):
                if self.frames in self.wanted:
                    aspect = stream.sample_aspect_ratio
                    picture = _picture(frame, aspect, self.limits, self.path)
                    self.kept[self.frames] = self.encode(picture)
                stamps.append(frame.pts)
                last, self.frames = frame.duration or 0, self.frames + 1
                self.limits.check_clip(self.frames, 0.0, self.path)
            found = timeline(stamps, stream.time_base or _TICK, stream.average_rate, last)
        self.seconds = float(found.seconds)
        self.limits.check_clip(self.frames, self.seconds, self.path)
        return found

    def check_whole(self, preparation: Preparation) -> None:
        """Raise InvalidInput for a clip that is broken, and of which too little decodes."""
        if not self.damaged and self.seconds >= _WHOLE * self.claimed:
            return
        if self.frames < preparation.frames or self.seconds < _ENOUGH * self.claimed:
            message = (
                f"the clip is broken: {self.frames} frames of {self.seconds:.1f} s decode, "
                f"of {self.claimed:.1f} s"
            )
            raise InvalidInput(message, file=str(self.path))

    def _decoded(self, container: InputContainer) -> Iterator[av.VideoFrame]:
        """What decodes, in presentation order. Broken packets are left out."""
        stream = _video(container)
        packets = container.demux(stream)
        while True:
            packet: av.Packet[VideoStream] | None = None
            frames: list[av.VideoFrame] = []
            try:
                packet = next(packets)
            except StopIteration:
                return
            except av.error.FFmpegError:
                self.damaged = True
            try:
                # Of a packet whose end is missing, decoders make a picture that is half grey.
                if packet is None or not packet.is_corrupt:
                    frames = stream.decode(packet)
                else:
                    self.damaged = True
            except av.error.FFmpegError:
                self.damaged = True
            yield from frames
            if packet is None:
                return


def _promised(path: Path, limits: MediaLimits) -> Timeline:
    """When frames will be on display, going by packets: cheap, and right for a sound clip."""
    stamps: list[int | None] = []
    last = (0, 0)
    with _opened(path, limits) as container:
        stream = _video(container)
        # Where packets end too early, decoding meets the same, and says what is left.
        with suppress(av.error.FFmpegError):
            for packet in container.demux(stream):
                if packet.size and not packet.is_discard:
                    stamps.append(packet.pts)
                    last = max(last, (packet.pts or 0, packet.duration or 0))
                    limits.check_clip(len(stamps), 0.0, path)
        found = timeline(stamps, stream.time_base or _TICK, stream.average_rate, last[1])
    limits.check_clip(len(stamps), float(found.seconds), path)
    return found


@contextmanager
def _opened(path: Path, limits: MediaLimits) -> Iterator[InputContainer]:
    opened(path, limits.clip_bytes).close()
    try:
        with av.open(str(path), options=_OPTIONS) as container:
            stream = _video(container)
            limits.check_size(stream.width, stream.height, limits.frame_pixels, path)
            seen = _width(stream.width, stream.sample_aspect_ratio)
            limits.check_size(seen, stream.height, limits.frame_pixels, path)
            # The header is only a claim: the decoder holds frames to the same bound.
            stream.codec_context.options = {"max_pixels": str(limits.frame_pixels)}
            # Several clips are decoded at once: threads for each would only hold more frames.
            stream.thread_count = 1
            yield container
    except InvalidInput as error:
        raise InvalidInput(error.message, file=str(path)) from error
    except (av.error.FFmpegError, ValueError, OSError) as error:
        raise InvalidInput(f"not a readable clip: {error!s:.200}", file=str(path)) from error


def _video(container: InputContainer) -> VideoStream:
    """The first stream of moving pictures: covers of sound files are streams of video too."""
    for stream in container.streams.video:
        if not stream.disposition & Disposition.attached_pic:
            return stream
    raise InvalidInput("the clip has no video stream")


def _claimed(container: InputContainer) -> float:
    """The length in seconds that the container claims, 0 where it claims none."""
    stream = _video(container)
    if stream.duration and stream.time_base:
        return float(stream.duration * stream.time_base)
    return (container.duration or 0) / av.time_base


def _width(coded: int, aspect: Fraction | None) -> int:
    """How many square pixels wide a frame of `coded` pixels of this aspect is."""
    return max(1, round(coded * aspect)) if aspect else coded


def _picture(
    frame: av.VideoFrame, aspect: Fraction | None, limits: MediaLimits, path: Path
) -> Image.Image:
    """The frame as people see it: RGB, its pixels square, turned as its container says.

    A few bytes of a container can ask for a picture of any size, so it is measured before it is
    made. Raises InvalidInput when it is too large.
    """
    size = _width(frame.width, aspect), frame.height
    limits.check_size(*size, limits.frame_pixels, path)
    limits.check_size(*_turned(*size, frame.rotation), limits.frame_pixels, path)
    image = Image.fromarray(frame.to_ndarray(format="rgb24"))
    if image.size != size:
        image = image.resize(size)
    # Counter-clockwise in both.
    return image.rotate(frame.rotation, expand=True) if frame.rotation else image


def _turned(width: int, height: int, degrees: int) -> tuple[int, int]:
    """Width and height of the upright box about a picture that is turned."""
    across, along = abs(cos(radians(degrees))), abs(sin(radians(degrees)))
    return round(width * across + height * along), round(width * along + height * across)


def _frame(
    container: InputContainer, moment: Moment, limits: MediaLimits, path: Path
) -> Image.Image:
    wanted = 0.0
    stream = _video(container)
    if moment is Moment.MIDDLE and container.duration:
        wanted = container.duration / av.time_base / 2
        container.seek(container.duration // 2)
    found = _at(container.decode(stream), wanted)
    if found is None:
        raise InvalidInput("the clip holds no frame that can be decoded", file=str(path))
    return _picture(found, stream.sample_aspect_ratio, limits, path)


def _at(frames: Iterator[av.VideoFrame], wanted: float) -> av.VideoFrame | None:
    """The first frame at `wanted` seconds or later, else the last one before."""
    last = None
    for frame in islice(frames, _FRAMES_DECODED):
        last = frame
        if (frame.time or 0.0) >= wanted:
            break
    return last
