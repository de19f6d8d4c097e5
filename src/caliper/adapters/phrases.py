"""The wording of figures in reports, the same in every format."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from caliper.benchmarks.base import LEXICAL_WARNING, ReportLayout
from caliper.benchmarks.registry import all_names, benchmark, usable_names
from caliper.core.report import BenchmarkReport, Coverage, Estimate, Path, Report, Reuse

if TYPE_CHECKING:
    # They import numpy, which the gateway does without, or take time that `evaluate` does not need.
    from caliper.analysis.agreement import Coefficient
    from caliper.analysis.compare import Difference
    from caliper.analysis.leaderboard import LeaderboardRow
    from caliper.pipeline.comparing.comparison import Against

NO_DATA = "no data"
_MINUS = "\N{MINUS SIGN}"


@cache
def _spellings() -> Mapping[str, str]:
    """Words of internal names as people read them, where that is not in lower case."""
    known = {"f1": "F1", "qa": "QA"}
    for name in usable_names():
        known |= benchmark(name).words
    return known


def readable(name: str) -> str:
    """An internal name as people read it: `object_number` is "Object number"."""
    text = _words(name)
    return f"{text[:1].upper()}{text[1:]}"


def _words(name: str) -> str:
    spellings = _spellings()
    return " ".join(spellings.get(word, word) for word in name.replace("_", " ").split(" "))


def number(value: float | None, decimals: int = 2) -> str:
    """A number with some decimals, a count without; `no data` for None."""
    if value is None:
        return NO_DATA
    text = f"{value:,}" if isinstance(value, int) else f"{value:,.{decimals}f}"
    return text.replace("-", _MINUS)


def tick(value: float) -> str:
    """A number at an axis."""
    return f"{value:g}".replace("-", _MINUS)


def title_of(name: str) -> str:
    """The title of a benchmark, or the name of one that is not installed."""
    return benchmark(name).title if name in all_names() else name


def interval(figure: Estimate | Difference | Coefficient, decimals: int = 2) -> str:
    """The interval as `low to high`; empty without one."""
    if figure.low is None or figure.high is None:
        return ""
    return f"{number(figure.low, decimals)} to {number(figure.high, decimals)}"


def with_interval(figure: Estimate | Difference | Coefficient, decimals: int = 2) -> str:
    """The figure, followed by its interval in parentheses if it has one."""
    span, value = interval(figure, decimals), number(figure.value, decimals)
    return f"{value} ({span})" if span else value


def exclusion(row: LeaderboardRow) -> str:
    """Why a checkpoint cannot be compared with the others; empty if it can."""
    partial = f"incomplete, {percent(row.coverage)} covered" if row.partial else ""
    stuffed = "signs of stuffing" if row.stuffed else ""
    return "; ".join(filter(None, (partial, lacks(row.lacking), stuffed)))


def lacks(dimensions: Sequence[str]) -> str:
    """The dimensions that an average lacks; empty if none."""
    return f"lacks {', '.join(map(readable, dimensions))}" if dimensions else ""


def in_part(coverage: Coverage) -> str:
    """How many of a benchmark's questions were drawn; empty if all are asked."""
    if not coverage.undrawn:
        return ""
    drawn = coverage.planned - coverage.undrawn
    return f"judged in part: {percent(drawn / coverage.planned)} of {coverage.planned:,}"


def remarks(part: BenchmarkReport) -> str:
    """Remarks beside a benchmark's headline; empty if there are none."""
    return "; ".join(filter(None, (in_part(part.coverage), lacks(part.lacking))))


def distance_to_best(row: LeaderboardRow) -> str:
    """How far a checkpoint trails the best one, with the interval; empty for the best."""
    difference = row.behind
    if difference is None or difference.value is None:
        return ""
    text = with_interval(difference)
    text = text if row.clear else f"{text}, not clear"
    return "; ".join(filter(None, (text, basis(difference))))


def basis(difference: Difference) -> str:
    """The tasks or domains, and the questions, that a difference covers; empty unless one of the
    runs lacks some.
    """
    questions = "over the questions scored in both" if difference.leaves_out else ""
    return "; ".join(filter(None, (dimensions(difference), questions)))


def dimensions(difference: Difference) -> str:
    """The tasks or domains that a difference covers; empty unless one of the runs lacks some."""
    if not difference.without:
        return ""
    number_of = (
        f"the {len(difference.over)} that both have" if difference.over else "none: nothing shared"
    )
    return f"over {number_of}; without {', '.join(map(readable, difference.without))}"


def unpaired(candidate: Against) -> str:
    """How many questions are unscored in one run, and whether differences leave them out."""
    differences = (each for part in candidate.parts for each in part.figures.values())
    leaves_out = any(each.leaves_out for each in differences)
    text = f"{candidate.flips.unpaired:,} unscored in one run"
    return f"{text}, left out of the differences" if leaves_out else text


