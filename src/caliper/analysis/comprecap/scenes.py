"""The outcomes of runs of CompreCap, picture by picture, and the figures of any part of them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from caliper.benchmarks.base import Outcomes, Settings
from caliper.benchmarks.comprecap.compreqa import KINDS
from caliper.benchmarks.comprecap.examination import Scene
from caliper.benchmarks.comprecap.questions import PhraseQuestion, SceneMeasure
from caliper.benchmarks.comprecap.reporting import LABELS, report
from caliper.benchmarks.comprecap.scoring import reduce
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Scored
from caliper.core.question import Item, Question

FIGURES = tuple(LABELS)
"""The five S metrics, by their names in reports."""
WORDS = "words"
_COMPREQA = {f"compreqa_{kind}": ("compreqa", kind) for kind in KINDS}
TITLES = {
    **{name: label.split(" (", maxsplit=1)[0] for name, label in LABELS.items()},
    **{f"compreqa_{kind}": title for kind, title in KINDS.items()},
    WORDS: "Caption length",
}
"""The display name of each figure."""
_PERCENT = 100


@dataclass(frozen=True, slots=True, eq=False)
class ExaminedScene:
    """A picture of a run: its questions, their outcomes, and its caption.

    `scenes` are the decomposed caption by tagger, the run's own first; a tagger is left out if its
    nouns or their vectors are not kept. They are empty for a missing caption.
    """

    item: Item
    outcomes: Outcomes
    caption: str | None = None
    scenes: Mapping[str, Scene] = field(default_factory=dict)

    @property
    def measure(self) -> SceneMeasure:
        """The annotated objects of the picture."""
        measure: SceneMeasure = self.item.questions[0].payload
        return measure

    @property
    def is_scored(self) -> bool:
        """Whether its objects have a score."""
        return isinstance(self.outcomes.get((0, 0)), Scored)

    @property
    def attributes(self) -> Iterator[Question[PhraseQuestion]]:
        """The questions about instances, in the order of the measure's instances."""
        return self._phrases("attribute")

    @property
    def relations(self) -> Iterator[Question[PhraseQuestion]]:
        """The questions about relations."""
        return self._phrases("relation")

    def _phrases(self, kind: str) -> Iterator[Question[PhraseQuestion]]:
        for question in self.item.questions:
            if isinstance(question.payload, PhraseQuestion) and question.payload.kind == kind:
                yield question

    def mean_score(self, question: Question[PhraseQuestion]) -> Fraction | None:
        """The mean score of a phrase over its repeats; None unless all of them have one."""
        outcomes = [self.outcomes.get((question.ordinal, r)) for r in range(question.repeats)]
        scores = [outcome.score for outcome in outcomes if isinstance(outcome, Scored)]
        return sum(scores, Fraction(0)) / len(scores) if len(scores) == len(outcomes) else None

    def area(self, instance: int) -> float:
        """The share of the picture's pixels that an instance's mask covers, in percent."""
        pixels = sum(atom.pixels for atom in self.measure.atoms if instance in atom.instances)
        return _PERCENT * pixels / self.measure.pixels


@dataclass(frozen=True, eq=False)
class SceneRun:
    """The outcomes of a run: its pictures, and its items of CompreQA with theirs.

    `tagger` names its noun tagger. `ruled`: its judge is the lexical one of this release, which
    can be asked again.
    """

    name: str
    settings: Settings
    scenes: tuple[ExaminedScene, ...]
    answers: tuple[tuple[Item, Outcomes], ...] = ()
    tagger: str = ""
    ruled: bool = False

    @cached_property
    def figures(self) -> dict[str, float]:
        """The run's figures by name, in the paper's units; those without data are left out."""
        outcomes = [(scene.item, scene.outcomes) for scene in self.scenes]
        figures = figures_of([*outcomes, *self.answers], self.settings)
        return {**figures, **({} if self.words is None else {WORDS: self.words})}

    @cached_property
    def by_picture(self) -> dict[str, dict[str, float]]:
        """The figures of each picture alone."""
        pictures: dict[str, dict[str, float]] = {}
        for scene in self.scenes:
            figures = figures_of([(scene.item, scene.outcomes)], self.settings)
            if scene.caption is not None:
                figures[WORDS] = len(scene.caption.split())
            pictures[scene.item.sample] = figures
        return pictures

    @property
    def words(self) -> float | None:
        """The mean length of its captions in words."""
        lengths = [len(each.caption.split()) for each in self.scenes if each.caption is not None]
        return sum(lengths) / len(lengths) if lengths else None


@dataclass(frozen=True, eq=False)
class SceneSet:
    """Runs over the same pictures with one setup, apart from their captions. `others` are the
    figures of runs with other setups by what differs in them, then by name. `remark` says what was
    left out so that the pictures are the same.
    """

    runs: tuple[SceneRun, ...]
    others: Mapping[tuple[str, ...], Mapping[str, Mapping[str, float]]] = field(
        default_factory=dict
    )
    remark: str = ""


def over_shared_pictures(runs: Sequence[SceneRun]) -> tuple[list[SceneRun], str]:
    """The runs over the pictures that all of them have scores of, and a remark if these are not
    all. A run without any score, which has no figures, is not counted.

    Raises InvalidInput if there is no such picture.
    """
    scored = [{each.item.sample for each in run.scenes if each.is_scored} for run in runs]
    known = [samples for samples in scored if samples]
    if not known:
        return list(runs), ""
    shared = set.intersection(*known)
    left_out = set.union(*known) - shared
    if not shared:
        raise InvalidInput("no picture has scores in all runs", field="RUN")
    if not left_out:
        return list(runs), ""
    remark = f"{len(left_out):,} pictures are left out: not all runs have scores of them"
    return [_without(run, left_out) for run in runs], remark


def _without(run: SceneRun, samples: Container[str]) -> SceneRun:
    scenes = tuple(each for each in run.scenes if each.item.sample not in samples)
    answers = tuple(each for each in run.answers if each[0].sample not in samples)
    return replace(run, scenes=scenes, answers=answers)


def figures_of(outcomes: Iterable[tuple[Item, Outcomes]], settings: Settings) -> dict[str, float]:
    """The S metrics and accuracies of some items, as reports have them; undefined ones are left
    out.
    """
    tally = reduce(outcomes, settings)
    figures = {figure.path: figure for figure in report(tally, settings).figures}
    paths = {**{name: (name,) for name in FIGURES}, **_COMPREQA}
    values: dict[str, float] = {}
    for name, path in paths.items():
        figure = figures.get(path)
        totals = {} if figure is None else {cell: tally.total(cell) for cell in figure.cells}
        value = None if figure is None else figure.statistic(totals)
        if value is not None:
            values[name] = round(value, 6)
    return values
