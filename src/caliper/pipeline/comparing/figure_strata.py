"""The weights of tasks or domains in a figure, and its computation from scores."""

from __future__ import annotations

from collections.abc import Mapping

from caliper.analysis.sequential.measure import Measure
from caliper.benchmarks.base import ReportLayout
from caliper.core.report import Figure
from caliper.core.tally import Tally

MEASURES = {
    "score": Measure.MEAN,
    "accuracy": Measure.RECALL,
    "recall": Measure.RECALL,
    "precision": Measure.PRECISION,
    "f1": Measure.F1,
}
"""The computation of figures from scores, by the last part of their paths."""


def stratum_weights(
    name: str, figure: Figure, sizes: Mapping[str, int], layout: ReportLayout, tally: Tally
) -> dict[str, float]:
    """The weight of each stratum of the benchmark `name` in a figure of `layout`; `sizes` are the
    numbers of questions about captions by stratum. Empty for figures not made of whole strata, such
    as of a category or of questions about media.
    """
    about_captions = {
        cell for each in layout.figures if each.path == layout.headline for cell in each.cells
    }
    counted = {
        cell for cell in figure.cells if any(tally.total(cell).get(one) for one in figure.divisor)
    }
    if not counted <= about_captions:
        return {}
    strata = [f"{name}/{part.dimension}" for part in figure.parts or (figure,)]
    if figure.weights:
        return dict(zip(strata, figure.weights, strict=True))
    # Questions of several strata are pooled.
    present = {stratum: sizes[stratum] for stratum in strata if sizes.get(stratum)}
    return {stratum: size / sum(present.values()) for stratum, size in present.items()}
