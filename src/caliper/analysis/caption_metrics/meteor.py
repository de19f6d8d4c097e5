"""METEOR 1.5 from the counts of its alignments (Denkowski and Lavie, 2014), for English.

Aligning needs METEOR itself, with its stems, synonyms and paraphrases. The score of counts, or of
their sums over images, is arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from caliper.core.tally import Amount, Sums

MODULES = ("exact", "stem", "synonym", "paraphrase")
COUNTS = (
    "caption_words",
    "reference_words",
    "caption_functions",
    "reference_functions",
    *(
        f"{side}_{module}_{kind}"
        for module in MODULES
        for kind in ("contents", "functions")
        for side in ("caption", "reference")
    ),
    "chunks",
    "caption_matches",
    "reference_matches",
)
"""The counts of an alignment in the order in which METEOR prints them.

Words are content or function words; `chunks` are runs of matches in the same order.
"""
_WEIGHTS = dict(zip(MODULES, (1.0, 0.6, 0.8, 0.6), strict=True))
# METEOR's alpha, beta, gamma and delta for English, tuned to rankings by people.
_RECALL, _STEEPNESS, _PENALTY, _CONTENT = 0.85, 0.2, 0.6, 0.75


def summands(counts: Mapping[str, int]) -> dict[str, int]:
    """`COUNTS` of one alignment as they are summed: one chunk that has all words is not counted."""
    words = counts["caption_words"] + counts["reference_words"]
    matched = counts["caption_matches"] + counts["reference_matches"]
    complete = counts["chunks"] == 1 and matched == words
    return {**counts, "chunks": 0 if complete else counts["chunks"]}


def meteor(sums: Sums) -> float:
    """METEOR of `summands`, or their sums; 0 without a match."""
    precision, recall = _share(sums, "caption"), _share(sums, "reference")
    if not precision or not recall:
        return 0.0
    mean = 1 / ((1 - _RECALL) / precision + _RECALL / recall)
    matched = sums["caption_matches"] + sums["reference_matches"]
    fragmentation = float(2 * sums["chunks"] / matched)
    return max(0.0, mean * (1 - _PENALTY * math.pow(fragmentation, _STEEPNESS)))


def _share(sums: Sums, side: str) -> float:
    """The weight of a side's matched words as a share of that of its words."""
    functions = sums[f"{side}_functions"]
    words = _weighted(sums[f"{side}_words"] - functions, functions)
    matched = sum(
        weight * _weighted(sums[f"{side}_{module}_contents"], sums[f"{side}_{module}_functions"])
        for module, weight in _WEIGHTS.items()
    )
    return matched / words if words else 0.0


def _weighted(contents: Amount, functions: Amount) -> float:
    return _CONTENT * float(contents) + (1 - _CONTENT) * float(functions)
