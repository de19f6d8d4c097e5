"""CompreQA: questions about tiny objects, and what they say of captions (paper 3.2, 4.3, A.10).

Accuracies are in percent with intervals, as in reports (Table 4). Of CompreQA-P there are as many
absent objects as present ones: a model that sees everything gets half. An object is present if that
is the right answer. Fig. S7 is the distribution of wrong answers of CompreQA-Cap over the area of
the object's mask; here with the accuracy in each band, as most objects are tiny. Of several
instances the largest counts; without a mask the area is unknown.

**Against captions.** The ranking of runs by each accuracy against that by S-unified (4.3: it
"aligns").

**From the caption.** The same questions answered by rules over the words of the caption, without a
model: an object is seen if the caption mentions it, and the description with the highest score
(the lexical judge's) fits best. Of equal scores, or without a mention, there is no answer: that is
`silent`, not wrong. Without a caption, or a right answer to compare with, a question is unscored.
Ours: the paper asks about pictures only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from caliper.analysis.comprecap.coverage import EDGES, in_band
from caliper.analysis.comprecap.scenes import ExaminedScene, SceneRun, SceneSet
from caliper.analysis.intervals import estimate
from caliper.analysis.rankings import RankingPair, compare_rankings
from caliper.benchmarks.comprecap.compreqa import KINDS
from caliper.benchmarks.comprecap.questions import CompreQaQuestion
from caliper.benchmarks.comprecap.reading import options
from caliper.benchmarks.comprecap.rules import rate_phrase
from caliper.core.outcome import Outcome, Scored
from caliper.core.report import Estimate, Figure, Kind
from caliper.core.tally import Sums, Tally
from caliper.lexical.mentions import mentions, phrase
from caliper.lexical.text import CaptionText, parse

_CELL = "answers"
_NONE = "no run was asked about the pictures (caliper evaluate comprecap --qa)"


@dataclass(frozen=True, slots=True)
class AnswerGroup:
    """The answers of a run to some questions: `kind` is p or cap, `part` is all, present, absent,
    a band of area in percent or unknown area. `accuracy` is over the scored ones; `errors` is the
    percentage of the run's wrong answers of this kind that are in the group.
    """

    kind: str
    part: str
    questions: int
    unscored: int
    accuracy: Estimate
    errors: float | None = None


@dataclass(frozen=True, slots=True)
class CaptionAnswers:
    """The answers that captions give by rules: how many are right, wrong, missing, and unscored."""

    kind: str
    right: int
    wrong: int
    silent: int
    unscored: int


@dataclass(frozen=True, slots=True)
class RunAnswers:
    """A run's answers from the pictures, by kind and part, and from its captions."""

    name: str
    groups: tuple[AnswerGroup, ...]
    from_captions: tuple[CaptionAnswers, ...]


@dataclass(frozen=True, slots=True)
class TinyObjects:
    """The answers of all runs, and by kind their ranking by S-unified and by accuracy."""

    runs: tuple[RunAnswers, ...] = ()
    rankings: tuple[tuple[str, RankingPair], ...] = ()
    remark: str = ""


@dataclass(frozen=True, slots=True)
class _Answer:
    """One answer: the picture, the question, and the area of its object if that is known."""

    picture: str
    question: CompreQaQuestion
    outcome: Outcome | None
    area: float | None

    @property
    def is_right(self) -> bool | None:
        return bool(self.outcome.score) if isinstance(self.outcome, Scored) else None


def tiny_objects(scenes: SceneSet) -> TinyObjects:
    """CompreQA of the runs that were asked."""
    runs = [run for run in scenes.runs if run.answers]
    if not runs:
        return TinyObjects(remark=_NONE)
    rankings = []
    for kind in KINDS:
        by_kind = {run.name: run.figures.get(f"compreqa_{kind}") for run in runs}
        whole = {run.name: run.figures["s_unified"] for run in runs if "s_unified" in run.figures}
        accuracies = {name: value for name, value in by_kind.items() if value is not None}
        if accuracies:
            rankings.append((kind, compare_rankings(whole, accuracies)))
    return TinyObjects(tuple(map(_run_answers, runs)), tuple(rankings))


def _run_answers(run: SceneRun) -> RunAnswers:
    answers = list(_answers(run))
    groups = [group for kind in KINDS for group in _groups(kind, answers)]
    return RunAnswers(run.name, tuple(groups), tuple(_from_captions(run, answers)))


