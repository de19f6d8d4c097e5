"""N-grams of tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

LONGEST = 4
Ngram = tuple[str, ...]
Tokens = Sequence[str]


def count_ngrams(tokens: Tokens) -> Counter[Ngram]:
    """How often each n-gram of 1 to `LONGEST` tokens occurs."""
    return Counter(
        tuple(tokens[start : start + size])
        for size in range(1, LONGEST + 1)
        for start in range(len(tokens) - size + 1)
    )
