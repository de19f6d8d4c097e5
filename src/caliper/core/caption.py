"""A caption: what the checkpoint under test wrote about one sample."""

from __future__ import annotations

from dataclasses import dataclass

from caliper.core.keys import text_digest

CAPTION_TOKENS = 8192
"""Default limit on a caption's output tokens (CAPability, open models)."""
MOST_CAPTION_TOKENS = 1_000_000
"""The highest limit that a run may set: no model writes more."""


class CutShort(str):
    """The text of a caption that hit the output token limit, for use without its `Caption`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Caption:
    """A sample's caption. `truncated`: the model hit its output token limit."""

    sample: str
    text: str
    truncated: bool = False

    @property
    def plain(self) -> str:
        """The text, as a `CutShort` if it was truncated."""
        return CutShort(self.text) if self.truncated else self.text

    @property
    def digest(self) -> str:
        """SHA-256 of the text, 64 hexadecimal digits."""
        return text_digest(self.text)
