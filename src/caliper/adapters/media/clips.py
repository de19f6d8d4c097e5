"""Frames of untrusted clips: exactly the selected ones, upright."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from math import cos, radians, sin
from pathlib import Path

import av
from av.container import InputContainer
from av.stream import Disposition
from av.video.stream import VideoStream
from PIL import Image

from caliper.adapters.media.bounds import MediaLimits, open_file
from caliper.adapters.media.pixel_room import ROOM
from caliper.adapters.media.timeline import Timeline, frame_indices, timeline
from caliper.core.errors import InvalidInput
from caliper.core.preparation import Preparation

# Containers of a single file. Playlists are refused: they would open files and URLs they name.
_OPTIONS = {"format_whitelist": "avi,matroska,mov,mpeg,mpegts,mpegvideo"}
# Frames decoded at most from a key frame to the middle: ten seconds at 30 per second.
_FRAMES_DECODED = 300
# Frames that a decoder holds: up to 17, of three bytes a pixel at most, where pictures take eight.
_FRAMES_HELD = 6
# The time base of libav, for streams without their own.
_TICK = Fraction(1, av.time_base)
# The share of the claimed length that must decode; not 1, since containers round.
_WHOLE = 0.9
# A broken clip must decode to this share, or it could be mistaken for another clip.
_ENOUGH = 0.5

Encode = Callable[[Image.Image], bytes]


def open_frame(path: Path, limits: MediaLimits) -> Image.Image:
    """Decode the middle frame of a clip as RGB, for people to look at.

    It is found by seeking; a clip of unknown length gives its first. Raises MediaMissing if there
    is no file, InvalidInput if it is broken, too large, or has no picture.
    """
    with _open_container(path, limits) as container:
        seconds = 0.0
        stream = _video(container)
        if container.duration:
            seconds = container.duration / av.time_base / 2
            container.seek(container.duration // 2)
        frame = _frame_at(container.decode(stream), seconds)
        if frame is None:
            raise InvalidInput("the clip holds no frame that can be decoded", file=str(path))
        return _picture(frame, stream.sample_aspect_ratio, limits, path)


def encode_frames(
    path: Path, preparation: Preparation, limits: MediaLimits, encode: Encode
) -> list[bytes]:
    """The frames that `timeline.chosen` selects, each encoded as soon as it is decoded.

    There is no seeking: the clip is decoded from start to end, and the decoded frames define
    it. Its packets only predict which frames to keep; if they were wrong (a broken tail, hidden
    frames), it is decoded a second time. Memory: one frame and the encoded ones. A truncated
    clip is used if at least half of its claimed length decodes, and as many frames as
    `preparation` asks for. Raises like `open_frame`.
    """
    predicted = frame_indices(_predicted_timeline(path, limits), preparation)
    reel = _Reel(path, limits, frozenset(predicted), encode)
    indices = frame_indices(reel.play(), preparation)
    if not indices:
        raise InvalidInput("the clip holds no frame that can be decoded", file=str(path))
    reel.check_whole(preparation)
    if not reel.encoded.keys() >= set(indices):
        reel = _Reel(path, limits, frozenset(indices), encode)
        reel.play()
    return [reel.encoded[index] for index in indices]


def read_whole(path: Path, limits: MediaLimits) -> bytes:
    """The bytes of a clip within the limits. It is not decoded: the server does that. Raises like
    `open_frame`.
    """
    if not _predicted_timeline(path, limits).starts:
        raise InvalidInput("the clip holds no frame that can be decoded", file=str(path))
    return path.read_bytes()


@dataclass(slots=True)
class _Reel:
    """One pass over a clip.

    `encoded` maps the `indices` of frames to encoded ones; `seconds` is the decoded length,
    `claimed` that of the container; `damaged` says whether something failed to decode.
    """

    path: Path
    limits: MediaLimits
    indices: frozenset[int]
    encode: Encode
    encoded: dict[int, bytes] = field(default_factory=dict)
    frames: int = 0
    seconds: float = 0.0
    claimed: float = 0.0
    damaged: bool = False

    def play(self) -> Timeline:
        """Decode the clip to its end and return the timeline of its frames."""
        stamps: list[int | None] = []
        last = 0
        with _open_container(self.path, self.limits) as container:
            stream = _video(container)
            self.claimed = _claimed_seconds(container)
            for frame in self._decode(container):
                if self.frames in self.indices:
                    aspect = stream.sample_aspect_ratio
                    picture = _picture(frame, aspect, self.limits, self.path)
                    self.encoded[self.frames] = self.encode(picture)
                stamps.append(frame.pts)
                last, self.frames = frame.duration or 0, self.frames + 1
                self.limits.check_clip(self.frames, 0.0, self.path)
            result = timeline(stamps, stream.time_base or _TICK, stream.average_rate, last)
        self.seconds = float(result.seconds)
        self.limits.check_clip(self.frames, self.seconds, self.path)
        return result

    def check_whole(self, preparation: Preparation) -> None:
        """Raise InvalidInput for a broken clip of which too little decodes."""
        if not self.damaged and self.seconds >= _WHOLE * self.claimed:
            return
        if self.frames < preparation.frames or self.seconds < _ENOUGH * self.claimed:
            message = (
                f"the clip is broken: {self.frames} frames of {self.seconds:.1f} s decode, "
                f"of {self.claimed:.1f} s"
            )
            raise InvalidInput(message, file=str(self.path))

    def _decode(self, container: InputContainer) -> Iterator[av.VideoFrame]:
        """Decode frames in presentation order, skipping broken packets."""
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
                # From a truncated packet, decoders produce a picture that is half grey.
                if packet is None or not packet.is_corrupt:
                    frames = stream.decode(packet)
                else:
                    self.damaged = True
            except av.error.FFmpegError:
                self.damaged = True
            yield from frames
            if packet is None:
                return


def _predicted_timeline(path: Path, limits: MediaLimits) -> Timeline:
    """The timeline according to the packets: cheap, and right for an undamaged clip."""
    stamps: list[int | None] = []
    last = (0, 0)
    with _open_container(path, limits) as container:
        stream = _video(container)
        # If packets end early, decoding fails at the same place and reports it.
        with suppress(av.error.FFmpegError):
            for packet in container.demux(stream):
                if packet.size and not packet.is_discard:
                    stamps.append(packet.pts)
                    last = max(last, (packet.pts or 0, packet.duration or 0))
                    limits.check_clip(len(stamps), 0.0, path)
        result = timeline(stamps, stream.time_base or _TICK, stream.average_rate, last[1])
    limits.check_clip(len(stamps), float(result.seconds), path)
    return result


@contextmanager
def _open_container(path: Path, limits: MediaLimits) -> Iterator[InputContainer]:
    open_file(path, limits.clip_bytes).close()
    try:
        with av.open(str(path), options=_OPTIONS) as container:
            stream = _video(container)
            limits.check_size(stream.width, stream.height, limits.frame_pixels, path)
            width = _width(stream.width, stream.sample_aspect_ratio)
            limits.check_size(width, stream.height, limits.frame_pixels, path)
            # The header may be wrong, so the decoder enforces the same limit on frames.
            stream.codec_context.options = {"max_pixels": str(limits.frame_pixels)}
            # Clips are decoded in parallel: threads within one would only hold more frames.
            stream.thread_count = 1
            pixels = _FRAMES_HELD * max(width, stream.width) * stream.height
            with ROOM.hold(pixels, limits.pixels):
                yield container
    except InvalidInput as error:
        raise InvalidInput(error.message, file=str(path)) from error
    except (av.error.FFmpegError, ValueError, OSError) as error:
        raise InvalidInput(f"not a readable clip: {error!s:.200}", file=str(path)) from error


def _video(container: InputContainer) -> VideoStream:
    """The first video stream that is not the cover picture of a sound file."""
    for stream in container.streams.video:
        if not stream.disposition & Disposition.attached_pic:
            return stream
    raise InvalidInput("the clip has no video stream")


def _claimed_seconds(container: InputContainer) -> float:
    """The length in seconds that the container claims, 0 if it claims none."""
    stream = _video(container)
    if stream.duration and stream.time_base:
        return float(stream.duration * stream.time_base)
    return (container.duration or 0) / av.time_base


def _width(coded: int, aspect: Fraction | None) -> int:
    """The width in square pixels of a frame of `coded` pixels with this aspect ratio."""
    return max(1, round(coded * aspect)) if aspect else coded


def _picture(
    frame: av.VideoFrame, aspect: Fraction | None, limits: MediaLimits, path: Path
) -> Image.Image:
    """The frame as displayed: RGB, with square pixels, rotated as its container says.

    A few bytes of a container can demand a picture of any size, so its size is checked first.
    Raises InvalidInput if it is too large.
    """
    size = _width(frame.width, aspect), frame.height
    limits.check_size(*size, limits.frame_pixels, path)
    limits.check_size(*_rotated_size(*size, frame.rotation), limits.frame_pixels, path)
    image = Image.fromarray(frame.to_ndarray(format="rgb24"))
    if image.size != size:
        image = image.resize(size)
    # Both libraries count degrees counter-clockwise.
    return image.rotate(frame.rotation, expand=True) if frame.rotation else image


def _rotated_size(width: int, height: int, degrees: int) -> tuple[int, int]:
    """Width and height of the upright bounding box of a rotated picture."""
    across, along = abs(cos(radians(degrees))), abs(sin(radians(degrees)))
    return round(width * across + height * along), round(width * along + height * across)


def _frame_at(frames: Iterator[av.VideoFrame], seconds: float) -> av.VideoFrame | None:
    """The first frame at `seconds` or later, else the last one before."""
    last = None
    for frame in islice(frames, _FRAMES_DECODED):
        last = frame
        if (frame.time or 0.0) >= seconds:
            break
    return last
