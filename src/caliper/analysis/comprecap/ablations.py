"""Ablations of how nouns and objects are matched: the least similarity, and the noun tagger.

The paper matches without a threshold (3.3) and shows that another noun tagger changes little
(A.6, Fig. S6). Here the captions of stored runs are matched again, and no model is called. A phrase
keeps its outcome if its sentences are the same; it scores 0 if none mentions it any more. If other
sentences mention it, a model would have to be asked: it is left out and counted, unless the judge
is the lexical one, which is asked at once. So S-object is exact; the other figures are as far as
few phrases are left out. A picture whose nouns or vectors are not kept is left out as a whole.

Rankings are by S-unified and by S-object, each against the ranking as the runs were judged, and
against people's scores if there are some (Fig. S6). Runs with another setup (judge, tagger,
settings) show the ranking there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from caliper.analysis.comprecap.scenes import ExaminedScene, SceneRun, SceneSet, figures_of
from caliper.analysis.correlation import CorrelationEstimate, estimate_correlation
from caliper.analysis.rankings import RankingPair, SetupRanking, compare_rankings
from caliper.benchmarks.base import Outcomes, lacks_caption
from caliper.benchmarks.comprecap.examination import Scene
from caliper.benchmarks.comprecap.matches import MICRO, object_score
from caliper.benchmarks.comprecap.questions import PhraseQuestion
from caliper.benchmarks.comprecap.rules import rate_phrase
from caliper.core.outcome import Outcome, Scored
from caliper.core.question import Question
from caliper.lexical.text import parse

THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
RANKED = ("s_unified", "s_object")
_NO_SCENES = "no caption can be matched again: its nouns or vectors are not kept, name --embedder"


@dataclass(frozen=True, slots=True)
class AblatedRun:
    """The figures of a run, matched in another way. `phrases` counts attributes and relations
    with their repeats; of these, `left_out` would need a model, or a vector.
    """

    name: str
    figures: Mapping[str, float]
    phrases: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Ablation:
    """All runs matched with the nouns of `tagger` and matches of `threshold` or more similarity
    (0: all, as in the paper), and how `RANKED` figures rank them: against the runs as judged, and
    `people` the correlation with people's scores.
    """

    tagger: str
    threshold: float
    runs: tuple[AblatedRun, ...]
    rankings: Mapping[str, RankingPair]
    people: Mapping[str, CorrelationEstimate] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ablations:
    """The ablations of thresholds and taggers, and the rankings by S-unified in other setups."""

    thresholds: tuple[Ablation, ...] = ()
    taggers: tuple[Ablation, ...] = ()
    setups: tuple[SetupRanking, ...] = ()
    remark: str = ""


def ablations(
    scenes: SceneSet,
    thresholds: Sequence[float] = THRESHOLDS,
    people: Mapping[str, float] | None = None,
) -> Ablations:
    """Match the captions of all runs again: with thresholds, and with other taggers. `people` are
    people's scores by run.
    """
    judged = {run.name: run.figures for run in scenes.runs}
    setups = tuple(
        SetupRanking(differing, _rankings(judged, other)["s_unified"])
        for differing, other in scenes.others.items()
    )
    own = scenes.runs[0].tagger
    taggers = dict.fromkeys(
        name for run in scenes.runs for scene in run.scenes for name in scene.scenes
    )
    if not taggers:
        return Ablations(setups=setups, remark=_NO_SCENES)

    def ablation(tagger: str, threshold: float) -> Ablation:
        runs = tuple(_ablate(run, tagger, threshold) for run in scenes.runs)
        figures = {run.name: run.figures for run in runs}
        agreement = {name: _agreement(name, figures, people) for name in RANKED} if people else {}
        return Ablation(tagger, threshold, runs, _rankings(judged, figures), agreement)

    return Ablations(
        tuple(ablation(own, threshold) for threshold in (0.0, *thresholds)),
        tuple(ablation(name, 0.0) for name in taggers if name != own),
        setups,
    )


def _agreement(
    name: str, runs: Mapping[str, Mapping[str, float]], people: Mapping[str, float]
) -> CorrelationEstimate:
    pairs = [(of[name], people[run]) for run, of in runs.items() if name in of and run in people]
    return estimate_correlation([value for value, _ in pairs], [score for _, score in pairs])


def _rankings(
    before: Mapping[str, Mapping[str, float]], after: Mapping[str, Mapping[str, float]]
) -> dict[str, RankingPair]:
    return {
        name: compare_rankings(
            *({run: of[name] for run, of in runs.items() if name in of} for runs in (before, after))
        )
        for name in RANKED
    }


def _ablate(run: SceneRun, tagger: str, threshold: float) -> AblatedRun:
    scenes = [_match_again(run, scene, tagger, threshold) for scene in run.scenes]
    phrases = left_out = 0
    for scene, outcomes in zip(run.scenes, scenes, strict=True):
        positions = [position for position in scene.outcomes if position[0]]
        phrases += len(positions)
        left_out += sum(position not in outcomes for position in positions)
    pairs = zip((scene.item for scene in run.scenes), scenes, strict=True)
    return AblatedRun(run.name, figures_of(pairs, run.settings), phrases, left_out)


def _match_again(run: SceneRun, scene: ExaminedScene, tagger: str, threshold: float) -> Outcomes:
    """The outcomes of a picture, matched in another way; those that need a model are left out."""
    if lacks_caption(scene.item, scene.caption, run.settings) or not scene.measure.categories:
        # There is nothing to match: its outcomes have other reasons.
        return scene.outcomes
    before, after = (scene.scenes.get(name) for name in (run.tagger, tagger))
    if before is None or after is None:
        return {}
    after = after.above(round(threshold * MICRO))
    outcomes: dict[tuple[int, int], Outcome] = {}
    for position, outcome in scene.outcomes.items():
        question = scene.item.questions[position[0]]
        if not isinstance(question.payload, PhraseQuestion):
            score = object_score(scene.measure.categories, after.matches)
            outcomes[position] = Scored(score) if isinstance(outcome, Scored) else outcome
        elif (again := _outcome(run, question, (before, after), outcome)) is not None:
            outcomes[position] = again
    return outcomes


def _outcome(
    run: SceneRun,
    question: Question[PhraseQuestion],
    matched: tuple[Scene, Scene],
    outcome: Outcome,
) -> Outcome | None:
    """The outcome of a phrase with the sentences of the second scene; None if it needs a model."""
    before, after = (each.about(question.payload.mentions) for each in matched)
    if before == after or question.unscored is not None:
        return outcome
    if not after:
        return Scored(Fraction(0), mentioned=False)
    if not run.ruled:
        return None
    return Scored(Fraction(rate_phrase(parse(after), question.payload.phrase)))
