"""Readers or judges of the same captions, side by side: as CSV and as Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from caliper.adapters import wording
from caliper.adapters.exports.markdown import grid, plain
from caliper.analysis.agreement import Coefficient
from caliper.analysis.choice import Candidate, Choice
from caliper.analysis.compare import Difference

_HEAD = ("benchmark", "run", "judge", "figure", "value", "low", "high")
_DIFFERENCE = ("difference", "difference low", "difference high", "p")
_AGREEMENT = (("agreement", "accuracy"), ("Cohen's kappa", "cohen"))
_NONE = Coefficient(None)


def choice_csv(choices: Sequence[Choice]) -> str:
    """One row a figure of a run, at full precision; what has no data is empty.

    The difference is from the first run of the benchmark. Agreement with its verdicts and
    Cohen's kappa are rows of their own, from 0 to 1.
    """
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow([*_HEAD, *_DIFFERENCE])
    for found in choices:
        for one in found.candidates:
            place = (found.benchmark, one.run, one.who)
            rows.writerows([*place, *numbers] for numbers in _numbers(found, one))
    return out.getvalue()


def _numbers(found: Choice, one: Candidate) -> Iterator[tuple[object, ...]]:
    for path in found.paths:
        estimate = one.estimate(path)
        apart = one.differences.get(path, Difference(None, None))
        differing = (apart.value, apart.low, apart.high, apart.p)
        yield ".".join(path), estimate.value, estimate.low, estimate.high, *differing
    yield "coverage", one.part.coverage.share, None, None, None, None, None, None
    for name, coefficient in _agreements(one):
        values = (coefficient.value, coefficient.low, coefficient.high)
        yield name, *values, None, None, None, None


def _agreements(one: Candidate) -> list[tuple[str, Coefficient]]:
    if one.agreement is None:
        return []
    return [(name, getattr(one.agreement, word) or _NONE) for name, word in _AGREEMENT]


def choice_markdown(choices: Sequence[Choice]) -> str:
    """A table a benchmark: figures, the headline's difference from the first run, agreement."""
    blocks = []
    for found in choices:
        heads = [path[-1].replace("_", " ") for path in found.paths]
        against = (f"{heads[0]}, difference", "agreement", "Cohen's kappa")
        rows = [_row(found, one) for one in found.candidates]
        table = grid(("run", "judge or reader", *heads, "covered", *against), rows)
        blocks += [f"### {plain(found.title)}", table]
    blocks.append(
        "Differences and agreement are from the first run, on the same captions, with intervals "
        "at 95 %."
    )
    return "\n\n".join(blocks) + "\n"


def _row(found: Choice, one: Candidate) -> tuple[str, ...]:
    figures = (wording.number(one.estimate(path).value) for path in found.paths)
    covered = wording.percent(one.part.coverage.share)
    if one.agreement is None:
        return (one.run, one.who, *figures, covered, "", "", "")
    headline = one.differences.get(found.paths[0], Difference(None, None))
    told = (_bounded(headline), *(_bounded(value) for _, value in _agreements(one)))
    return (one.run, one.who, *figures, covered, *told)


def _bounded(found: Difference | Coefficient) -> str:
    if found.low is None or found.high is None:
        return wording.number(found.value)
    bounds = f"{wording.number(found.low)} to {wording.number(found.high)}"
    return f"{wording.number(found.value)} ({bounds})"
