"""CLIPScore and RefCLIPScore (Hessel et al., EMNLP 2021), from embeddings."""

from __future__ import annotations

import math
from collections.abc import Sequence

from caliper.core.question import Vector

PREFIX = "A photo depicts "
"""The paper's text before each caption and reference that is embedded."""
WEIGHT = 2.5
HIGHEST_REFERENCED = 2 * WEIGHT / (WEIGHT + 1)


def clip_score(picture: Vector, caption: Vector) -> float:
    """2.5 times the cosine of picture and caption; 0 if it is negative."""
    return WEIGHT * max(cosine(picture, caption), 0.0)


def referenced_clip_score(picture: Vector, caption: Vector, references: Sequence[Vector]) -> float:
    """The harmonic mean of CLIPScore and the caption's greatest cosine with a reference."""
    alone = clip_score(picture, caption)
    nearest = max(0.0, *(cosine(caption, reference) for reference in references))
    return 2 * alone * nearest / (alone + nearest) if alone and nearest else 0.0


def cosine(one: Vector, other: Vector) -> float:
    """The cosine of two vectors; 0 if one has no length. Raises ValueError for other sizes."""
    if len(one) != len(other):
        raise ValueError(f"embeddings of {len(one)} and {len(other)} numbers")
    norms = math.hypot(*one) * math.hypot(*other)
    dot = math.fsum(a * b for a, b in zip(one, other, strict=True))
    return max(-1.0, min(1.0, dot / norms)) if norms else 0.0
