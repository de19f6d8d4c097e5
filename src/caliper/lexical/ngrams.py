"""Similarity of spelling: character n-grams, hashed into vectors of a fixed length.

It stands in for a sentence encoder where there is no model. It knows how words are written,
not what they mean: "bike" is near "motorbike" and far from "bicycle". Reports say so.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache

from caliper.core.question import Vector
from caliper.core.run import Identity
from caliper.lexical.revision import NGRAMS, revision

DIMENSION = 512
SIZES = (3, 4)
WHOLE_WORD = 2.0
"""What a whole word weighs beside each of its n-grams."""

_WORD = re.compile(r"\w+")


class NgramEmbedder:
    """Embeds by spelling. Cosines are 0 (no n-gram in common) to 1 (the same words)."""

    @property
    def identity(self) -> Identity:
        """Kind lexical; the revision is that of the rules."""
        return Identity("lexical", "ngrams", _revision())

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text, of length `DIMENSION`, all numbers whole and not negative."""
        return [embed(text) for text in texts]


@lru_cache(maxsize=16_384)
def embed(text: str) -> Vector:
    """The weights of the text's n-grams and words, each added at the place of its hash."""
    vector = [0.0] * DIMENSION
    for word in _WORD.findall(text.casefold()):
        vector[_place(f"{word} ")] += WHOLE_WORD
        framed = f"<{word}>"
        for size in SIZES:
            for start in range(len(framed) - size + 1):
                vector[_place(framed[start : start + size])] += 1.0
    return tuple(vector)


def _place(feature: str) -> int:
    # Python's own hash changes from process to process.
    found = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(found, "big") % DIMENSION


@lru_cache(maxsize=1)
def _revision() -> str:
    return revision(NGRAMS, DIMENSION, SIZES, WHOLE_WORD, _WORD.pattern)
