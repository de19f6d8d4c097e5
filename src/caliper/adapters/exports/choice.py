"""Readers or judges of the same captions, side by side: as CSV and as Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from caliper.adapters import wording
from caliper.adapters.exports.markdown import grid, plain
from caliper.analysis.agreement import Coefficient
from caliper.analysis.choice import Candidate, ModelChoice
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
    """One row a figure of a run, at full precision; what has no data is empty.

    The difference is from the first run of the benchmark. Agreement with its verdicts and
    Cohen's kappa are rows of their own, from 0 to 1, and so are coverage, throughput, and how
    often a reader says that it cannot answer where captions tell nothing; empty where that is
    not known.
    """
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow([*_HEAD, *_DIFFERENCE])
    for found in choices:
        for one in found.candidates:
            place = (found.benchmark, one.run, one.who)
            rows.writerows([*place, *numbers] for numbers in _numbers(found, one))
    return out.getvalue()


def _numbers(found: ModelChoice, one: Candidate) -> Iterator[tuple[object, ...]]:
    for path in found.paths:
        estimate = one.estimate(path)
        apart = one.differences.get(path, Difference(None, None))
        differing = (apart.value, apart.low, apart.high, apart.p)
        yield ".".join(path), estimate.value, estimate.low, estimate.high, *differing
    blank = one.blank or Estimate(None)
    beside = {
        "coverage": (one.part.coverage.share, None, None),
        _PACE[0]: (None if one.pace is None else one.pace.replies, None, None),
        _PACE[1]: (None if one.pace is None else one.pace.tokens, None, None),
        _BLANK: (blank.value, blank.low, blank.high),
        **{name: (found.value, found.low, found.high) for name, found in _agreements(one)},
    }
    for name, values in beside.items():
        yield name, *values, None, None, None, None


def _agreements(one: Candidate) -> list[tuple[str, Coefficient]]:
    if one.agreement is None:
        return []
    return [(name, getattr(one.agreement, word) or _NONE) for name, word in _AGREEMENT]


def choice_markdown(choices: Sequence[ModelChoice]) -> str:
    """A table a benchmark: figures, the headline's difference from the first run, agreement."""
    blocks = []
    for found in choices:
        heads = [path[-1].replace("_", " ") for path in found.paths]
        against = (f"{heads[0]}, difference", "agreement", "Cohen's kappa")
        rows = [_row(found, one) for one in found.candidates]
        beside = ("covered", *_PACE, _BLANK)
        table = grid(("run", "judge or reader", *heads, *beside, *against), rows)
        blocks += [f"### {plain(found.title)}", table]
    blocks.append(
        "Differences and agreement are from the first run, on the same captions, with intervals "
        "at 95%."
    )
    return "\n\n".join(blocks) + "\n"


def _row(found: ModelChoice, one: Candidate) -> tuple[str, ...]:
    figures = (wording.number(one.estimate(path).value) for path in found.paths)
    pace = (None, None) if one.pace is None else (one.pace.replies, one.pace.tokens)
    beside = (
        wording.percent(one.part.coverage.share),
        *(_NOT_KNOWN if value is None else wording.number(value) for value in pace),
        _NOT_KNOWN if one.blank is None else _bounded(one.blank),
    )
    if one.agreement is None:
        return (one.run, one.who, *figures, *beside, "", "", "")
    headline = one.differences.get(found.paths[0], Difference(None, None))
    told = (_bounded(headline), *(_bounded(value) for _, value in _agreements(one)))
    return (one.run, one.who, *figures, *beside, *told)


def _bounded(found: Difference | Coefficient | Estimate) -> str:
    if found.low is None or found.high is None:
        return wording.number(found.value)
    bounds = f"{wording.number(found.low)} to {wording.number(found.high)}"
    return f"{wording.number(found.value)} ({bounds})"
