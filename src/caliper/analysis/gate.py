"""The gate: may a candidate replace a base? Applies a policy to their differences.

Every check has a margin: how far the candidate may be below the base. Then

    regression     the drop is significantly larger than the margin
    passed         a drop larger than the margin can be ruled out
    inconclusive   neither: too few pairs, too little coverage, no such figure, or captions that
                   list everything

The significance level is `level`. Regressions are tested one-sided and adjusted together (Holm),
so that a gate of many checks raises no more false alarms than one of a single check. The tests
that rule a drop out are not adjusted: all checks have to pass, which is already harder (Berger,
Multiparameter hypothesis testing and acceptance sampling, Technometrics 24, 1982). Both tests are
Student's, corrected for skewness: a loss on a few media only shows in even fewer of the sample.
If all media agree, they are exact (see `exact`).

A drop means a loss: for a figure that is better when lower, it is a rise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import NamedTuple

from caliper.analysis.compare import Difference
from caliper.analysis.exact import constant_p
from caliper.analysis.significance import LEVEL, holm, upper_tail
from caliper.analysis.targets import FindingTarget
from caliper.benchmarks.base import Better
from caliper.benchmarks.registry import benchmark
from caliper.core.report import Path
from caliper.core.run import COVERAGE_FLOOR


class Tier(StrEnum):
    """The consequence of a check.

    A critical check fails the gate on a regression, and makes it inconclusive if the check is. A
    supporting check fails the gate on a regression only. An advisory check is only shown.
    """

    CRITICAL = "critical"
    SUPPORTING = "supporting"
    ADVISORY = "advisory"


class Decision(StrEnum):
    """The result of a check or of the whole gate."""

    PASSED = "passed"
    REGRESSION = "regression"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Check:
    """A requirement on figures. `figure` is a dotted path and may contain `*`, which does not
    match counts and spreads over repeats: for these, neither more nor less is better.

    `max_drop` is in the figure's unit, `max_relative_drop` a share of the base's value; the
    stricter one applies. At least `min_pairs` media have to be in both runs.
    """

    benchmark: str
    figure: str
    tier: Tier = Tier.CRITICAL
    max_drop: float | None = None
    max_relative_drop: float | None = None
    min_pairs: int = 2

    def margin(self, base: float | None) -> float:
        """How far below this value of the base the candidate may be, in the figure's unit."""
        margins = [] if self.max_drop is None else [self.max_drop]
        if self.max_relative_drop is not None and base is not None:
            margins.append(self.max_relative_drop * abs(base))
        return min(margins, default=0.0)


@dataclass(frozen=True, slots=True)
class Policy:
    """The checks of a gate. Both runs have to cover `min_coverage` of a benchmark's questions, and
    of those of each figure.
    """

    checks: tuple[Check, ...]
    level: float = LEVEL
    min_coverage: float = COVERAGE_FLOOR


@dataclass(frozen=True, slots=True)
class GateFinding:
    """The result of one check for one figure, about `target`. `better` says whether more or less of
    it is better; `reason` says why the result is inconclusive.
    """

    check: Check
    figure: str
    decision: Decision
    difference: Difference | None = None
    margin: float | None = None
    reason: str = ""
    better: Better = Better.MORE
    target: FindingTarget = FindingTarget.SIMILAR


@dataclass(frozen=True, slots=True)
class GateSide:
    """The gate's view of one run: whether it is complete, its coverage by benchmark, and by
    benchmark the share of captions with signs of stuffing, where it is too high to trust figures.
    `shares` has, by benchmark and figure, the share of the questions scored in either run that this
    run has a score of, where not all are scored in both.
    """

    complete: bool
    coverage: Mapping[str, float]
    stuffed: Mapping[str, float] = field(default_factory=dict)
    shares: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GateResult:
    """The gate's decision and the findings behind it."""

    decision: Decision
    findings: tuple[GateFinding, ...]


_ANY = "(any figure)"
Differences = Mapping[str, Mapping[Path, Difference]]


def gate(
    policy: Policy, differences: Differences, base: GateSide, candidate: GateSide
) -> GateResult:
    """Apply a policy to the differences, candidate minus base, of every figure.

    A benchmark that only the base has is reported even if no check names it.
    """
    named = {check.benchmark for check in policy.checks}
    lost = base.coverage.keys() - candidate.coverage.keys() - named
    checks = (*policy.checks, *(Check(name, _ANY, Tier.CRITICAL) for name in sorted(lost)))
    sides = {"base": base, "candidate": candidate}
    matched = [
        (finding, unfit(policy, check, base, candidate) or _uncovered(policy, finding, sides))
        for check in checks
        for finding in _matching(check, differences.get(check.benchmark, {}))
    ]
    findings = [
        replace(finding, reason=reason) if reason else _test(finding, policy.level)
        for finding, reason in matched
    ]
    findings = _with_regressions(findings, policy.level)
    open_ = any(
        _keeps_open(finding, reason, base, candidate)
        for finding, (_, reason) in zip(findings, matched, strict=True)
    )
    return GateResult(_decision(findings, something_missing=open_), tuple(findings))


