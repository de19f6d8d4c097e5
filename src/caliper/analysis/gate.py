"""Whether a candidate may replace a base: what a policy says of their differences.

For every check a margin is set: how far the candidate may lie below the base. Then

    regression     the drop is larger than the margin, beyond chance
    passed         a larger drop than the margin can be ruled out
    inconclusive   neither can be said: too few pairs, too little covered, no such figure, or
                   captions that list everything

Chance is `level`. Regressions are tested one-sided and adjusted together (Holm), so that a
gate of many checks raises no more false alarms than one of a single check. That a drop is
ruled out is not adjusted: all checks have to say so, which makes it harder already (Berger,
Multiparameter hypothesis testing and acceptance sampling, Technometrics 24, 1982). Both tests
are Student's, corrected for skewness: what may be lost on a few media only shows on fewer yet.
Where all media tell the same they are exact (see `exact`).

A drop is a loss: of a figure that is better when lower it is a rise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import NamedTuple

from caliper.analysis.compare import Difference
from caliper.analysis.exact import alike_beyond
from caliper.analysis.significance import LEVEL, beyond, holm
from caliper.benchmarks.base import Better
from caliper.benchmarks.registry import benchmark
from caliper.core.report import Path


class Tier(StrEnum):
    """What follows from a check.

    A critical one stops the candidate by a regression, and leaves the gate open when it is
    inconclusive; a supporting one stops it by a regression only; an advisory one is shown.
    """

    CRITICAL = "critical"
    SUPPORTING = "supporting"
    ADVISORY = "advisory"


class Decision(StrEnum):
    """What a check, or the whole gate, comes to."""

    PASSED = "passed"
    REGRESSION = "regression"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Check:
    """What is demanded of figures. `figure` is a dotted path, and may hold `*`, which stands for
    no count and no spread over repeats: neither way is such a figure the better one.

    `max_drop` is in the figure's unit, `max_relative_drop` a share of the base's value; of both
    the stricter counts. At least `min_pairs` media have to be in both runs.
    """

    benchmark: str
    figure: str
    tier: Tier = Tier.CRITICAL
    max_drop: float | None = None
    max_relative_drop: float | None = None
    min_pairs: int = 2


@dataclass(frozen=True, slots=True)
class Policy:
    """All checks. Both runs have to cover `min_coverage` of a benchmark's questions."""

    checks: tuple[Check, ...]
    level: float = LEVEL
    min_coverage: float = 0.99


@dataclass(frozen=True, slots=True)
class GateFinding:
    """What one check says of one figure, `better` when more or when less; `reason` tells why it
    is inconclusive.
    """

    check: Check
    figure: str
    decision: Decision
    difference: Difference | None = None
    margin: float | None = None
    reason: str = ""
    better: Better = Better.MORE


@dataclass(frozen=True, slots=True)
class GateSide:
    """One run as a gate sees it: whether it is complete, the coverage by benchmark, and the share
    of captions with signs of stuffing of the benchmarks where it is too large to go by figures.
    """

    complete: bool
    coverage: Mapping[str, float]
    stuffed: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GateResult:
    """The gate's decision, and every finding it is made of."""

    decision: Decision
    findings: tuple[GateFinding, ...]


_ANY = "(any figure)"
Differences = Mapping[str, Mapping[Path, Difference]]


def gate(
    policy: Policy, differences: Differences, base: GateSide, candidate: GateSide
) -> GateResult:
    """Apply a policy to the differences, candidate minus base, of every figure.

    A benchmark of the base that the candidate lacks is told, whether a check names it or not.
    """
    named = {check.benchmark for check in policy.checks}
    lost = base.coverage.keys() - candidate.coverage.keys() - named
    checks = (*policy.checks, *(Check(name, _ANY, Tier.CRITICAL) for name in sorted(lost)))
    unfit = {check: _unfit(policy, check, base, candidate) for check in checks}
    found = [
        replace(finding, reason=unfit[check])
        for check in checks
        for finding in _matching(check, differences.get(check.benchmark, {}))
    ]
    judged = [finding if finding.reason else _judged(finding, policy.level) for finding in found]
    judged = _adjusted(judged, policy.level)
    open_ = any(_keeps_open(finding, unfit[finding.check], base, candidate) for finding in judged)
    return GateResult(_decision(judged, something_missing=open_), tuple(judged))


def _keeps_open(finding: GateFinding, unfit: str, base: GateSide, candidate: GateSide) -> bool:
    """Whether something is missing that no gate may pass over: a benchmark, whatever the tier
    of its check; a figure or the coverage of a check that stops.
    """
    if any(finding.check.benchmark not in side.coverage for side in (base, candidate)):
        return True
    figureless = finding.difference is None or finding.difference.value is None
    return finding.check.tier is not Tier.ADVISORY and bool(unfit or figureless)


