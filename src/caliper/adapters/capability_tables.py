"""The analyses of CAPability as tables of text, for terminals and pages alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from caliper.adapters.phrases import number, with_interval
from caliper.adapters.text_tables import (
    TableSection,
    TextRow,
    TextTable,
    ranking_table,
    value_text,
)
from caliper.analysis.agreement import Coefficient
from caliper.analysis.capability.analyses import CapabilityAnalyses
from caliper.analysis.capability.caption_length import CaptionLength, LengthAgainstScore
from caliper.analysis.capability.hits import PrecisionAgainstHits
from caliper.analysis.capability.judge_stability import (
    JudgePair,
    JudgeStability,
    RepeatedJudging,
)
from caliper.analysis.capability.known_elements import KnowledgeGap, RunKnowledge
from caliper.analysis.capability.preparation_sweeps import PreparationSweep, PreparationSweeps
from caliper.analysis.capability.verdict_sets import AVERAGE
from caliper.benchmarks.capability.tasks import TASKS
from caliper.core.report import Estimate

_TITLES = {"precision": "Precision", "recall": "Recall", "f1": "F1", "hit_rate": "Hit rate"}
_HEADS = tuple(_TITLES.values())


def capability_sections(analyses: CapabilityAnalyses) -> tuple[TableSection, ...]:
    """A section for each analysis that was chosen."""
    return tuple(
        TableSection(name, title, tuple(tables), analysis.remark)
        for name, title, analysis, tables in (
            ("hits", "Precision against hit rate", analyses.hits, _hits(analyses.hits)),
            ("kt_bar", "Know but cannot tell", analyses.kt_bar, _kt_bar(analyses.kt_bar)),
            ("judging", "Stability of the judge", analyses.judging, _judging(analyses.judging)),
            ("sweeps", "Frames and resolution", analyses.sweeps, _sweeps(analyses.sweeps)),
            ("length", "Caption length", analyses.length, _length(analyses.length)),
        )
        if analysis is not None
    )


def _task(name: str) -> str:
    return TASKS[name].title if name in TASKS else name


def _figures(metrics: Mapping[str, Estimate]) -> TextRow:
    return tuple(map(with_interval, metrics.values()))


def _hits(analysis: PrecisionAgainstHits | None) -> Iterator[TextTable]:
    if analysis is None:
        return
    rows = tuple(
        (
            run.name,
            *_figures(run.tasks[AVERAGE]),
            value_text(run.wrong),
            value_text(run.not_mentioned),
            f"{run.unscored:,}",
        )
        for run in analysis.runs
    )
    heads = ("", *_HEADS, "wrong %", "not mentioned %", "unscored")
    note = "Of all elements, recall % are stated correctly: the rest is wrong or not mentioned."
    bars = tuple(run.tasks[AVERAGE]["f1"] for run in analysis.runs)
    points = tuple(
        (run.name, run.tasks[AVERAGE]["hit_rate"], run.tasks[AVERAGE]["precision"])
        for run in analysis.runs
    )
    axes = (_TITLES["hit_rate"], _TITLES["precision"])
    yield TextTable("Averages over tasks", heads, rows, note, "F1", bars, axes, points)
    for metric, title in _TITLES.items():
        rows = tuple(
            (_task(task), *(with_interval(run.tasks[task][metric]) for run in analysis.runs))
            for task in analysis.runs[0].tasks
        )
        heads = ("", *(run.name for run in analysis.runs))
        yield TextTable(
            f"{title} by task", heads, rows, radar=_radar(analysis) if metric == "f1" else ()
        )
    if any(each.pearson.value is not None for each in analysis.correlations):
        rows = tuple(
            (_task(each.task), str(each.runs), *map(with_interval, (each.pearson, each.spearman)))
            for each in analysis.correlations
        )
        heads = ("", "runs", "Pearson's r", "Spearman's rho")
        note = "Below 0: models that mention more are less often right."
        yield TextTable("Precision and hit rate over runs", heads, rows, note)
    if analysis.ranking is not None:
        title = "Ranking by precision and by hit rate"
        yield ranking_table(title, analysis.ranking, ("precision", "hit rate"))


def _radar(analysis: PrecisionAgainstHits) -> tuple[tuple[str, tuple[Estimate, ...]], ...]:
    """The F1 of each run by task, as in Fig. 3."""
    return tuple(
        (run.name, tuple(each["f1"] for task, each in run.tasks.items() if task != AVERAGE))
        for run in analysis.runs
    )


def _kt_bar(analysis: KnowledgeGap | None) -> Iterator[TextTable]:
    if analysis is None or not analysis.runs:
        return
    rows = tuple(
        (run.name, with_interval(run.tasks[-1].qa_accuracy), with_interval(run.tasks[-1].kt_bar))
        for run in analysis.runs
    )
    note = "Averages over tasks (Table 6); lower KT-bar is better."
    if analysis.kt_range is not None:
        note += (
            f" QA accuracy differs by {number(analysis.accuracy_range)} points between runs, "
            f"KT-bar by {number(analysis.kt_range)}."
        )
    bars = tuple(run.tasks[-1].kt_bar for run in analysis.runs)
    yield TextTable("KT-bar", ("", "QA accuracy", "KT-bar"), rows, note, "KT-bar", bars)
    yield from map(_knowledge, analysis.runs)
    if analysis.ranking is not None:
        title = "Ranking by QA accuracy and by KT-bar"
        yield ranking_table(title, analysis.ranking, ("QA accuracy", "100 - KT-bar"))


def _knowledge(run: RunKnowledge) -> TextTable:
    counts = ("told", "wrong", "silent", "guessed", "unknown", "unscored")
    rows = tuple(
        (
            _task(each.task),
            with_interval(each.qa_accuracy),
            with_interval(each.kt_bar),
            *(f"{getattr(each, count):,}" for count in counts),
        )
        for each in run.tasks
    )
    note = (
        "Elements that the model knows: stated, wrong or missing in the caption. Guessed: stated, "
        "though the answer about the media is wrong."
    )
    heads = ("", "QA accuracy", "KT-bar", "stated", *counts[1:])
    bars = tuple(each.kt_bar for each in run.tasks)
    return TextTable(f"By task: {run.name}", heads, rows, note, "KT-bar", bars)


def _judging(analysis: JudgeStability | None) -> Iterator[TextTable]:
    if analysis is None:
        return
    yield from map(_repeats, analysis.repeated)
    if analysis.averages:
        rows = tuple(
            (
                f"{each.name}: {'; '.join(each.differing) or 'first judge'}",
                *_figures(each.metrics),
            )
            for each in analysis.averages
        )
        bars = tuple(each.metrics["f1"] for each in analysis.averages)
        yield TextTable("Averages by judge", ("", *_HEADS), rows, "As in Fig. A1.", "F1", bars)
    yield from map(_judge_pair, analysis.judges)
    if analysis.agreements:
        two = any(each.agreement.cohen for each in analysis.agreements)
        rows = tuple(
            (
                _task(each.task),
                f"{each.agreement.questions:,}",
                with_interval(each.agreement.accuracy),
                with_interval(
                    (each.agreement.cohen or Coefficient(None)) if two else each.agreement.fleiss
                ),
                with_interval(each.agreement.alpha),
            )
            for each in analysis.agreements
        )
        heads = ("", "verdicts", "equal", "Cohen's kappa" if two else "Fleiss' kappa", "alpha")
        yield TextTable("Agreement about the same captions", heads, rows)


def _repeats(run: RepeatedJudging) -> TextTable:
    rows = tuple(
        (
            _task(each.task),
            *(
                f"{value_text(metric.mean)} ({value_text(metric.range)})"
                for metric in each.metrics.values()
            ),
            f"{each.elements:,}",
            with_interval(each.same),
            with_interval(each.fleiss),
        )
        for each in run.tasks
    )
    bars = tuple(
        _range_bar(each.metrics["f1"].values, each.metrics["f1"].mean) for each in run.tasks
    )
    heads = ("", *_HEADS, "elements", "same verdict", "Fleiss' kappa")
    note = (
        "Mean, and in parentheses greatest minus least over the repeats (Fig. 7); the average has "
        "the mean of the tasks' ranges. Whiskers reach from the least to the greatest F1."
    )
    title = f"{run.name} judged {run.repeats} times"
    return TextTable(title, heads, rows, note, "F1", bars)


def _range_bar(values: Sequence[float | None], mean: float | None) -> Estimate:
    numbers = [value for value in values if value is not None]
    return Estimate(mean, min(numbers), max(numbers)) if numbers else Estimate(None)


def _judge_pair(pair: JudgePair) -> TextTable:
    rows = tuple(
        (
            _TITLES[metric],
            str(len(ranking.changes)),
            with_interval(ranking.correlation.kendall),
            with_interval(ranking.correlation.spearman),
            "yes" if metric in pair.kept else "no",
        )
        for metric, ranking in pair.rankings.items()
    )
    heads = ("", "runs", "Kendall's tau", "Spearman's rho", "same order")
    title = f"Rankings with another judge: {'; '.join(pair.differing)}"
    note = next(iter(pair.rankings.values())).correlation.remark
    return TextTable(title, heads, rows, f"{note.capitalize()}." if note else "")


def _sweeps(analysis: PreparationSweeps | None) -> Iterator[TextTable]:
    for sweep in () if analysis is None else analysis.sweeps:
        yield from _sweep(sweep)


def _sweep(sweep: PreparationSweep) -> Iterator[TextTable]:
    title = f"{sweep.field} of {sweep.model}"
    rows = tuple(
        (
            f"{point.value:g}",
            value_text(point.words),
            *_figures(point.metrics),
            "" if point.change is None else with_interval(point.change),
        )
        for point in sweep.points
    )
    tasks = f"{len(sweep.tasks)} task{'s' * (len(sweep.tasks) != 1)}"
    if all(TASKS[task].media == "video" for task in sweep.tasks):
        tasks += " with clips"
    fixed = ", ".join(f"{name} {value}" for name, value in sweep.fixed.items())
    note = f"Averages over {tasks}; change of F1 from the line above. Fixed: {fixed}."
    if sweep.best is not None:
        note += f" Best F1: {sweep.best:g}."
    heads = (sweep.field, "words", *_HEADS, "change")
    bars = tuple(point.metrics["f1"] for point in sweep.points)
    yield TextTable(title, heads, rows, note, "F1", bars)
    rows = tuple(
        (f"{point.value:g}", *map(with_interval, point.tasks.values())) for point in sweep.points
    )
    yield TextTable(f"F1 by task: {title}", (sweep.field, *map(_task, sweep.tasks)), rows)


def _length(analysis: CaptionLength | None) -> Iterator[TextTable]:
    if analysis is None or not analysis.runs:
        return
    rows = tuple(
        (
            run.name,
            number(run.words),
            *_figures(run.metrics),
            with_interval(run.told),
            with_interval(run.mentioned),
        )
        for run in analysis.runs
    )
    heads = ("", "words", *_HEADS, "r with stated", "r with mentioned")
    note = (
        "Correlation of a caption's length with an element being stated or mentioned, within tasks."
    )
    over = "; ".join(
        f"{_TITLES[metric]} {with_interval(each.spearman)}"
        for metric, each in (analysis.over_runs or {}).items()
        if each.spearman.value is not None
    )
    if over:
        note += f" Spearman's rho of words and average over runs: {over}."
    yield TextTable("Length and score", heads, rows, note)
    yield from map(_quarters, analysis.runs)


def _quarters(run: LengthAgainstScore) -> TextTable:
    rows = tuple(
        (each.quarter, f"{each.captions:,}", number(each.words), *_figures(each.metrics))
        for each in run.quarters
    )
    bars = tuple(each.metrics["f1"] for each in run.quarters)
    note = "Quarters of each task's captions by length; averages over tasks."
    heads = ("", "captions", "words", *_HEADS)
    return TextTable(f"By length: {run.name}", heads, rows, note, "F1", bars)
