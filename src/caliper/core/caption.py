"""A caption: what the checkpoint under test wrote about one sample."""

from __future__ import annotations

from dataclasses import dataclass

from caliper.core.keys import text_digest

CAPTION_TOKENS = 8192
"""The most output tokens of a caption, unless a run says otherwise (CAPability, open models)."""
MOST_CAPTION_TOKENS = 1_000_000
"""The most that a run can ask for: no model writes more."""


class CutShort(str):
    """The text of a caption that ran into the limit of output tokens, where texts stand alone."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Caption:
    """`truncated` tells that the model ran into its limit of output tokens."""

    sample: str
    text: str
    truncated: bool = False

    @property
    def plain(self) -> str:
        """The text, which still tells whether it was cut short."""
        return CutShort(self.text) if self.truncated else self.text

    @property
    def digest(self) -> str:
        """SHA-256 of the text, 64 hexadecimal digits."""
        return text_digest(self.text)
