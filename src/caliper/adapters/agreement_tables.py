"""Agreement of raters, and the choice of a judge or reader, as tables of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from caliper.adapters.phrases import number, percent, readable, title_of, with_interval
from caliper.adapters.text_tables import TableSection, TextRow, TextTable, bar_of
from caliper.analysis.agreement import Agreement, Coefficient
from caliper.analysis.choice import JudgeCandidate, ModelChoice
from caliper.analysis.compare import Difference
from caliper.core.report import Estimate

_UNDEFINED = Coefficient(None)
_NOT_KNOWN = "not known"
_FURTHER = ("Covered", "Replies per second", "Tokens per reply", "Cannot % without a caption")


def agreement_sections(
    by_benchmark: Mapping[str, Mapping[str, Agreement]], choices: Sequence[ModelChoice] = ()
) -> tuple[TableSection, ...]:
    """The agreement of each benchmark, and the `choices`."""
    agreements = tuple(
        agreement_table(title_of(name), parts) for name, parts in by_benchmark.items()
    )
    sections = (
        TableSection("agreement", "Agreement", agreements),
        TableSection("choice", "Choice of a judge or reader", tuple(map(choice_table, choices))),
    )
    return tuple(section for section in sections if section.tables)


def agreement_table(title: str, parts: Mapping[str, Agreement]) -> TextTable:
    """The agreement of each part."""
    two_raters = any(each.cohen is not None for each in parts.values())
    kappa = "Cohen's kappa" if two_raters else "Fleiss' kappa"
    rows = tuple(
        (
            name,
            f"{each.questions:,}",
            with_interval(each.accuracy),
            with_interval((each.cohen or _UNDEFINED) if two_raters else each.fleiss),
            with_interval(each.alpha),
        )
        for name, each in parts.items()
    )
    bars = tuple(bar_of(each.accuracy) for each in parts.values())
    heads = ("", "questions", "accuracy", kappa, "alpha")
    return TextTable(title, heads, rows, chart="accuracy", bars=bars)


def choice_table(choice: ModelChoice) -> TextTable:
    """A row per run: figures, throughput, the headline's difference from the first, agreement."""
    figures = [readable(path[-1]) for path in choice.paths]
    comparison = (f"{figures[0]}, difference", "Agreement", "Cohen's kappa")
    headlines = [each.estimate(choice.paths[0]) for each in choice.candidates]
    return TextTable(
        choice.title,
        ("Run", "Judge or reader", *figures, *_FURTHER, *comparison),
        tuple(_row(choice, each) for each in choice.candidates),
        "Differences and agreement are from the first run, on the same captions.",
        figures[0],
        tuple(headlines),
        (_FURTHER[1], figures[0]),
        tuple(
            (each.run, Estimate(each.pace.replies), headline)
            for each, headline in zip(choice.candidates, headlines, strict=True)
            if each.pace is not None
        ),
    )


def _row(choice: ModelChoice, candidate: JudgeCandidate) -> TextRow:
    pace = candidate.pace
    known = (None, None) if pace is None else (pace.replies, pace.tokens)
    row = (
        candidate.run,
        candidate.name,
        *(number(candidate.estimate(path).value) for path in choice.paths),
        percent(candidate.part.coverage.share),
        *(_NOT_KNOWN if value is None else number(value) for value in known),
        _NOT_KNOWN if candidate.blank is None else with_interval(candidate.blank),
    )
    agreement = candidate.agreement
    if agreement is None:
        return (*row, "", "", "")
    headline = candidate.differences.get(choice.paths[0], Difference(None, None))
    agreed = (agreement.accuracy, agreement.cohen or _UNDEFINED)
    return (*row, with_interval(headline), *map(with_interval, agreed))
