"""Measured agreement of the lexical judge with the GPT-4-Turbo verdicts released by the paper's
authors, over 236 media per task.

It was measured once, before the rules for colours and counts were fixed (ours; docs/lexical.md).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from caliper.core.report import Path


@dataclass(frozen=True, slots=True)
class MeasuredAgreement:
    """The agreement on a task.

    `kappa` is Cohen's kappa over the verdicts on captions of four captioners; `rank` is
    Spearman's rank correlation of the F1 of 12 captioners.
    """

    kappa: float
    rank: float


MEASURED: Mapping[str, MeasuredAgreement] = MappingProxyType(
    {
        "object_category": MeasuredAgreement(0.50, 0.47),
        "object_number": MeasuredAgreement(0.44, 0.65),
        "object_color": MeasuredAgreement(0.34, 0.75),
        "spatial_relation": MeasuredAgreement(0.36, 0.23),
        "scene": MeasuredAgreement(0.28, 0.23),
        "camera_angle": MeasuredAgreement(0.93, 0.97),
        "OCR": MeasuredAgreement(0.76, 0.95),
        "style": MeasuredAgreement(0.62, 0.72),
        "character_identification": MeasuredAgreement(0.78, 0.97),
        "dynamic_object_number": MeasuredAgreement(0.34, 0.76),
        "action": MeasuredAgreement(0.43, 0.75),
        "camera_movement": MeasuredAgreement(0.66, 0.95),
        "event": MeasuredAgreement(0.38, 0.95),
    }
)
"""The measured agreement by task."""


def agreement(scored: Collection[Path]) -> str:
    """Return the agreement on each task whose F1 is among the `scored` figures."""
    kappas = ", ".join(
        f"{task.replace('_', ' ')} {measured.kappa:.2f}"
        for task, measured in MEASURED.items()
        if ("tasks", task, "f1") in scored
    )
    if not kappas:
        return ""
    return (
        "Agreement with GPT-4-Turbo on four captioners, measured before the rules for colours and "
        f"counts were mended (Cohen's kappa): {kappas}."
    )
