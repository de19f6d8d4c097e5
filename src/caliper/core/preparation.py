"""How media are prepared before a captioning model sees them: a part of what is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from caliper.core.errors import InvalidInput, UnknownName


@dataclass(frozen=True, slots=True)
class Preparation:
    """What a model is shown of a clip or picture.

    Without `fps`, `frames` frames are taken evenly from a clip; with it, `fps` frames a second
    are, and `frames` is the most of them: a longer clip gives that many evenly. Pictures and
    frames are shrunk to at most `longest` pixels a side and become JPEG of `quality`, each at
    most `image_bytes` bytes long: what would be longer is shrunk further. The last is what a
    server that takes 2,000,000 bytes a request (the default of TGI) can be sent in base64.
    Raises InvalidInput naming a field that is out of its bounds.
    """

    frames: int = 8
    fps: Fraction | None = None
    longest: int = 1024
    quality: int = 90
    image_bytes: int = 1_400_000

    def __post_init__(self) -> None:
        for name, (least, most) in _BOUNDS.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise InvalidInput(f"not from {least} to {most}", field=name)

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Preparation:
        """The preparation in a mapping, where what is left out stands at its default.

        Values are numbers or their texts, `fps` also a quotient as in `30000/1001`. Raises
        UnknownName, and InvalidInput naming the field.
        """
        names = tuple(field.name for field in fields(cls))
        values: dict[str, Any] = {}
        for name, value in written.items():
            if name not in names:
                raise UnknownName("preparation", name, names)
            values[name] = _read(name, value)
        if values.get("fps") is not None and "frames" not in values:
            # Eight, the default of the other rule, would cap a clip of four seconds at 2 fps.
            message = "frames a second need a cap: say also how many frames are the most"
            raise InvalidInput(message, field="frames")
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `of` reads it back to an equal preparation."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**plain, "fps": None if self.fps is None else str(self.fps)}

    def shown(self) -> dict[str, str]:
        """What reports tell of it, by label."""
        clips = f"{self.frames}, evenly"
        if self.fps is not None:
            clips = f"{self.fps} a second, at most {self.frames}"
        picture = f"{self.longest} pixels a side, JPEG {self.quality}, {self.image_bytes} bytes"
        return {"frames": clips, "images": f"at most {picture}"}


_BOUNDS: Mapping[str, tuple[Any, Any]] = {
    "frames": (1, 4096),
    "fps": (Fraction(1, 3600), 240),
    "longest": (16, 8192),
    "quality": (1, 100),
    # A picture of 16 pixels a side stays far below, whatever is on it.
    "image_bytes": (10_000, 100_000_000),
}


def _read(name: str, value: Any) -> int | Fraction | None:
    if name == "fps" and value is None:
        return None
    try:
        # By its text: 29.97 is meant, not the binary number next to it.
        number = Fraction(str(value).strip())
    except (ValueError, ZeroDivisionError) as error:
        raise InvalidInput(f"not a number: {value!r:.60}", field=name) from error
    if name == "fps":
        return number
    if number.denominator != 1:
        raise InvalidInput(f"not a whole number: {value!r:.60}", field=name)
    return int(number)
