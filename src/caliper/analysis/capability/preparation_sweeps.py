"""Sweeps over how media are prepared: frames, frames per second, resolution.

A.1 lists what each model was shown (8 to 768 frames, pictures up to 16,384 patches) and compares no
two of them. Here runs of one captioner that differ in one field of the preparation are put in order
of that field. Frames matter to clips only, so figures over the video tasks are compared for them;
resolution matters to all. Changes are paired over media.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

from caliper.analysis.agreement import Coefficient
from caliper.analysis.capability.verdict_sets import (
    METRICS,
    Estimates,
    JudgedRun,
    VerdictSet,
    shared_tasks,
)
from caliper.analysis.compare import difference
from caliper.benchmarks.capability.tasks import TASKS, Medium
from caliper.core.preparation import Preparation
from caliper.core.report import Figure

FIELDS = tuple(field.name for field in fields(Preparation) if field.name != "clips")
OF_CLIPS = ("frames", "fps")
_NONE = (
    "no captioner has runs that differ in one field of the preparation only (caliper evaluate "
    "capability --captioner SPEC --preparation frames=16)"
)


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """A run of a sweep: its value, the averages over the tasks of the sweep, the F1 of each task,
    and the change of the average F1 from the point before, None for the first.
    """

    value: float
    name: str
    words: float | None
    metrics: Estimates
    tasks: Estimates
    change: Coefficient | None


@dataclass(frozen=True, slots=True)
class PreparationSweep:
    """Runs of one model in the order of a field of the preparation; the rest of it is `fixed`.
    Replicates of a run stand side by side: the change between them is chance.

    `tasks` are those that the averages cover, with a score in every run; `best` is the value with
    the highest average F1.
    """

    model: str
    field: str
    fixed: dict[str, str]
    tasks: tuple[str, ...]
    points: tuple[SweepPoint, ...]
    best: float | None


@dataclass(frozen=True, slots=True)
class PreparationSweeps:
    """All sweeps that the runs allow."""

    sweeps: tuple[PreparationSweep, ...] = ()
    remark: str = ""


def preparation_sweeps(verdicts: VerdictSet) -> PreparationSweeps:
    """The sweeps over every field in which runs of one captioner differ."""
    sweeps = tuple(_sweeps(verdicts))
    return PreparationSweeps(sweeps, "" if sweeps else _NONE)


def _sweeps(verdicts: VerdictSet) -> Iterator[PreparationSweep]:
    for field in FIELDS:
        groups: dict[tuple[str, Preparation], list[tuple[float, JudgedRun]]] = {}
        for run in verdicts.runs:
            value = getattr(run.preparation, field, None)
            if run.preparation is None or not run.captioner or value is None:
                continue
            rest = replace(run.preparation, **{field: getattr(_FIXED, field)})
            groups.setdefault((run.captioner, rest), []).append((float(value), run))
        for (_, rest), runs in groups.items():
            if len({value for value, _ in runs}) > 1:
                runs.sort(key=lambda pair: pair[0])
                yield _sweep(field, rest, [run for _, run in runs], verdicts)


_FIXED = Preparation(frames=1, fps=None)
"""The placeholder of a sweep's field when the others are compared."""


def _sweep(
    field: str, rest: Preparation, runs: Sequence[JudgedRun], verdicts: VerdictSet
) -> PreparationSweep:
    clips = [task for task in verdicts.tasks if TASKS[task].media is Medium.VIDEO]
    tasks = shared_tasks(clips if clips and field in OF_CLIPS else verdicts.tasks, runs)
    points = []
    for place, run in enumerate(runs):
        figures = {metric: run.average(metric, tasks) for metric in METRICS}
        change = _change(runs[place - 1], run, figures["f1"], tasks) if place else None
        points.append(
            SweepPoint(
                float(getattr(run.preparation, field)),
                run.name,
                run.mean_words,
                {metric: run.estimate_of(figure) for metric, figure in figures.items()},
                {task: run.estimate("tasks", task, "f1") for task in tasks},
                change,
            )
        )
    scores = [(each.metrics["f1"].value, -each.value) for each in points]
    scored = [(score, value) for score, value in scores if score is not None]
    fixed = {name: str(value) for name, value in rest.to_json().items() if name != field}
    best = -max(scored)[1] if scored else None
    return PreparationSweep(runs[0].model, field, fixed, tasks, tuple(points), best)


def _change(
    before: JudgedRun, run: JudgedRun, figure: Figure | None, tasks: Sequence[str]
) -> Coefficient | None:
    base = before.average("f1", tasks)
    if figure is None or base is None:
        return None
    change = difference(figure, before.tally, run.tally, base)
    values = (change.value, change.low, change.high)
    return Coefficient(*(None if each is None else round(each, 6) for each in values))
