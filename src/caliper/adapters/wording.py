"""How reports put figures into words, the same in every format."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import datetime

from caliper.analysis.compare import Difference
from caliper.analysis.leaderboard import Standing
from caliper.benchmarks import lexical_agreement
from caliper.benchmarks.registry import benchmark
from caliper.core.report import BenchmarkReport, Estimate, Path, Report, Reuse
from caliper.core.suspicion import STUFFING, Suspicious
from caliper.pipeline.comparing.comparison import Side

NO_DATA = "no data"
_MINUS = "\N{MINUS SIGN}"


def number(value: float | None) -> str:
    """Two decimals, none for a whole count; `no data` for None."""
    if value is None:
        return NO_DATA
    text = str(value) if isinstance(value, int) else f"{value:.2f}"
    return text.replace("-", _MINUS)


def interval(found: Estimate | Difference) -> str:
    """`low to high`, or nothing where there is no interval."""
    if found.low is None or found.high is None:
        return ""
    return f"{number(found.low)} to {number(found.high)}"


def standing(row: Standing) -> str:
    """What keeps a checkpoint from being compared with the others; empty where nothing does."""
    told = f"partial, {percent(row.coverage)} covered" if row.partial else ""
    lacks = f"lacks {', '.join(row.lacking)}" if row.lacking else ""
    stuffed = "signs of stuffing" if row.stuffed else ""
    return "; ".join(filter(None, (told, lacks, stuffed)))


def behind(row: Standing) -> str:
    """How far a checkpoint is behind the best, with the interval; empty for the best."""
    found = row.behind
    if found is None or found.value is None:
        return ""
    told = number(found.value)
    if within := interval(found):
        told += f" ({within})"
    told = told if row.clear else f"{told}, not clear"
    return "; ".join(filter(None, (told, dimensions(found))))


def dimensions(found: Difference) -> str:
    """Over which tasks or domains a difference is taken, where one of the runs lacks some; empty
    where neither does.
    """
    if not found.without:
        return ""
    number_of = f"the {len(found.over)} that both have" if found.over else "none: nothing shared"
    return f"over {number_of}; without {', '.join(found.without)}"


def probability(p: float | None) -> str:
    """A p-value by three decimals, as `<.001` or `.042`; empty where there is none."""
    if p is None:
        return ""
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def chance(found: Difference) -> str:
    """How often chance alone gives such a difference, adjusted; else why nothing tells it."""
    return probability(found.adjusted) or found.untested


def percent(share: float) -> str:
    """A share as a percentage that never rounds up to all: 99.996% is not 100%."""
    whole = 100 * share
    text = f"{whole:.2f}"
    return f"{'99.99' if text == '100.00' and whole < 100 else text}%"


def suspicious(found: Suspicious) -> str:
    """How many captions look as if they were written for the judge, and by which signs; nothing
    where no caption was looked at.
    """
    if not found.examined:
        return ""
    if not found.captions:
        return f"None of {found.examined:,} captions looks as if it were written for the judge."
    return (
        f"{found.captions:,} of {found.examined:,} captions look as if they were written for the "
        f"judge ({_signs(found, found.signs)}). Scores are unchanged."
    )


def reuse(found: Reuse | None) -> str:
    """How much of a run rests on replies of earlier runs; nothing where nothing does."""
    if found is None:
        return ""
    counts = (
        (found.captions, found.of_captions, "captions"),
        (found.verdicts, found.of_verdicts, "verdicts"),
    )
    parts = [f"{count:,} of {of:,} {what}" for count, of, what in counts if count]
    told = " and ".join(parts)
    return f"{told} reuse replies of earlier runs; use --replicate to ask again."


def unasked(state: str, since: datetime) -> str:
    """That a run had ended before, so that nothing was asked."""
    return f"Already {state} since {since:%Y-%m-%d %H:%M} UTC; nothing was asked."


def stuffed(report: Report) -> tuple[str, ...]:
    """What must be said before any figure: benchmarks in which more than a few captions have
    signs of stating everything.
    """
    return tuple(
        f"Signs of stuffing in {part.title}: {part.suspicious.stuffed:,} of "
        f"{part.suspicious.examined:,} captions ({_signs(part.suspicious, STUFFING)}). A "
        "caption that lists everything is right about something. Do not compare these scores "
        "with others; `caliper gate` is inconclusive."
        for part in report.benchmarks
        if part.suspicious.stuffing
    )


def stuffed_side(name: str, side: Side) -> str:
    """That a run that is compared has captions which list everything, and in which benchmarks;
    nothing where it has none.
    """
    shares = ", ".join(
        f"{benchmark(part).title} ({percent(share)} of its captions)"
        for part, share in side.stuffed.items()
    )
    return f"{name} shows signs of stuffing in {shares}." if shares else ""


def _signs(found: Suspicious, wanted: Collection[str]) -> str:
    return ", ".join(f"{sign} {number:,}" for sign, number in found.signs.items() if sign in wanted)


def state(report: Report) -> str:
    """Whether a run is complete, and what it lacks."""
    if report.state == "complete":
        return "Complete: every planned question has an outcome, coverage is over the floor."
    if report.state != "finished":
        return f"Incomplete: the run is {report.state}; figures cover what has a verdict so far."
    floor = report.spec.get("coverage_floor", 0.0)
    lacking = "; ".join(
        f"{part.title}: {part.coverage.scored:,} of {part.coverage.askable:,} questions scored "
        f"({percent(part.coverage.share)}, {floor:.0%} needed)"
        for part in report.benchmarks
        if part.coverage.share < floor
    )
    lacking = lacking or "a cap left questions out"
    return f"Incomplete: {lacking}. `caliper gate` will not accept this run."


def label(benchmark: BenchmarkReport, path: Path) -> str:
    """How the tables name the figure at `path`: its row and column, else the path itself."""
    for table in benchmark.tables:
        for row in table.rows:
            if path in row.cells:
                return f"{row.label}, {table.columns[row.cells.index(path)]}"
    return ", ".join(part.replace("_", " ") for part in path)


def headline(benchmark: BenchmarkReport) -> Estimate:
    """The figure that people quote first; one without data when it was not estimated."""
    return benchmark.estimates.get(benchmark.headline, Estimate(None))


def notes(benchmark: BenchmarkReport) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The notes that must not be overlooked, and the others.

    Loud are those that forbid a comparison with published figures, and that of many blank
    captions; where a model is lexical one of the former is there even if nobody wrote it.
    """
    loud = tuple(note for note in benchmark.notes if _forbids(note) or _MANY_BLANK.search(note))
    quiet = tuple(note for note in benchmark.notes if note not in loud)
    lexical = any(_LEXICAL.search(model) for model in benchmark.models.values())
    if lexical and not any(map(_forbids, loud)):
        loud = (*loud, lexical_agreement.WARNING)
    return loud, quiet


def heading(note: str) -> str:
    """The words in front of a loud note."""
    return "Not for comparison" if _forbids(note) else "Warning"


def _forbids(note: str) -> bool:
    return _UNPUBLISHED.search(note) is not None


_UNPUBLISHED = re.compile(r"\bcompar(able|ison) with published\b")
_MANY_BLANK = re.compile(r"\bcaptions are blank: .* Check\b")
_LEXICAL = re.compile(r"\blexical\b")
