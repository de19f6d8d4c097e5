"""All analyses of CAPability together, by the names that people choose them by."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields

from caliper.analysis.capability.caption_length import CaptionLength, caption_length
from caliper.analysis.capability.hits import PrecisionAgainstHits, precision_against_hits
from caliper.analysis.capability.judge_stability import JudgeStability, judge_stability
from caliper.analysis.capability.known_elements import KnowledgeGap, knowledge_gap
from caliper.analysis.capability.preparation_sweeps import PreparationSweeps, preparation_sweeps
from caliper.analysis.capability.verdict_sets import VerdictSet


@dataclass(frozen=True, slots=True)
class CapabilityAnalyses:
    """The analyses of `runs`, None for those that were not chosen. Runs with another setup serve
    only the stability of the judge; `other_runs` are their names.
    """

    runs: tuple[str, ...]
    other_runs: tuple[str, ...] = ()
    hits: PrecisionAgainstHits | None = None
    kt_bar: KnowledgeGap | None = None
    judging: JudgeStability | None = None
    sweeps: PreparationSweeps | None = None
    length: CaptionLength | None = None


NAMES = tuple(field.name for field in fields(CapabilityAnalyses))[2:]
"""The analyses by name."""


def analyse_verdicts(
    verdicts: VerdictSet,
    others: Mapping[tuple[str, ...], VerdictSet],
    names: Collection[str] = NAMES,
) -> CapabilityAnalyses:
    """The analyses with these `names`."""
    other_runs = [run.name for other in others.values() for run in other.runs]
    return CapabilityAnalyses(
        tuple(run.name for run in verdicts.runs),
        tuple(other_runs),
        precision_against_hits(verdicts) if "hits" in names else None,
        knowledge_gap(verdicts) if "kt_bar" in names else None,
        judge_stability(verdicts, others) if "judging" in names else None,
        preparation_sweeps(verdicts) if "sweeps" in names else None,
        caption_length(verdicts) if "length" in names else None,
    )
