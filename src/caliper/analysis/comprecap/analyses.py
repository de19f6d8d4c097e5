"""All analyses of CompreCap together, by the names that people choose them by."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace

from caliper.analysis.comprecap.ablations import THRESHOLDS, Ablations, ablations
from caliper.analysis.comprecap.compreqa import TinyObjects, tiny_objects
from caliper.analysis.comprecap.coverage import AreaCoverage, area_coverage
from caliper.analysis.comprecap.people import HumanCorrelation, human_correlation
from caliper.analysis.comprecap.scenes import SceneSet
from caliper.analysis.human_scores import HumanScores, Measures


@dataclass(frozen=True, slots=True)
class SceneAnalyses:
    """The analyses of `runs`, None for those that were not chosen. Runs with another setup serve
    only the ablations; `other_runs` are their names.
    """

    runs: tuple[str, ...]
    other_runs: tuple[str, ...] = ()
    people: HumanCorrelation | None = None
    compreqa: TinyObjects | None = None
    ablations: Ablations | None = None
    coverage: AreaCoverage | None = None


NAMES = tuple(field.name for field in fields(SceneAnalyses))[2:]
"""The analyses by name."""


@dataclass(frozen=True, slots=True)
class HumanStudy:
    """People's scores, None if there are none, and the metrics to compare with them."""

    scores: HumanScores | None = None
    measures: Measures | None = None


def analyse(
    scenes: SceneSet,
    names: Collection[str] = NAMES,
    study: HumanStudy | None = None,
    thresholds: Sequence[float] = THRESHOLDS,
) -> SceneAnalyses:
    """The analyses with these `names`."""
    study = study or HumanStudy()
    people = human_correlation(study.measures or {}, study.scores)
    means = {model.name: model.human for model in people.scored}
    analyses = SceneAnalyses(
        tuple(run.name for run in scenes.runs),
        tuple(name for other in scenes.others.values() for name in other),
        people if "people" in names else None,
        tiny_objects(scenes) if "compreqa" in names else None,
        ablations(scenes, thresholds, means) if "ablations" in names else None,
        area_coverage(scenes) if "coverage" in names else None,
    )
    return _remarked(analyses, scenes.remark) if scenes.remark else analyses


def _remarked(analyses: SceneAnalyses, remark: str) -> SceneAnalyses:
    """The analyses, each with this remark before its own."""
    by_name = {name: each for name in NAMES if (each := getattr(analyses, name)) is not None}
    return replace(
        analyses,
        **{
            name: replace(each, remark="; ".join(filter(None, (remark, each.remark))))
            for name, each in by_name.items()
        },
    )