def _keeps_open(finding: GateFinding, unfit: str, base: GateSide, candidate: GateSide) -> bool:
    """Whether something is missing that a gate must not ignore: a benchmark, whatever the tier of
    its check; a figure, or coverage, for a check that is not advisory.
    """
    if any(finding.check.benchmark not in side.coverage for side in (base, candidate)):
        return True
    figureless = finding.difference is None or finding.difference.value is None
    return finding.check.tier is not Tier.ADVISORY and bool(unfit or figureless)


def _matching(check: Check, figures: Mapping[Path, Difference]) -> Iterator[GateFinding]:
    """Findings to decide: one per figure that a check matches, or one without a figure if there is
    none.
    """
    matched = False
    for path, difference in figures.items():
        name = ".".join(path)
        better = benchmark(check.benchmark).direction(path) or Better.NEITHER
        eligible = better is not Better.NEITHER and fnmatchcase(name, check.figure)
        if eligible or name == check.figure:
            matched = True
            yield GateFinding(check, name, Decision.INCONCLUSIVE, difference, better=better)
    if not matched:
        yield GateFinding(check, check.figure, Decision.INCONCLUSIVE)


def unfit(policy: Policy, check: Check, base: GateSide, candidate: GateSide) -> str:
    """Why a benchmark cannot be gated; empty if it can."""
    for side, name in ((base, "base"), (candidate, "candidate")):
        if check.benchmark not in side.coverage:
            return f"the {name} has no {check.benchmark}"
        if not side.complete:
            return f"the {name} is not complete"
        if reason := _too_few(name, side.coverage[check.benchmark], policy):
            return reason
        if check.benchmark in side.stuffed:
            share = side.stuffed[check.benchmark]
            return f"{share:.1%} of the captions of the {name} show signs of stuffing"
    return ""


def _uncovered(policy: Policy, finding: GateFinding, sides: Mapping[str, GateSide]) -> str:
    """Why too few of a figure's questions have a score; empty if enough have."""
    own = finding.check.benchmark, finding.figure
    shares = ((name, side.shares.get(own[0], {}).get(own[1], 1.0)) for name, side in sides.items())
    texts = (_too_few(name, share, policy, " of its questions") for name, share in shares)
    return next(filter(None, texts), "")


def _too_few(name: str, share: float, policy: Policy, of: str = "") -> str:
    """That a side covers too little, with enough digits to show it; empty if it covers enough."""
    floor = policy.min_coverage
    if share >= floor:
        return ""
    pairs = ((f"{share:.{digits}%}", f"{floor:.{digits}%}") for digits in range(1, 15))
    covered, least = next((pair for pair in pairs if pair[0] != pair[1]), (str(share), str(floor)))
    return f"the {name} covers {covered}{of}, less than {least}"


def _test(finding: GateFinding, level: float) -> GateFinding:
    """Test a finding on its own: can a drop of more than the margin be ruled out?"""
    check, difference = finding.check, finding.difference
    if difference is None or difference.value is None:
        return replace(finding, reason="no such figure in both runs")
    if finding.better is Better.NEITHER:
        return replace(finding, reason="neither a higher nor a lower value is better")
    if difference.paired < check.min_pairs:
        return replace(finding, reason=f"{difference.paired} pairs, fewer than {check.min_pairs}")
    margin = check.margin(difference.first)
    finding = replace(finding, margin=margin)
    p_values = _p_values(finding)
    if p_values is None:
        return replace(finding, reason="the difference has no interval")
    if p_values.passed < level:
        return replace(finding, decision=Decision.PASSED)
    loss = "drop" if finding.better is Better.MORE else "rise"
    return replace(finding, reason=f"a {loss} of more than {margin:g} is not ruled out")


class _PValues(NamedTuple):
    """One-sided p-values: `regression` of a drop within the margin, `passed` of a larger one."""

    regression: float
    passed: float


def _p_values(finding: GateFinding) -> _PValues | None:
    """The p-values of a finding; None without a difference, or without a measure of its spread."""
    difference, margin = finding.difference, finding.margin
    if difference is None or difference.value is None or margin is None:
        return None
    sign = 1 if finding.better is Better.MORE else -1
    gain, skew = sign * difference.value, sign * (difference.skew or 0.0)
    if difference.error is not None and difference.degrees is not None:
        error, degrees, spare = difference.error, difference.degrees, gain + margin
        return _PValues(
            upper_tail(-spare, error, degrees, -skew), upper_tail(spare, error, degrees, skew)
        )
    if difference.alike is None or difference.most is None:
        return None
    return _PValues(
        constant_p(-gain, margin, difference.most, difference.alike),
        constant_p(gain, -margin, difference.most, difference.alike),
    )


def _with_regressions(findings: list[GateFinding], level: float) -> list[GateFinding]:
    """Mark the findings that are regressions after adjustment.

    Advisory checks stop nothing, so they are a family of their own and cost the others no power.
    """
    results = list(findings)
    for advisory in (False, True):
        places = [
            place
            for place, finding in enumerate(findings)
            if (finding.check.tier is Tier.ADVISORY) is advisory
        ]
        p_values = (_p_values(findings[place]) for place in places)
        adjusted = holm([None if one is None else one.regression for one in p_values])
        for place, p in zip(places, adjusted, strict=True):
            if p is not None and p < level:
                results[place] = replace(findings[place], decision=Decision.REGRESSION, reason="")
    return results


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
