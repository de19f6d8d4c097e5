"""All analyses of CaptionQA together, by the names that people choose them by."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields

from caliper.analysis.captionqa.answers import AnswerSet
from caliper.analysis.captionqa.difficulty import Difficulty, difficulty
from caliper.analysis.captionqa.errors import ErrorAnalysis, error_analysis
from caliper.analysis.captionqa.prompts import PromptComparison, compare_prompts
from caliper.analysis.captionqa.ranking_stability import DRAWS, RankingStability, ranking_stability
from caliper.analysis.captionqa.utility_gap import UtilityGap, utility_gap


@dataclass(frozen=True, slots=True)
class CaptionAnalyses:
    """The analyses of `runs`, None for those that were not chosen. Runs with another setup serve
    only the stability of the ranking; `other_runs` are their names.
    """

    runs: tuple[str, ...]
    other_runs: tuple[str, ...] = ()
    difficulty: Difficulty | None = None
    stability: RankingStability | None = None
    gap: UtilityGap | None = None
    prompts: PromptComparison | None = None
    errors: ErrorAnalysis | None = None


NAMES = tuple(field.name for field in fields(CaptionAnalyses))[2:]
"""The analyses by name."""


def analyse(
    answers: AnswerSet,
    others: Mapping[tuple[str, ...], AnswerSet],
    names: Collection[str] = NAMES,
    draws: int = DRAWS,
) -> CaptionAnalyses:
    """The analyses with these `names`."""
    other_runs = [run.name for other in others.values() for run in other.runs]
    return CaptionAnalyses(
        tuple(run.name for run in answers.runs),
        tuple(other_runs),
        difficulty(answers) if "difficulty" in names else None,
        ranking_stability(answers, others, draws=draws) if "stability" in names else None,
        utility_gap(answers) if "gap" in names else None,
        compare_prompts(answers) if "prompts" in names else None,
        error_analysis(answers) if "errors" in names else None,
    )
