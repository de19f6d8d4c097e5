"""The analyses of CaptionQA as tables of text, for terminals and pages alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from caliper.adapters.phrases import number, with_interval
from caliper.adapters.text_tables import (
    TableSection,
    TextRow,
    TextTable,
    bar_of,
    ranking_table,
    share_text,
    value_text,
)
from caliper.analysis.captionqa.analyses import CaptionAnalyses
from caliper.analysis.captionqa.difficulty import Difficulty, DifficultySplit
from caliper.analysis.captionqa.errors import ErrorAnalysis, ErrorCounts
from caliper.analysis.captionqa.prompts import STATES, PromptChange, PromptComparison
from caliper.analysis.captionqa.ranking_stability import RankingStability, SubsetStability
from caliper.analysis.captionqa.utility_gap import RunGap, UtilityGap
from caliper.benchmarks.captionqa.domains import TITLES
from caliper.core.report import Estimate


def table_sections(analyses: CaptionAnalyses) -> tuple[TableSection, ...]:
    """A section for each analysis that was chosen."""
    return tuple(
        TableSection(name, title, tuple(tables), analysis.remark)
        for name, title, analysis, tables in (
            (
                "difficulty",
                "Difficulty of questions",
                analyses.difficulty,
                _difficulty(analyses.difficulty),
            ),
            (
                "stability",
                "Stability of the ranking",
                analyses.stability,
                _stability(analyses.stability),
            ),
            ("gap", "Utility gap", analyses.gap, _gap(analyses.gap)),
            ("prompts", "Caption prompts", analyses.prompts, _prompts(analyses.prompts)),
            ("errors", "Coverage and errors", analyses.errors, _errors(analyses.errors)),
        )
        if analysis is not None
    )


def _place(domain: str, category: str = "") -> str:
    title = TITLES.get(domain, domain.capitalize())
    return f"{title}: {category}" if category else title


def _difficulty(analysis: Difficulty | None) -> Iterator[TextTable]:
    if analysis is None or analysis.remark:
        return
    heads: TextRow = ("", "questions", "easy %", "medium %", "hard %")
    note = (
        f"By the share of {analysis.models} models that are right: easy over 80%, hard under 50%."
    )
    for title, splits in (("By domain", analysis.domains), ("By category", analysis.categories)):
        bars = tuple(Estimate(100 * each.hard / each.questions) for each in splits)
        yield TextTable(title, heads, tuple(map(_split, splits)), note, heads[-1], bars)
    rows = (
        (run.name, value_text(run.easy), value_text(run.medium), value_text(run.hard))
        for run in analysis.runs
    )
    yield TextTable("Accuracy by difficulty", ("", "easy", "medium", "hard"), tuple(rows))
    if analysis.hardest:
        questions = (
            (f"{each.sample} #{each.ordinal}: {each.text}", each.expected, number(each.right))
            for each in analysis.hardest
        )
        yield TextTable("Hardest questions", ("", "expected", "models right %"), tuple(questions))


def _split(split: DifficultySplit) -> TextRow:
    levels = (split.easy, split.medium, split.hard)
    shares = (share_text(count, split.questions) for count in levels)
    return (_place(split.domain, split.category), f"{split.questions:,}", *shares)


def _stability(analysis: RankingStability | None) -> Iterator[TextTable]:
    if analysis is None:
        return
    if analysis.subsets:
        heads = ("", "drawn", "Kendall's tau", "Spearman's rho", "same best %")
        note = (
            "Agreement with the ranking on all questions: mean and 95% range of "
            f"{analysis.draws:,} draws."
        )
        rows = tuple(map(_subset, analysis.subsets))
        bars = tuple(bar_of(subset.kendall) for subset in analysis.subsets)
        yield TextTable("With fewer questions", heads, rows, note, heads[2], bars)
    for setup in analysis.setups:
        title = f"With another setup: {'; '.join(setup.differing)}"
        yield ranking_table(title, setup.ranking, ("score", "score there"))


def _subset(subset: SubsetStability) -> TextRow:
    return (
        _place(subset.scope),
        f"{subset.share:.0%} of the {subset.unit} ({subset.units:,})",
        with_interval(subset.kendall),
        with_interval(subset.spearman),
        value_text(subset.same_best),
    )


def _gap(analysis: UtilityGap | None) -> Iterator[TextTable]:
    if analysis is None or not analysis.runs:
        return
    domains = list(dict.fromkeys(part.domain for run in analysis.runs for part in run.domains))
    rows = []
    for run in analysis.runs:
        parts = {part.domain: part for part in run.domains}
        gaps = [with_interval(parts[name].gap) if name in parts else "" for name in domains]
        whole = run.domains[0]
        image, caption, score = map(value_text, (whole.on_image, whole.on_caption, whole.score_gap))
        rows.append((run.name, image, caption, *gaps, score))
    heads = ("", "on image", "on caption", *map(_place, domains), "gap of scores")
    note = "Accuracy on the image minus accuracy on the caption, in points (Table 4)."
    wholes = [(run.name, run.domains[0]) for run in analysis.runs]
    yield TextTable(
        "Gaps",
        heads,
        tuple(rows),
        note,
        "gap",
        tuple(bar_of(whole.gap) for _, whole in wholes),
        ("accuracy on the caption", "accuracy on the image"),
        tuple((name, Estimate(one.on_caption), Estimate(one.on_image)) for name, one in wholes),
    )
    yield _by_domain(analysis.runs, domains[1:])
    if analysis.ranking is not None:
        title = "Ranking on the image and on the caption"
        yield ranking_table(title, analysis.ranking, ("on image", "on caption"))


def _by_domain(runs: Sequence[RunGap], domains: Sequence[str]) -> TextTable:
    """The accuracies of each run on image and caption, a row per domain."""
    accuracies: dict[str, tuple[Estimate, ...]] = {}
    for run in runs:
        parts = {part.domain: part for part in run.domains}
        for where in ("image", "caption"):
            values = (getattr(parts.get(name), f"on_{where}", None) for name in domains)
            accuracies[f"{run.name}, on {where}"] = tuple(map(Estimate, values))
    columns = list(accuracies.values())
    rows = tuple(
        (_place(name), *(value_text(column[place].value) for column in columns))
        for place, name in enumerate(domains)
    )
    radar = tuple(accuracies.items())
    return TextTable("Accuracy by domain", ("", *accuracies), rows, radar=radar)


def _prompts(analysis: PromptComparison | None) -> Iterator[TextTable]:
    if analysis is None:
        return
    for change in analysis.changes:
        yield from _change(change)
    if analysis.prompts:
        rows = (
            (
                each.prompt,
                number(each.words),
                number(each.accuracy),
                value_text(each.share_of_gain),
                value_text(each.share_of_words),
            )
            for each in analysis.prompts
        )
        heads = ("", "words", "accuracy", "% of the gain", "% of the words")
        note = "Gain: from the shortest captions to the most accurate ones."
        points = tuple(
            (each.prompt, Estimate(each.words), Estimate(each.accuracy))
            for each in analysis.prompts
        )
        axes = ("words", "accuracy")
        yield TextTable("What length gains", heads, tuple(rows), note, axes=axes, points=points)
    if analysis.lengths:
        lengths = (
            (
                each.name,
                number(each.words),
                value_text(each.score),
                with_interval(each.pearson),
                with_interval(each.spearman),
            )
            for each in analysis.lengths
        )
        heads = ("", "words", "score", "Pearson's r", "Spearman's rho")
        note = "Correlation of a caption's length with its score, over pictures."
        yield TextTable(
            "Caption length and score",
            heads,
            tuple(lengths),
            note,
            "Pearson's r",
            tuple(bar_of(each.pearson) for each in analysis.lengths),
            ("words", "score"),
            tuple((one.name, Estimate(one.words), Estimate(one.score)) for one in analysis.lengths),
        )


def _change(change: PromptChange) -> Iterator[TextTable]:
    title = f"From {change.before} to {change.after}"
    rows = [
        (
            _place(gain.domain, gain.category),
            f"{gain.questions:,}",
            with_interval(gain.accuracy),
            value_text(gain.coverage),
        )
        for gain in change.categories
    ]
    rows.insert(0, ("Overall", "", with_interval(change.accuracy), value_text(change.coverage)))
    heads = ("", "questions", "accuracy", "coverage")
    note = (
        f"Gains in points, over {len(change.models)} model{'s' * (len(change.models) != 1)}. "
        f"Pearson's r of both over categories: {with_interval(change.coverage_accuracy)}."
    )
    gains = (change.accuracy, *(gain.accuracy for gain in change.categories))
    points = tuple(
        (_place(gain.domain, gain.category), Estimate(gain.coverage), Estimate(gain.accuracy.value))
        for gain in change.categories
    )
    axes = ("gain in coverage", "gain in accuracy")
    bars = tuple(map(bar_of, gains))
    yield TextTable(title, heads, tuple(rows), note, "accuracy", bars, axes, points)
    counts = (
        (state, *(f"{count:,}" for count in row))
        for state, row in zip(STATES, change.transitions, strict=True)
    )
    corner = f"{change.before} \\ {change.after}"
    yield TextTable(f"{title}: answers", (corner, *STATES), tuple(counts))


def _errors(analysis: ErrorAnalysis | None) -> Iterator[TextTable]:
    if analysis is None:
        return
    heads: TextRow = ("", "coverage", "accuracy", "accuracy of answered", "r over categories")
    rows = (
        (
            run.name,
            value_text(run.coverage),
            value_text(run.accuracy),
            value_text(run.accuracy_of_answered),
            with_interval(run.over_categories),
        )
        for run in analysis.coverage
    )
    points = tuple(
        (run.name, Estimate(run.coverage), Estimate(run.accuracy)) for run in analysis.coverage
    )
    axes = ("coverage", "accuracy")
    title = "Coverage against accuracy"
    yield TextTable(title, heads, tuple(rows), axes=axes, points=points)
    heads = ("", "right", "omitted", "misleading", "forced", "unscored", "seen", "unseen")
    note = (
        "Omitted: cannot answer. Misleading: wrong, though it could have said so. Forced: wrong "
        "yes or no. Seen: errors that the model answers right from the picture."
    )
    yield TextTable("Kinds of errors", heads, tuple(map(_counts, analysis.errors)), note)
    heads = ("", "questions", "mean", "deviation", "least", "most", "cannot %")
    of_categories = (
        (
            _place(each.domain, each.category),
            f"{each.questions:,}",
            *map(value_text, (each.mean, each.deviation, each.least, each.most, each.cannot)),
        )
        for each in analysis.categories
    )
    note = (
        "Scores of the runs (Table 9); whiskers reach from the least to the greatest. Pearson's r "
        f"of cannot % and mean: {with_interval(analysis.cannot_score)}."
    )
    bars = tuple(Estimate(each.mean, each.least, each.most) for each in analysis.categories)
    yield TextTable("Categories over all runs", heads, tuple(of_categories), note, "mean", bars)


def _counts(counts: ErrorCounts) -> TextRow:
    kinds = (counts.right, counts.omitted, counts.misleading, counts.forced, counts.unscored)
    on_picture = ("" if count is None else f"{count:,}" for count in (counts.seen, counts.unseen))
    return (counts.name, *(f"{count:,}" for count in kinds), *on_picture)