def probability(p: float | None) -> str:
    """A p-value with three decimals, such as `<0.001` or `0.042`; empty for None."""
    if p is None:
        return ""
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def p_value(difference: Difference) -> str:
    """The adjusted p-value of a difference, or why it was not tested."""
    return probability(difference.adjusted) or difference.untested_reason


def percent(share: float) -> str:
    """A share as a percentage that never rounds up to all: 99.996% is not 100%."""
    whole = 100 * share
    text = f"{whole:.2f}"
    return f"{'99.99' if text == '100.00' and whole < 100 else text}%"


def reuse(reused: Reuse | None) -> str:
    """How much of a run reuses replies of earlier runs; empty if nothing does."""
    if reused is None:
        return ""
    counts = (
        (reused.captions, reused.of_captions, "captions"),
        (reused.verdicts, reused.of_verdicts, "verdicts"),
    )
    parts = [f"{count:,} of {total:,} {what}" for count, total, what in counts if count]
    text = " and ".join(parts)
    return f"{text} reuse replies of earlier runs; use --replicate to ask again."


def already_ended(state: str, since: datetime) -> str:
    """The message for a run that had already ended, so that nothing was asked."""
    return f"Already {state} since {since:%Y-%m-%d %H:%M} UTC; nothing was asked."


def state(report: Report) -> str:
    """Whether a run is complete, or what it lacks."""
    if report.state == "complete" and report.spec.get("judge_share"):
        return "Judged in part: every drawn question has an outcome, coverage is over the floor."
    if report.state == "decided":
        return "Decided: the comparison with the baseline needed only some of the questions."
    if report.state == "complete":
        return "Complete: every planned question has an outcome, coverage is over the floor."
    if report.state != "finished":
        return f"Incomplete: the run is {report.state}; scores so far."
    floor = report.spec.get("coverage_floor", 0.0)
    lacking = "; ".join(
        f"{part.title}: {part.coverage.scored:,} of {part.coverage.askable:,} questions scored "
        f"({percent(part.coverage.share)}, {floor:.0%} needed)"
        + (part.coverage.reasons and f": {part.coverage.reasons}")
        for part in report.benchmarks
        if part.coverage.share < floor
    )
    lacking = lacking or "a cap left questions out"
    return f"Incomplete: {lacking}. `caliper gate` will not accept this run."


def label(benchmark: BenchmarkReport | ReportLayout, path: Path) -> str:
    """The label of the figure at `path`: its row and column in a table, else the path itself."""
    for table in benchmark.tables:
        for row in table.rows:
            if path in row.cells:
                return figure_name(row.label, table.columns[row.cells.index(path)])
    return _path_name(path)


def checked_figure(benchmark: str, figure: str) -> str:
    """The benchmark and figure of a gate's check, by its dotted path or pattern: `captionqa` and
    `overall.score` are "CaptionQA: Overall, score".
    """
    return f"{title_of(benchmark)}: {_path_name(figure.split('.'))}"


def _path_name(path: Sequence[str]) -> str:
    return ", ".join([readable(path[0]), *map(_words, path[1:])])


def figure_name(row: str, column: str) -> str:
    """The name of the figure in a row and column of a table; a column of values adds nothing."""
    return row if column == "value" else f"{row}, {column}"


def headline(benchmark: BenchmarkReport) -> Estimate:
    """The headline figure; without a value if it was not estimated."""
    return benchmark.estimates.get(benchmark.headline, Estimate(None))


def notes(benchmark: BenchmarkReport) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The loud notes, which must not be overlooked, and the others.

    Loud are notes that forbid a comparison with published figures, and the note on many blank
    captions. If a model is lexical, a note that forbids the comparison is added where none does.
    """
    loud = tuple(note for note in benchmark.notes if _forbids(note) or _MANY_BLANK.search(note))
    quiet = tuple(note for note in benchmark.notes if note not in loud)
    lexical = any(_LEXICAL.search(model) for model in benchmark.models.values())
    if lexical and not any(map(_forbids, loud)):
        loud = (*loud, LEXICAL_WARNING)
    return loud, quiet


def heading(note: str) -> str:
    """The heading of a loud note."""
    return "Not comparable with published figures" if _forbids(note) else "Warning"


def _forbids(note: str) -> bool:
    return _UNPUBLISHED.search(note) is not None


_UNPUBLISHED = re.compile(r"\bcompar(able|ison) with published\b")
_MANY_BLANK = re.compile(r"\bcaptions are blank: .* Check\b")
_LEXICAL = re.compile(r"\blexical\b")
