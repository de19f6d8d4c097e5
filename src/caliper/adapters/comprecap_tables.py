"""The analyses of CompreCap as tables of text, for terminals and pages alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from caliper.adapters.metric_tables import correlation_table, scores_table
from caliper.adapters.phrases import with_interval
from caliper.adapters.text_tables import (
    TableSection,
    TextRow,
    TextTable,
    bar_of,
    ranking_table,
    share_text,
    value_text,
)
from caliper.analysis.agreement import Coefficient
from caliper.analysis.comprecap.ablations import RANKED, Ablation, Ablations
from caliper.analysis.comprecap.analyses import SceneAnalyses
from caliper.analysis.comprecap.compreqa import AnswerGroup, RunAnswers, TinyObjects
from caliper.analysis.comprecap.coverage import AreaCoverage
from caliper.analysis.comprecap.people import HumanCorrelation
from caliper.analysis.comprecap.scenes import TITLES
from caliper.benchmarks.comprecap.compreqa import KINDS
from caliper.core.report import Estimate


def scene_sections(analyses: SceneAnalyses) -> tuple[TableSection, ...]:
    """A section for each analysis that was chosen."""
    people, compreqa = analyses.people, analyses.compreqa
    ablations, coverage = analyses.ablations, analyses.coverage
    sections = (
        ("people", "Agreement with people", people, _people(people)),
        ("compreqa", "CompreQA", compreqa, _compreqa(compreqa)),
        ("ablations", "Ablations of the matching", ablations, _ablations(ablations)),
        ("coverage", "Coverage by area", coverage, _coverage(coverage)),
    )
    return tuple(
        TableSection(name, title, tuple(tables), analysis.remark)
        for name, title, analysis, tables in sections
        if analysis is not None
    )


def _people(analysis: HumanCorrelation | None) -> Iterator[TextTable]:
    if analysis is None or not analysis.scored:
        return
    for title, noun, correlations in (
        ("Over models (Table 3)", "models", analysis.models),
        ("Over captions", "captions", analysis.captions),
    ):
        if any(one.estimate.kendall.value is not None for one in correlations):
            estimates = {one.metric: one.estimate for one in correlations}
            yield correlation_table(title, noun, estimates)
    human = {model.name: model.human for model in analysis.scored}
    metrics = {model.name: model.metrics for model in analysis.scored}
    yield scores_table("Scores (Table S3)", human, metrics, TITLES["s_unified"])


def _compreqa(analysis: TinyObjects | None) -> Iterator[TextTable]:
    if analysis is None or not analysis.runs:
        return
    heads: TextRow = ("", "questions", "unscored", "accuracy %", "present %", "absent %")
    rows: list[TextRow] = [row for run in analysis.runs for row in _accuracies(run)]
    yield TextTable("Answers from the pictures (Table 4)", heads, tuple(rows))
    bands = [
        (run.name, group)
        for run in analysis.runs
        for group in run.groups
        if group.kind == "cap" and group.part != "all" and group.questions
    ]
    if bands:
        heads = ("", "questions", "unscored", "accuracy %", "% of the errors")
        rows = [
            (f"{name}, {group.part}", *_counted(group), value_text(group.errors))
            for name, group in bands
        ]
        bars = tuple(Estimate(group.errors) for _, group in bands)
        note = "By the share of the picture that the largest such object covers (Fig. S7)."
        title = f"{KINDS['cap']} by area"
        yield TextTable(title, heads, tuple(rows), note, "% of the errors", bars)
    for kind, ranking in analysis.rankings:
        title = f"Ranking by S-unified and by {KINDS[kind]}"
        yield ranking_table(title, ranking, ("S-unified", KINDS[kind]))
    heads = ("", "right", "wrong", "silent", "unscored", "right %")
    rows = [
        (
            f"{run.name}, {KINDS[each.kind]}",
            *(f"{count:,}" for count in (each.right, each.wrong, each.silent, each.unscored)),
            share_text(each.right, each.right + each.wrong + each.silent),
        )
        for run in analysis.runs
        for each in run.from_captions
    ]
    note = "By rules over the words of the caption, without a model. Silent: it does not say."
    yield TextTable("Answers from the captions", heads, tuple(rows), note)


def _accuracies(run: RunAnswers) -> Iterator[TextRow]:
    groups = {(group.kind, group.part): group for group in run.groups}
    for kind, title in KINDS.items():
        if (kind, "all") in groups:
            parts = (groups.get((kind, part)) for part in ("present", "absent"))
            cells = ("" if part is None else with_interval(part.accuracy) for part in parts)
            yield (f"{run.name}, {title}", *_counted(groups[kind, "all"]), *cells)


def _counted(group: AnswerGroup) -> TextRow:
    return f"{group.questions:,}", f"{group.unscored:,}", with_interval(group.accuracy)


def _ablations(analysis: Ablations | None) -> Iterator[TextTable]:
    if analysis is None:
        return
    least = [f"{each.threshold:g}" for each in analysis.thresholds]
    # The first threshold is 0: the run's own tagger.
    variants = (*analysis.thresholds[:1], *analysis.taggers) if analysis.taggers else ()
    taggers = [each.tagger for each in variants]
    for name in RANKED:
        title = f"{TITLES[name]} by similarity threshold"
        yield from _ablated(title, name, analysis.thresholds, least)
    for name in RANKED:
        yield from _ablated(f"{TITLES[name]} by noun tagger", name, variants, taggers)
    for setup in analysis.setups:
        title = f"With another setup: {'; '.join(setup.differing)}"
        yield ranking_table(title, setup.ranking, ("S-unified", "S-unified there"))


def _ablated(
    title: str, name: str, variants: Sequence[Ablation], labels: Sequence[str]
) -> Iterator[TextTable]:
    """A figure of all runs in each variant, and its ranking against that of the runs as judged."""
    if not variants:
        return
    figures = (
        (label, *(value_text(run.figures.get(name)) for run in variant.runs))
        for variant, label in zip(variants, labels, strict=True)
    )
    yield TextTable(title, ("", *(run.name for run in variants[0].runs)), tuple(figures))
    rows = []
    for variant, label in zip(variants, labels, strict=True):
        ranking = variant.rankings[name]
        correlations = [ranking.correlation.kendall, ranking.correlation.spearman]
        correlations += [variant.people[name].kendall] if variant.people else []
        left_out = sum(run.left_out for run in variant.runs)
        share = share_text(left_out, sum(run.phrases for run in variant.runs))
        rows.append((label, share, f"{ranking.most_moved}", *map(_coefficient, correlations)))
    heads = ["", "left out %", "places moved", "Kendall's tau", "Spearman's rho"]
    heads += ["tau with people"] if variants[0].people else []
    note = (
        "Places, tau and rho: against the ranking as judged. Left out: attributes and relations "
        "that need a model."
    )
    chart, charted = "Kendall's tau", [each.rankings[name].correlation for each in variants]
    if variants[0].people:
        chart, charted = "tau with people (Fig. S6)", [each.people[name] for each in variants]
    bars = tuple(bar_of(each.kendall) for each in charted)
    yield TextTable(f"Ranking by {title}", tuple(heads), tuple(rows), note, chart, bars)


def _coefficient(coefficient: Coefficient) -> str:
    return "" if coefficient.value is None else with_interval(coefficient)


def _coverage(analysis: AreaCoverage | None) -> Iterator[TextTable]:
    if analysis is None or not analysis.runs:
        return
    rows: list[TextRow] = [
        (
            run.name,
            f"{run.pictures:,}",
            f"{run.unscored:,}",
            *map(value_text, (run.paper, run.image, run.union)),
        )
        for run in analysis.runs
    ]
    heads: TextRow = (
        "",
        "pictures",
        "unscored",
        "as printed %",
        "of the image %",
        "of the masks %",
    )
    note = "S-Cov: as printed (3.3), and per pixel of the image or of the masks (s_cov)."
    yield TextTable("Area-weighted coverage", heads, tuple(rows), note)
    bands = [(run.name, band) for run in analysis.runs for band in run.bands if band.instances]
    rows = [
        (
            f"{name}, {band.low:g} to {band.high:g}%",
            f"{band.instances:,}",
            f"{band.unscored:,}",
            *map(value_text, (band.mentioned, band.score, band.covered, band.omitted)),
        )
        for name, band in bands
    ]
    heads = ("", "objects", "unscored", "mentioned %", "score", "covered %", "% of the omitted")
    bars = tuple(Estimate(band.omitted) for _, band in bands)
    note = "By the share of the picture that an object's mask covers (Fig. 6)."
    title = "Objects by area"
    yield TextTable(title, heads, tuple(rows), note, "% of the omitted objects", bars)
