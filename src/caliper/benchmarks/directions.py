"""Which way a figure is better: the table for every figure of every benchmark.

A figure goes by its name, the last step of its path; where that is a domain or a kind of question
it goes by the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from caliper.benchmarks.base import BLANK_CAPTIONS, CAPTION_LENGTH, TRUNCATED_CAPTIONS
from caliper.benchmarks.stability import SPREADS
from caliper.core.report import Path


class Better(StrEnum):
    """Which value of a figure is the better one.

    Neither are counts, which say how much was looked at, and what tells of the judge instead of
    the checkpoint: how far its repeats lie apart.
    """

    MORE = "more"
    LESS = "less"
    NEITHER = "neither"


_BY_NAME: Mapping[str, Better] = {
    **dict.fromkeys(("precision", "recall", "f1", "hit_rate", "qa_accuracy"), Better.MORE),
    "f1_one": Better.MORE,
    "labels": Better.NEITHER,
    # Known and not told (CAPability, equation 4).
    "kt_bar": Better.LESS,
    **dict.fromkeys(("score", "accuracy"), Better.MORE),
    # Questions that the caption does not answer (CaptionQA, paper 3.4).
    **dict.fromkeys(("cannot", "cannot_of_all"), Better.LESS),
    **dict.fromkeys(("s_object", "s_attribute", "s_relation", "s_cov", "s_unified"), Better.MORE),
    **dict.fromkeys(("n_scored", "n_unscored", "qa_n_scored", "qa_n_unscored"), Better.NEITHER),
    CAPTION_LENGTH[-1]: Better.NEITHER,
    TRUNCATED_CAPTIONS[-1]: Better.NEITHER,
    BLANK_CAPTIONS[-1]: Better.NEITHER,
}
_BY_GROUP: Mapping[str, Better] = {
    # What is lost from the picture to the caption (CaptionQA, paper 5).
    "utility_gap": Better.LESS,
    "compreqa": Better.MORE,
    "repeats": Better.NEITHER,
}
_SPREADS = tuple(f"{name}_" for name, _ in SPREADS)


def direction(path: Path) -> Better | None:
    """Which way the figure at `path` is better; None for a figure that no benchmark has."""
    if path[-1].startswith(_SPREADS):
        return Better.NEITHER
    return _BY_GROUP.get(path[0], _BY_NAME.get(path[-1]))
