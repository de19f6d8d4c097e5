"""BLEU (Papineni et al., ACL 2002), with the closest reference length, as COCO computes it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from caliper.analysis.caption_metrics.ngrams import LONGEST, Ngram, Tokens, count_ngrams
from caliper.core.tally import Sums

# COCO's guards against division by zero.
_SMALL, _TINY = 1e-9, 1e-15


def bleu_sums(caption: Tokens, references: Sequence[Tokens]) -> dict[str, int]:
    """The sums of one image that BLEU is a function of.

    `matched1` to `matched4` are its n-grams that a reference has, `ngrams1` to `ngrams4` all of
    them; `reference` is the length of the reference that is closest in length, the shorter one of
    two.
    """
    most: Counter[Ngram] = Counter()
    for reference in references:
        most |= count_ngrams(reference)
    matched = Counter[int]()
    for ngram, count in (count_ngrams(caption) & most).items():
        matched[len(ngram)] += count
    length = len(caption)
    lengths = (len(reference) for reference in references)
    sums = {
        "length": length,
        "reference": min(lengths, key=lambda other: (abs(other - length), other)),
    }
    for size in range(1, LONGEST + 1):
        sums[f"matched{size}"] = matched[size]
        sums[f"ngrams{size}"] = max(0, length - size + 1)
    return sums


def bleu(sums: Sums, order: int) -> float:
    """BLEU of n-grams up to `order`, of one image or of the sums of several."""
    precisions = (
        (sums[f"matched{size}"] + _TINY) / (sums[f"ngrams{size}"] + _SMALL)
        for size in range(1, order + 1)
    )
    value = math.prod(precisions) ** (1 / order)
    ratio = (sums["length"] + _TINY) / (sums["reference"] + _SMALL)
    return float(value * math.exp(1 - 1 / ratio) if ratio < 1 else value)
