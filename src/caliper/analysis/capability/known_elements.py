"""KT-bar, "know but cannot tell" (paper 3.2, equation 4; 4.2, Table 6).

    KT-bar = |QA right and caption wrong or silent| / |QA right|

An element is known if the model answers the question about it right from the media, and told if its
caption states it. Beside both figures of a run, the elements are counted by what the model knows
and what its caption does with it: what it knows and gets wrong is another fault than what it leaves
out. Only elements with a score for both count; each repeat of the judging counts once.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from caliper.analysis.capability.verdict_sets import (
    AVERAGE,
    Estimates,
    JudgedRun,
    Mask,
    MediaAnswers,
    VerdictSet,
    left_out,
    shared_tasks,
    values_of,
)
from caliper.analysis.rankings import RankingPair, compare_rankings
from caliper.core.report import Estimate

_NONE = "no run was asked about the media (caliper evaluate capability --qa)"


@dataclass(frozen=True, slots=True)
class KnownElements:
    """QA accuracy and KT-bar of a task or of the average, and the elements with a score for both.

    Of the known ones `told`, `wrong` and `silent`; of the others `guessed`, which the caption
    states all the same, and `unknown`. `unscored` have no score for the answer or the caption.
    """

    task: str
    qa_accuracy: Estimate
    kt_bar: Estimate
    told: int
    wrong: int
    silent: int
    guessed: int
    unknown: int
    unscored: int


@dataclass(frozen=True, slots=True)
class RunKnowledge:
    """The knowledge of a run's model, and how much its captions tell: by task, the average last."""

    name: str
    tasks: tuple[KnownElements, ...]


@dataclass(frozen=True, slots=True)
class KnowledgeGap:
    """KT-bar of all runs that were asked about the media. `accuracy_range` and `kt_range` are the
    greatest average minus the least; `ranking` is by QA accuracy and by 100 - KT-bar.
    """

    runs: tuple[RunKnowledge, ...] = ()
    accuracy_range: float | None = None
    kt_range: float | None = None
    ranking: RankingPair | None = None
    remark: str = ""


def knowledge_gap(verdicts: VerdictSet) -> KnowledgeGap:
    """KT-bar of the runs that were asked about the media, too."""
    answered = [run for run in verdicts.runs if run.answers is not None]
    if not answered:
        return KnowledgeGap(remark=_NONE)
    tasks = [
        task for task in verdicts.tasks if any(run.has(task, "qa_accuracy") for run in answered)
    ]
    shared = shared_tasks(tasks, answered, "qa_accuracy")
    runs = tuple(_run(run, run.answers, verdicts, shared) for run in answered if run.answers)
    accuracy = values_of({run.name: run.tasks[-1].qa_accuracy for run in runs})
    unstated = values_of({run.name: run.tasks[-1].kt_bar for run in runs})
    stated = {name: 100 - value for name, value in unstated.items()}
    return KnowledgeGap(
        runs,
        _range(accuracy),
        _range(unstated),
        compare_rankings(accuracy, stated) if len(runs) > 1 else None,
        left_out(tasks, shared),
    )


def _range(values: dict[str, float]) -> float | None:
    return round(max(values.values()) - min(values.values()), 6) if len(values) > 1 else None


def _run(
    run: JudgedRun, answers: MediaAnswers, verdicts: VerdictSet, shared: Collection[str]
) -> RunKnowledge:
    metrics = ("qa_accuracy", "kt_bar")
    parts = [
        _elements(run, answers, task, mask, run.row(task, *metrics))
        for task, mask in verdicts.tasks.items()
        if ("tasks", task, "qa_accuracy") in run.figures
    ]
    everything = np.ones(len(verdicts.elements), dtype=np.bool_)
    averages = run.averages(shared, *metrics)
    whole = _elements(run, answers, AVERAGE, everything, averages)
    return RunKnowledge(run.name, (*parts, whole))


def _elements(
    run: JudgedRun, answers: MediaAnswers, task: str, mask: Mask, figures: Estimates
) -> KnownElements:
    here = mask & answers.elements
    scores = run.scores[:, here]
    right = np.broadcast_to(answers.right[here], scores.shape)

    def count(elements: Mask) -> int:
        return int(elements.sum())

    return KnownElements(
        task,
        figures["qa_accuracy"],
        figures["kt_bar"],
        told=count((right == 1) & (scores == 1)),
        wrong=count((right == 1) & (scores == -1)),
        silent=count((right == 1) & (scores == 0)),
        guessed=count((right == 0) & (scores == 1)),
        unknown=count((right == 0) & (scores < 1)),
        unscored=count(np.isnan(right) | np.isnan(scores)),
    )
