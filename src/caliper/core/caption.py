"""A caption: what the checkpoint under test wrote about one sample."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


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
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()
