"""A caption: what the checkpoint under test wrote about one sample."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caption:
    """`truncated` tells that the model ran into its limit of output tokens."""

    sample: str
    text: str
    truncated: bool = False

    @property
    def digest(self) -> str:
        """SHA-256 of the text, 64 hexadecimal digits."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()
