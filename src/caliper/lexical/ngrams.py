"""Similarity of spelling: character n-grams, hashed into vectors of a fixed length.

A substitute for a sentence encoder that needs no model. It compares the spelling of words, not
their meaning: "bike" is near "motorbike" and far from "bicycle". Reports say so.
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
"""The weight of a whole word; that of each n-gram is 1."""

_WORD = re.compile(r"\w+")


class NgramEmbedder:
    """Embeds texts by spelling. Cosines range from 0 (no common n-gram) to 1 (same words)."""

    @property
    def identity(self) -> Identity:
        """Kind lexical; the revision is that of the rules."""
        return Identity("lexical", "ngrams", _revision())

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, of length `DIMENSION`, with non-negative integral components."""
        return [embed(text) for text in texts]


@lru_cache(maxsize=16_384)
def embed(text: str) -> Vector:
    """Sum the weights of the text's n-grams and words, each at the index of its hash."""
    vector = [0.0] * DIMENSION
    for word in _WORD.findall(text.casefold()):
        vector[_place(f"{word} ")] += WHOLE_WORD
        framed = f"<{word}>"
        for size in SIZES:
            for start in range(len(framed) - size + 1):
                vector[_place(framed[start : start + size])] += 1.0
    return tuple(vector)


def _place(feature: str) -> int:
    # Python's own hash differs between processes.
    feature_hash = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(feature_hash, "big") % DIMENSION


@lru_cache(maxsize=1)
def _revision() -> str:
    return revision(NGRAMS, DIMENSION, SIZES, WHOLE_WORD, _WORD.pattern)
