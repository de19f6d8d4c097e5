"""Whether a candidate may replace a base: what a policy says of their differences.

For every check a margin is set: how far the candidate may lie below the base. Then

    regression     the drop is larger than the margin, beyond chance
    passed         a larger drop than the margin can be ruled out
    inconclusive   neither can be said: too few pairs, too little covered, no such figure

Chance is `level`. Regressions are tested one-sided and adjusted together (Holm), so that a
gate of many checks raises no more false alarms than one of a single check. That a drop is
ruled out is not adjusted: all checks have to say so, which makes it harder already (Berger,
Multiparameter hypothesis testing and acceptance sampling, Technometrics 24, 1982).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from caliper.analysis.compare import Difference
from caliper.analysis.significance import LEVEL, beyond, holm
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
    """What is demanded of figures. `figure` is a dotted path, and may hold `*`.

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
class Finding:
    """What one check says of one figure; `reason` tells why it is inconclusive."""

    check: Check
    figure: str
    decision: Decision
    difference: Difference | None = None
    margin: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Side:
    """One run as a gate sees it: whether it is complete, and the coverage by benchmark."""

    complete: bool
    coverage: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Gated:
    """The gate's decision, and every finding it is made of."""

    decision: Decision
    findings: tuple[Finding, ...]


_ANY = "(any figure)"
Differences = Mapping[str, Mapping[Path, Difference]]


def gate(policy: Policy, differences: Differences, base: Side, candidate: Side) -> Gated:
    """Apply a policy to the differences, candidate minus base, of every figure.

    A benchmark of the base that the candidate lacks is told, whether a check names it or not.
    """
    named = {check.benchmark for check in policy.checks}
    lost = base.coverage.keys() - candidate.coverage.keys() - named
    checks = (*policy.checks, *(Check(name, _ANY, Tier.CRITICAL) for name in sorted(lost)))
    unfit = {check: _unfit(policy, check, base, candidate) for check in checks}
    found = [
        Finding(check, figure, Decision.INCONCLUSIVE, difference, reason=unfit[check])
        for check in checks
        for figure, difference in _matching(check, differences.get(check.benchmark, {}))
    ]
    judged = [finding if finding.reason else _judged(finding, policy.level) for finding in found]
    judged = _adjusted(judged, policy.level)
    open_ = any(_keeps_open(finding, unfit[finding.check], base, candidate) for finding in judged)
    return Gated(_decision(judged, something_missing=open_), tuple(judged))


def _keeps_open(finding: Finding, unfit: str, base: Side, candidate: Side) -> bool:
    """Whether something is missing that no gate may pass over: a benchmark, whatever the tier
    of its check; a figure or the coverage of a check that stops.
    """
    if any(finding.check.benchmark not in side.coverage for side in (base, candidate)):
        return True
    figureless = finding.difference is None or finding.difference.value is None
    return finding.check.tier is not Tier.ADVISORY and bool(unfit or figureless)


def _matching(
    check: Check, figures: Mapping[Path, Difference]
) -> Iterator[tuple[str, Difference | None]]:
    """The figures that a check is about; the check itself, without one, where there is none."""
    named = {".".join(path): found for path, found in figures.items()}
    matching = [name for name in named if fnmatchcase(name, check.figure)]
    for name in matching:
        yield name, named[name]
    if not matching:
        yield check.figure, None


def _unfit(policy: Policy, check: Check, base: Side, candidate: Side) -> str:
    """Why nothing of a benchmark can be gated on; empty when it can."""
    for side, name in ((base, "base"), (candidate, "candidate")):
        if check.benchmark not in side.coverage:
            return f"the {name} has no {check.benchmark}"
        if not side.complete:
            return f"the {name} is not complete"
        if side.coverage[check.benchmark] < policy.min_coverage:
            share = side.coverage[check.benchmark]
            return f"the {name} covers {share:.1%}, less than {policy.min_coverage:.1%}"
    return ""


def _margin(check: Check, difference: Difference) -> float:
    """How far below the base the candidate may lie, in the figure's unit."""
    margins = [] if check.max_drop is None else [check.max_drop]
    if check.max_relative_drop is not None and difference.first is not None:
        margins.append(check.max_relative_drop * abs(difference.first))
    return min(margins, default=0.0)


def _judged(finding: Finding, level: float) -> Finding:
    """A finding by itself: whether more than the margin can be ruled out."""
    check, difference = finding.check, finding.difference
    if difference is None or difference.value is None:
        return _open(finding, "no such figure in both runs")
    if difference.paired < check.min_pairs:
        return _open(finding, f"{difference.paired} pairs, fewer than {check.min_pairs}")
    margin = _margin(check, difference)
    finding = Finding(check, finding.figure, Decision.INCONCLUSIVE, difference, margin)
    if difference.error is None:
        return _by_bounds(finding, difference, margin)
    if beyond(difference.value + margin, difference.error, _degrees(difference)) < level:
        return _decided(finding, Decision.PASSED)
    return _open(finding, f"a drop of more than {margin:g} is not ruled out")


def _by_bounds(finding: Finding, difference: Difference, margin: float) -> Finding:
    """Where no medium moves the difference only its interval tells how sure it is."""
    if difference.low is None or difference.high is None:
        return _open(finding, "the difference has no interval")
    if difference.high < -margin:
        return _decided(finding, Decision.REGRESSION)
    if difference.low >= -margin:
        return _decided(finding, Decision.PASSED)
    return _open(finding, f"a drop of more than {margin:g} is not ruled out")


def _adjusted(findings: list[Finding], level: float) -> list[Finding]:
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
        adjusted = holm([_drop(findings[place]) for place in places])
        for place, p in zip(places, adjusted, strict=True):
            if p is not None and p < level:
                found[place] = _decided(findings[place], Decision.REGRESSION)
    return found


def _drop(finding: Finding) -> float | None:
    """The one-sided p-value of a drop of no more than the margin."""
    difference, margin = finding.difference, finding.margin
    if difference is None or margin is None:
        return None
    if difference.error is None or difference.value is None:
        return None
    return beyond(-(difference.value + margin), difference.error, _degrees(difference))


def _degrees(difference: Difference) -> int:
    return max(1, difference.clusters - 1)


def _decided(finding: Finding, decision: Decision) -> Finding:
    return Finding(finding.check, finding.figure, decision, finding.difference, finding.margin)


def _open(finding: Finding, reason: str) -> Finding:
    return Finding(
        finding.check,
        finding.figure,
        Decision.INCONCLUSIVE,
        finding.difference,
        finding.margin,
        reason,
    )


def _decision(findings: list[Finding], *, something_missing: bool) -> Decision:
    stopping = [finding for finding in findings if finding.check.tier is not Tier.ADVISORY]
    if any(finding.decision is Decision.REGRESSION for finding in stopping):
        return Decision.REGRESSION
    critical = [finding for finding in findings if finding.check.tier is Tier.CRITICAL]
    if something_missing or not critical:
        return Decision.INCONCLUSIVE
    if all(finding.decision is Decision.PASSED for finding in critical):
        return Decision.PASSED
    return Decision.INCONCLUSIVE
