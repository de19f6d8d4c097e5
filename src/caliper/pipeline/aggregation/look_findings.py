"""Forms of a look at a comparison: for a gate, for an entry of a suite, and for people."""

from __future__ import annotations

from typing import Any

from caliper.analysis.gate import Check, Decision, GateFinding, GateResult, Tier
from caliper.analysis.sequential import CheckLook, Finding, Look
from caliper.analysis.targets import FindingTarget

_POINTS = 100.0
_DECISIONS = {
    Finding.REGRESSED: Decision.REGRESSION,
    Finding.PASSED: Decision.PASSED,
    Finding.IMPROVED: Decision.PASSED,
    Finding.UNDECIDED: Decision.INCONCLUSIVE,
}


def finding_json(check: CheckLook) -> dict[str, Any]:
    """A check of a look as a finding of an entry, in points."""
    name, _, figure = check.name.partition(" ")
    return {
        "benchmark": name,
        "figure": figure,
        "tier": Tier.CRITICAL,
        "target": FindingTarget.of(check.similar),
        "decision": _DECISIONS[check.finding],
        "margin": check.margin * _POINTS,
        "reason": str(check.finding),
        "value": check.difference * _POINTS,
        "low": check.low * _POINTS,
        "high": check.high * _POINTS,
        "paired": check.drawn,
        "reused": check.reused,
        "needed_more": check.needed_more,
    }


def decision_of(look: Look) -> Decision:
    """A gate's decision after a look."""
    return Decision.INCONCLUSIVE if look.reason else _DECISIONS[look.finding]


def gate_result(look: Look) -> GateResult:
    """A look as the result of a gate."""
    findings = []
    for check in look.checks:
        name, _, figure = check.name.partition(" ")
        margin = check.margin * _POINTS
        gated = Check(name, figure, max_drop=margin)
        decision = Decision.INCONCLUSIVE if look.reason else _DECISIONS[check.finding]
        reason = look.reason or _detail(check)
        target = FindingTarget.of(check.similar)
        findings.append(GateFinding(gated, figure, decision, None, margin, reason, target=target))
    return GateResult(decision_of(look), tuple(findings))


def describe(look: Look) -> str:
    """Why a look does not pass; empty if it does."""
    if decision_of(look) is Decision.PASSED:
        return ""
    decisive = (check for check in look.checks if check.finding is look.finding)
    details = (
        f"{check.name} {_detail(check)}, for {FindingTarget.of(check.similar)}"
        for check in decisive
    )
    return "; ".join(filter(None, (look.reason, *details)))


def _detail(check: CheckLook) -> str:
    value, low, high = (_POINTS * each for each in (check.difference, check.low, check.high))
    text = f"{value:+.2f} ({low:+.2f} to {high:+.2f}) after {check.drawn:,} questions"
    if check.needed_more is not None:
        text += f"; about {check.needed_more:,} more would decide"
    return text
