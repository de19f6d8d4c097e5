"""Metrics of one set of captions: a value per image, and the whole with its interval.

Intervals are those of other figures (`analysis.intervals`): the jackknife over images. CIDEr's
document frequencies are taken as given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from caliper.analysis.caption_metrics import cider
from caliper.analysis.caption_metrics.bleu import bleu, bleu_sums
from caliper.analysis.caption_metrics.meteor import meteor, summands
from caliper.analysis.caption_metrics.ngrams import LONGEST, Tokens
from caliper.analysis.caption_metrics.rouge import rouge_l
from caliper.analysis.intervals import estimate
from caliper.core.report import Estimate, Figure, Kind
from caliper.core.tally import Sums, Tally

BLEU = tuple(f"BLEU-{order}" for order in range(1, LONGEST + 1))
TEXT_METRICS = (*BLEU, "ROUGE-L", "CIDEr", "CIDEr-D")
METEOR = "METEOR"
CLIP_METRICS = ("CLIPScore", "RefCLIPScore")
_CELL = "images"
# Tallies hold whole numbers, so values are counted in this unit.
_UNIT = 10**9


@dataclass(frozen=True, slots=True)
class ReferencedCaption:
    """The tokens of one image's caption and of its references."""

    caption: Tokens
    references: Sequence[Tokens]


@dataclass(frozen=True, slots=True)
class CaptionMeasure:
    """One metric of one set of captions, and its value for each image."""

    name: str
    whole: Estimate
    by_image: Mapping[str, float]


def measure_captions(images: Mapping[str, ReferencedCaption]) -> list[CaptionMeasure]:
    """`TEXT_METRICS` of a set of captions, by image."""
    frequencies = cider.DocumentFrequencies(one.references for one in images.values())
    ciders = {
        image: frequencies.cider(one.caption, one.references) for image, one in images.items()
    }
    return [
        *_bleu_measures(images),
        mean_measure(
            "ROUGE-L",
            {image: rouge_l(one.caption, one.references) for image, one in images.items()},
            1.0,
        ),
        mean_measure("CIDEr", {image: both[0] for image, both in ciders.items()}, cider.HIGHEST),
        mean_measure("CIDEr-D", {image: both[1] for image, both in ciders.items()}, cider.HIGHEST),
    ]


def mean_measure(name: str, by_image: Mapping[str, float], highest: float) -> CaptionMeasure:
    """A metric that is the mean over images of values between 0 and `highest`."""
    tally = Tally()
    for image, value in by_image.items():
        tally.add(_CELL, image, value=round(value * _UNIT), n=1)

    def mean(sums: Sums) -> float:
        return float(sums["value"] / (sums["n"] * _UNIT))

    return CaptionMeasure(name, _estimate(name, mean, tally, "n", highest), by_image)


def meteor_measure(counts: Mapping[str, Mapping[str, int]]) -> CaptionMeasure:
    """METEOR from the counts of each image's alignment.

    That of the whole set is that of the sums, not the mean over images.
    """
    tally = Tally()
    for image, one in counts.items():
        tally.add(_CELL, image, **summands(one), n=1)
    by_image = {image: meteor(sums) for image, sums in tally.clusters(_CELL).items()}
    return CaptionMeasure(METEOR, _estimate(METEOR, meteor, tally, "n", 1.0), by_image)


def _bleu_measures(images: Mapping[str, ReferencedCaption]) -> list[CaptionMeasure]:
    """BLEU of the whole set is that of its sums, not the mean over images.

    It has no interval if no image has a matching n-gram of some size: its value is then a guard
    against zero.
    """
    tally = Tally()
    for image, one in images.items():
        tally.add(_CELL, image, **bleu_sums(one.caption, one.references))
    measures = []
    for order, name in enumerate(BLEU, start=1):

        def statistic(sums: Sums, order: int = order) -> float:
            return bleu(sums, order)

        whole = _estimate(name, statistic, tally, "reference", 1.0)
        if not tally.total(_CELL)[f"matched{order}"]:
            whole = Estimate(whole.value)
        by_image = {image: statistic(sums) for image, sums in tally.clusters(_CELL).items()}
        measures.append(CaptionMeasure(name, whole, by_image))
    return measures


def _estimate(
    name: str, statistic: Callable[[Sums], float], tally: Tally, divisor: str, highest: float
) -> Estimate:
    def of_cells(cells: Mapping[str, Sums]) -> float | None:
        sums = cells.get(_CELL)
        # Leaving out the only image leaves nothing.
        return statistic(sums) if sums and sums.get(divisor) else None

    figure = Figure(
        (name,), (_CELL,), of_cells, Kind.RATIO, bounds=(0.0, highest), denominator=(divisor,)
    )
    return estimate(figure, tally)