def _answers(run: SceneRun) -> Iterator[_Answer]:
    scenes = {scene.item.sample: scene for scene in run.scenes}
    for item, outcomes in run.answers:
        scene = scenes.get(item.sample)
        for question in item.questions:
            place = _largest(scene, question.payload.category)
            area = scene.area(place) if scene is not None and place is not None else None
            for repeat in range(question.repeats):
                outcome = outcomes.get((question.ordinal, repeat))
                yield _Answer(item.sample, question.payload, outcome, area)


def _largest(scene: ExaminedScene | None, category: str) -> int | None:
    """The instance of a category with the largest area; None if the picture has none."""
    if scene is None:
        return None
    name = category.casefold()
    instances = scene.measure.instances
    places = [place for place, other in enumerate(instances) if other.casefold() == name]
    return max(places, key=scene.area, default=None) if scene.measure.pixels else None


def _groups(kind: str, answers: Iterable[_Answer]) -> Iterator[AnswerGroup]:
    here = [answer for answer in answers if answer.question.kind == kind]
    if not here:
        return
    parts: dict[str, Callable[[_Answer], bool]] = {"all": lambda _: True}
    if kind == "p":
        parts |= {"present": lambda one: _is_present(one.question) is True}
        parts |= {"absent": lambda one: _is_present(one.question) is False}
    else:
        parts |= {f"{low:g} to {high:g}%": _between(low, high) for low, high in pairwise(EDGES)}
        parts |= {"unknown area": lambda one: one.area is None}
    wrong = sum(answer.is_right is False for answer in here)
    for part, belongs in parts.items():
        yield _group(kind, part, [answer for answer in here if belongs(answer)], wrong)


def _between(low: float, high: float) -> Callable[[_Answer], bool]:
    return lambda answer: answer.area is not None and in_band(answer.area, low, high)


def _group(kind: str, part: str, answers: list[_Answer], wrong: int) -> AnswerGroup:
    tally = Tally()
    scored = [answer for answer in answers if answer.is_right is not None]
    for answer in scored:
        tally.add(_CELL, answer.picture, right=int(bool(answer.is_right)), answers=1)
    shares = ("right", "answers")

    def accuracy(sums: Mapping[str, Sums]) -> float | None:
        whole = sums.get(_CELL, {}).get("answers")
        return float(100 * sums[_CELL]["right"] / whole) if whole else None

    figure = Figure((kind,), (_CELL,), accuracy, Kind.PROPORTION, shares)
    errors = sum(not answer.is_right for answer in scored)
    share = round(100 * errors / wrong, 6) if wrong else None
    unscored = len(answers) - len(scored)
    return AnswerGroup(kind, part, len(answers), unscored, estimate(figure, tally), share)


def _from_captions(run: SceneRun, answers: Iterable[_Answer]) -> Iterator[CaptionAnswers]:
    captions = {scene.item.sample: scene.caption for scene in run.scenes}
    texts = {sample: parse(text) for sample, text in captions.items() if text is not None}
    by_kind: dict[str, list[bool | None]] = {}
    unscored: Counter[str] = Counter()
    for answer in answers:
        question, text = answer.question, texts.get(answer.picture)
        results = by_kind.setdefault(question.kind, [])
        if text is None or not question.category or _is_present(question) is None:
            unscored[question.kind] += 1
        else:
            results.append(answer_from(text, question))
    for kind, results in by_kind.items():
        right, wrong, silent = (results.count(value) for value in (True, False, None))
        yield CaptionAnswers(kind, right, wrong, silent, unscored[kind])


def _is_present(question: CompreQaQuestion) -> bool | None:
    """Whether the right option begins with yes; None if there is no such option."""
    text = options(question.question).get(question.answer)
    return None if text is None else text.casefold().startswith("yes")


def answer_from(caption: CaptionText, question: CompreQaQuestion) -> bool | None:
    """Whether the caption answers a question right, by rules; None if it gives no answer."""
    mentioned = bool(mentions(caption, phrase(question.category)))
    if question.kind == "p":
        return mentioned == _is_present(question)
    if not mentioned:
        return None
    choices = options(question.question)
    scores = {letter: rate_phrase(caption, text) for letter, text in choices.items()}
    best = [letter for letter, score in scores.items() if score == max(scores.values())]
    return best == [question.answer] if len(best) == 1 else None
