"""How media are prepared for a captioning model. This affects scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from caliper.core.errors import InvalidInput, UnknownName


@dataclass(frozen=True, slots=True)
class Preparation:
    """How a clip or picture is sampled and resized for a model.

    Without `fps`, a clip gives `frames` evenly spaced frames. With it, a clip gives `fps` frames
    per second, or `frames` evenly spaced ones if that would be more. Pictures and frames are
    shrunk to at most `longest` pixels per side and encoded as JPEG with `quality`. Those longer
    than `image_bytes` bytes are shrunk further: by default, the base64 form fits into a request of
    2,000,000 bytes, the default limit of TGI. If `clips` is `whole`, a clip is sent as it is and
    the server extracts the frames; the other fields then apply to pictures only. Raises
    InvalidInput naming a field that is out of bounds.
    """

    frames: int = 8
    fps: Fraction | None = None
    longest: int = 1024
    quality: int = 90
    image_bytes: int = 1_400_000
    clips: str = "frames"

    def __post_init__(self) -> None:
        if self.clips not in CLIP_FORMS:
            raise InvalidInput(f"expected {' or '.join(CLIP_FORMS)}", field="clips")
        for name, (least, most) in _BOUNDS.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise InvalidInput(f"not from {least} to {most}", field=name)

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Preparation:
        """The preparation in a mapping, with defaults for missing fields.

        Values are numbers or their text form; `fps` may be a quotient such as `30000/1001`. Raises
        UnknownName, and InvalidInput naming the field.
        """
        names = tuple(field.name for field in fields(cls))
        values: dict[str, Any] = {}
        for name, value in settings.items():
            if name not in names:
                raise UnknownName("preparation", name, names)
            values[name] = _read(name, value)
        if values.get("fps") is not None and "frames" not in values:
            # The default of 8 frames is meant for clips without `fps`: it would cap a clip of
            # four seconds at 2 fps.
            message = "fps needs a limit: also set the maximum number of frames"
            raise InvalidInput(message, field="frames")
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `of` reads it back to an equal preparation."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.clips == "frames":
            # Runs older than this field have keys without it.
            del plain["clips"]
        return {**plain, "fps": None if self.fps is None else str(self.fps)}

    def describe(self) -> dict[str, str]:
        """The preparation as reports show it, by label."""
        clips = f"{self.frames}, evenly"
        if self.fps is not None:
            clips = f"{self.fps} a second, at most {self.frames}"
        if self.clips == "whole":
            clips += ", by the server"
        picture = f"{self.longest} pixels a side, JPEG {self.quality}, {self.image_bytes} bytes"
        return {"frames": clips, "images": f"at most {picture}"}


CLIP_FORMS = ("frames", "whole")
"""How a clip is sent: as pictures of its frames, or as it is."""
_BOUNDS: Mapping[str, tuple[Any, Any]] = {
    "frames": (1, 4096),
    "fps": (Fraction(1, 3600), 240),
    "longest": (16, 8192),
    "quality": (1, 100),
    # Any picture of 16 pixels per side is far smaller.
    "image_bytes": (10_000, 100_000_000),
}


def _read(name: str, value: Any) -> int | Fraction | str | None:
    if name == "fps" and value is None:
        return None
    if name == "clips":
        return str(value)
    try:
        # From the text: 29.97 means the decimal, not the nearest binary float.
        number = Fraction(str(value).strip())
    except (ValueError, ZeroDivisionError) as error:
        raise InvalidInput(f"not a number: {value!r:.60}", field=name) from error
    if name == "fps":
        return number
    if number.denominator != 1:
        raise InvalidInput(f"not a whole number: {value!r:.60}", field=name)
    return int(number)
