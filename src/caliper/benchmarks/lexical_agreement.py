"""How well the lexical judge agrees with a model's verdicts, where that was measured.

CAPability: against the GPT-4-Turbo verdicts that its authors released, 236 media a task. Measured
once, before the rules for colours and counts were mended (ours; docs/lexical.md).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from caliper.core.report import Path

WARNING = (
    "Scored by built-in rules over words (no model): for smoke runs and trends, "
    "never for comparison with published figures."
)


@dataclass(frozen=True, slots=True)
class MeasuredAgreement:
    """A task's agreement: Cohen's `kappa` over the verdicts on the captions of four captioners,
    and Spearman's `rank` correlation of the F1 of 12.
    """

    kappa: float
    rank: float


MEASURED: Mapping[str, Mapping[str, MeasuredAgreement]] = MappingProxyType(
    {
        "capability": {
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
    }
)
"""Benchmark to task to what was measured."""


def note(benchmark: str, scored: Collection[Path]) -> str:
    """What a report with lexical verdicts says of them: the warning, and how well they agree in
    the tasks whose F1 is among the `scored` figures, or that this was not measured.
    """
    if benchmark not in MEASURED:
        return f"{WARNING} Agreement with a model has not been measured on this benchmark."
    kappas = ", ".join(
        f"{task.replace('_', ' ')} {agreement.kappa:.2f}"
        for task, agreement in MEASURED[benchmark].items()
        if ("tasks", task, "f1") in scored
    )
    if not kappas:
        return WARNING
    return (
        f"{WARNING} Agreement with GPT-4-Turbo on four captioners, measured before the rules for "
        f"colours and counts were mended (Cohen's kappa): {kappas}."
    )
