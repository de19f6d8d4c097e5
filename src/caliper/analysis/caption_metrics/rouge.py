"""ROUGE-L (Lin, ACL workshop 2004), as COCO computes it."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz.distance import LCSseq

from caliper.analysis.caption_metrics.ngrams import Tokens

_BETA = 1.2


def rouge_l(caption: Tokens, references: Sequence[Tokens]) -> float:
    """The F-measure of the best precision and the best recall of the longest common subsequence.

    They may be those of two references.
    """
    common = [LCSseq.similarity(caption, reference) for reference in references]
    if not any(common):
        return 0.0
    precision = max(common) / len(caption)
    pairs = zip(common, references, strict=True)
    recall = max(shared / len(reference) for shared, reference in pairs if shared)
    return (1 + _BETA**2) * precision * recall / (recall + _BETA**2 * precision)
