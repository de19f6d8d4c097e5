"""Readers or judges compared on the same captions, as CSV and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from caliper.adapters import phrases
from caliper.adapters.exports.csv_text import csv_text
from caliper.adapters.exports.markdown import grid, plain
from caliper.analysis.agreement import Coefficient
from caliper.analysis.choice import JudgeCandidate, ModelChoice
from caliper.analysis.compare import Difference
from caliper.core.report import Estimate

_HEAD = ("benchmark", "run", "judge", "figure", "value", "low", "high")
_DIFFERENCE = ("difference", "difference low", "difference high", "p")
_AGREEMENT = (("agreement", "accuracy"), ("Cohen's kappa", "cohen"))
_PACE = ("replies a second", "tokens a reply")
_BLANK = "cannot % without a caption"
_NONE = Coefficient(None)
_NOT_KNOWN = "not known"


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


def choice_markdown(choices: Sequence[ModelChoice]) -> str:
    """One table per benchmark: figures, the headline's difference from the first run, agreement."""
    blocks = []
    for choice in choices:
        heads = [path[-1].replace("_", " ") for path in choice.paths]
        comparison = (f"{heads[0]}, difference", "agreement", "Cohen's kappa")
        rows = [_row(choice, candidate) for candidate in choice.candidates]
        further = ("covered", *_PACE, _BLANK)
        table = grid(("run", "judge or reader", *heads, *further, *comparison), rows)
        blocks += [f"### {plain(choice.title)}", table]
    blocks.append(
        "Differences and agreement are from the first run, on the same captions, with intervals "
        "at 95%."
    )
    return "\n\n".join(blocks) + "\n"


def _row(choice: ModelChoice, candidate: JudgeCandidate) -> tuple[str, ...]:
    figures = (phrases.number(candidate.estimate(path).value) for path in choice.paths)
    pace = (
        (None, None) if candidate.pace is None else (candidate.pace.replies, candidate.pace.tokens)
    )
    further = (
        phrases.percent(candidate.part.coverage.share),
        *(_NOT_KNOWN if value is None else phrases.number(value) for value in pace),
        _NOT_KNOWN if candidate.blank is None else phrases.with_interval(candidate.blank),
    )
    if candidate.agreement is None:
        return (candidate.run, candidate.name, *figures, *further, "", "", "")
    headline = candidate.differences.get(choice.paths[0], Difference(None, None))
    comparison = (
        phrases.with_interval(headline),
        *(phrases.with_interval(value) for _, value in _agreements(candidate)),
    )
    return (candidate.run, candidate.name, *figures, *further, *comparison)
