"""CIDEr and CIDEr-D (Vedantam, Zitnick and Parikh, CVPR 2015).

CIDEr is the mean cosine of the caption's and a reference's n-gram counts, each weighted by how few
images' references have the n-gram. CIDEr-D also clips the caption's counts at the reference's, and
lowers the score where the lengths differ. COCO's evaluation prints CIDEr-D as CIDEr. Neither stems
words, as in the authors' code.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from caliper.analysis.caption_metrics.ngrams import LONGEST, Ngram, Tokens, count_ngrams

HIGHEST = 10.0
_SIGMA = 6.0


@dataclass(frozen=True, slots=True)
class _Weights:
    """The n-grams of a text, weighted, the squared norm per size, and the number of tokens."""

    weights: Mapping[Ngram, float]
    squares: Sequence[float]
    length: int


class DocumentFrequencies:
    """In how many images' references each n-gram occurs."""

    def __init__(self, references: Iterable[Sequence[Tokens]]) -> None:
        """`references` of all images, an element per image."""
        self._frequency: Counter[Ngram] = Counter()
        images = 0
        for images, texts in enumerate(references, start=1):  # noqa: B007 - the count is used
            self._frequency.update({ngram for text in texts for ngram in count_ngrams(text)})
        self._log_images = math.log(images) if images else 0.0

    def cider(self, caption: Tokens, references: Sequence[Tokens]) -> tuple[float, float]:
        """CIDEr and CIDEr-D of one caption, each from 0 to `HIGHEST`."""
        own = self._weigh(caption)
        pairs = [_similarities(own, self._weigh(reference)) for reference in references]
        plain, penalised = (math.fsum(column) for column in zip(*pairs, strict=True))
        scale = HIGHEST / (LONGEST * len(references))
        return plain * scale, penalised * scale

    def _weigh(self, tokens: Tokens) -> _Weights:
        weights: dict[Ngram, float] = {}
        squares = [0.0] * LONGEST
        for ngram, count in count_ngrams(tokens).items():
            weight = count * (self._log_images - math.log(max(1, self._frequency[ngram])))
            weights[ngram] = weight
            squares[len(ngram) - 1] += weight * weight
        # COCO takes the number of bigrams as the length.
        return _Weights(weights, squares, max(0, len(tokens) - 1))


def _similarities(caption: _Weights, reference: _Weights) -> tuple[float, float]:
    """The sums over n-gram sizes of the cosine, and of the clipped cosine with its penalty."""
    plain, clipped = [0.0] * LONGEST, [0.0] * LONGEST
    for ngram, weight in caption.weights.items():
        other = reference.weights.get(ngram, 0.0)
        plain[len(ngram) - 1] += weight * other
        clipped[len(ngram) - 1] += min(weight, other) * other
    norms = [
        math.sqrt(one * other) or 1.0
        for one, other in zip(caption.squares, reference.squares, strict=True)
    ]
    penalty = math.exp(-((caption.length - reference.length) ** 2) / (2 * _SIGMA**2))
    cosine = math.fsum(dot / norm for dot, norm in zip(plain, norms, strict=True))
    clipped_cosine = math.fsum(dot / norm for dot, norm in zip(clipped, norms, strict=True))
    return cosine, clipped_cosine * penalty
