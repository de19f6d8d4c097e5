"""Readers or judges compared on the same captions, as CSV, JSON and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from caliper.adapters.agreement_tables import choice_table
from caliper.adapters.exports.csv_text import csv_text
from caliper.adapters.exports.markdown import grid, plain
from caliper.analysis.agreement import Coefficient
from caliper.analysis.choice import JudgeCandidate, ModelChoice
from caliper.analysis.compare import Difference
from caliper.core.report import Estimate

_NONE = Coefficient(None)
_HEAD = ("benchmark", "run", "judge", "figure", "value", "low", "high")
_DIFFERENCE = ("difference", "difference low", "difference high", "p")
_AGREEMENT = (("agreement", "accuracy"), ("Cohen's kappa", "cohen"))
_PACE = ("replies a second", "tokens a reply")
_BLANK = "cannot % without a caption"


def choice_csv(choices: Sequence[ModelChoice]) -> str:
    """One row per figure of each run, at full precision; missing data is empty.

    Differences are from the benchmark's first run. Further rows give the agreement with its
    verdicts and Cohen's kappa (0 to 1), coverage, throughput, and how often a reader says that
    it cannot answer from a caption that says nothing.
    """
    rows: list[Sequence[object]] = [(*_HEAD, *_DIFFERENCE)]
    for choice in choices:
        for candidate in choice.candidates:
            place = (choice.benchmark, candidate.run, candidate.name)
            rows += [(*place, *numbers) for numbers in _numbers(choice, candidate)]
    return csv_text(rows)


def _numbers(choice: ModelChoice, candidate: JudgeCandidate) -> Iterator[tuple[object, ...]]:
    for path in choice.paths:
        estimate = candidate.estimate(path)
        difference = candidate.differences.get(path, Difference(None, None))
        comparison = (difference.value, difference.low, difference.high, difference.p)
        yield ".".join(path), estimate.value, estimate.low, estimate.high, *comparison
    blank = candidate.blank or Estimate(None)
    further = {
        "coverage": (candidate.part.coverage.share, None, None),
        _PACE[0]: (None if candidate.pace is None else candidate.pace.replies, None, None),
        _PACE[1]: (None if candidate.pace is None else candidate.pace.tokens, None, None),
        _BLANK: (blank.value, blank.low, blank.high),
        **{name: (value.value, value.low, value.high) for name, value in _agreements(candidate)},
    }
    for name, values in further.items():
        yield name, *values, None, None, None, None


def _agreements(candidate: JudgeCandidate) -> list[tuple[str, Coefficient]]:
    if candidate.agreement is None:
        return []
    return [(name, getattr(candidate.agreement, word) or _NONE) for name, word in _AGREEMENT]


def choice_values(choices: Sequence[ModelChoice]) -> dict[str, list[dict[str, object]]]:
    """What `choice_csv` has, by benchmark, for JSON; what is not known is None."""
    return {
        choice.benchmark: [_values(choice, each) for each in choice.candidates]
        for choice in choices
    }


def _values(choice: ModelChoice, candidate: JudgeCandidate) -> dict[str, object]:
    further = {
        "agreement": candidate.agreement,
        "throughput": candidate.pace,
        "cannot_without_caption": candidate.blank,
    }
    return {
        "run": candidate.run,
        "judge": candidate.name,
        "figures": {".".join(path): asdict(candidate.estimate(path)) for path in choice.paths},
        "differences": {
            ".".join(path): asdict(candidate.differences[path])
            for path in choice.paths
            if path in candidate.differences
        },
        "coverage": candidate.part.coverage.share,
        **{name: None if each is None else asdict(each) for name, each in further.items()},
    }


def choice_markdown(choices: Sequence[ModelChoice]) -> str:
    """One table per benchmark: figures, the headline's difference from the first run, agreement."""
    blocks = []
    for table in map(choice_table, choices):
        blocks += [f"### {plain(table.title)}", grid(table.heads, table.rows), table.note]
    return "\n\n".join([*blocks, "Intervals at 95%."]) + "\n"