def _matching(check: Check, figures: Mapping[Path, Difference]) -> Iterator[GateFinding]:
    """What is to be found of the figures that a check is about; of the check itself, without a
    figure, where there is none.
    """
    found = False
    for path, difference in figures.items():
        name = ".".join(path)
        better = benchmark(check.benchmark).direction(path) or Better.NEITHER
        meant = better is not Better.NEITHER and fnmatchcase(name, check.figure)
        if meant or name == check.figure:
            found = True
            yield GateFinding(check, name, Decision.INCONCLUSIVE, difference, better=better)
    if not found:
        yield GateFinding(check, check.figure, Decision.INCONCLUSIVE)


def _unfit(policy: Policy, check: Check, base: GateSide, candidate: GateSide) -> str:
    """Why nothing of a benchmark can be gated on; empty when it can."""
    for side, name in ((base, "base"), (candidate, "candidate")):
        if check.benchmark not in side.coverage:
            return f"the {name} has no {check.benchmark}"
        if not side.complete:
            return f"the {name} is not complete"
        if side.coverage[check.benchmark] < policy.min_coverage:
            share = side.coverage[check.benchmark]
            return f"the {name} covers {share:.1%}, less than {policy.min_coverage:.1%}"
        if check.benchmark in side.stuffed:
            share = side.stuffed[check.benchmark]
            return f"{share:.1%} of the captions of the {name} show signs of stuffing"
    return ""


def _margin(check: Check, difference: Difference) -> float:
    """How far below the base the candidate may lie, in the figure's unit."""
    margins = [] if check.max_drop is None else [check.max_drop]
    if check.max_relative_drop is not None and difference.first is not None:
        margins.append(check.max_relative_drop * abs(difference.first))
    return min(margins, default=0.0)


def _judged(finding: GateFinding, level: float) -> GateFinding:
    """A finding by itself: whether more than the margin can be ruled out."""
    check, difference = finding.check, finding.difference
    if difference is None or difference.value is None:
        return _open(finding, "no such figure in both runs")
    if finding.better is Better.NEITHER:
        return _open(finding, "neither more nor less of it is better")
    if difference.paired < check.min_pairs:
        return _open(finding, f"{difference.paired} pairs, fewer than {check.min_pairs}")
    margin = _margin(check, difference)
    finding = replace(finding, margin=margin)
    tested = _chances(finding)
    if tested is None:
        return _open(finding, "nothing tells how sure the difference is")
    if tested.passed < level:
        return _decided(finding, Decision.PASSED)
    loss = "drop" if finding.better is Better.MORE else "rise"
    return _open(finding, f"a {loss} of more than {margin:g} is not ruled out")


class _Chances(NamedTuple):
    """One-sided p-values: of a drop by no more than the margin (`regression`), and of one by more
    (`passed`).
    """

    regression: float
    passed: float


def _chances(finding: GateFinding) -> _Chances | None:
    """None where there is no difference, and where nothing tells how sure it is."""
    found, margin = finding.difference, finding.margin
    if found is None or found.value is None or margin is None:
        return None
    sign = 1 if finding.better is Better.MORE else -1
    gain, skew = sign * found.value, sign * (found.skew or 0.0)
    if found.error is not None and found.degrees is not None:
        error, degrees, spare = found.error, found.degrees, gain + margin
        return _Chances(beyond(-spare, error, degrees, -skew), beyond(spare, error, degrees, skew))
    if found.alike is None or found.most is None:
        return None
    return _Chances(
        alike_beyond(-gain, margin, found.most, found.alike),
        alike_beyond(gain, -margin, found.most, found.alike),
    )


def _adjusted(findings: list[GateFinding], level: float) -> list[GateFinding]:
    """The findings, with those that are regressions after all of them are looked at together.

    Advisory checks stop nothing: they are a family of their own and cost the others no power.
    """
    found = list(findings)
    for advisory in (False, True):
        places = [
            place
            for place, finding in enumerate(findings)
            if (finding.check.tier is Tier.ADVISORY) is advisory
        ]
        chances = (_chances(findings[place]) for place in places)
        adjusted = holm([None if one is None else one.regression for one in chances])
        for place, p in zip(places, adjusted, strict=True):
            if p is not None and p < level:
                found[place] = _decided(findings[place], Decision.REGRESSION)
    return found


def _decided(finding: GateFinding, decision: Decision) -> GateFinding:
    return replace(finding, decision=decision, reason="")


def _open(finding: GateFinding, reason: str) -> GateFinding:
    return replace(finding, reason=reason)


def _decision(findings: list[GateFinding], *, something_missing: bool) -> Decision:
    stopping = [finding for finding in findings if finding.check.tier is not Tier.ADVISORY]
    if any(finding.decision is Decision.REGRESSION for finding in stopping):
        return Decision.REGRESSION
    critical = [finding for finding in findings if finding.check.tier is Tier.CRITICAL]
    if something_missing or not critical:
        return Decision.INCONCLUSIVE
    if all(finding.decision is Decision.PASSED for finding in critical):
        return Decision.PASSED
    return Decision.INCONCLUSIVE
