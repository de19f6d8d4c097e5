"""Applies a gate's policy to a comparison."""

from __future__ import annotations

from collections.abc import Mapping

from caliper.analysis.gate import (
    Check,
    Decision,
    GateFinding,
    GateResult,
    GateSide,
    Policy,
    Tier,
    gate,
    unfit,
)
from caliper.analysis.targets import FindingTarget
from caliper.benchmarks.base import Better
from caliper.core.run import RunState
from caliper.pipeline.comparing.comparison import Against, Comparison, ComparisonRequest, Side
from caliper.pipeline.ledger.report import run_status
from caliper.pipeline.ledger.run_ledger import RunLedger

GATE_REQUEST = ComparisonRequest(partial=True, flips=0)
"""Incomplete runs are accepted: the gate then decides nothing instead of failing."""
_ROUNDING = 1e-9


def gate_comparison(policy: Policy, comparison: Comparison) -> GateResult:
    """The gate's result for the first candidate of a comparison."""
    against = comparison.candidates[0]
    differences = {part.name: part.figures for part in against.parts}
    base, candidate = (
        _gate_side(run, against, place) for place, run in enumerate((comparison.base, against.side))
    )
    return gate(policy, differences, base, candidate)


def _gate_side(run: Side, against: Against, place: int) -> GateSide:
    coverage = {name: coverage.share for name, coverage in run.coverage.items()}
    shares = {
        part.name: {".".join(path): each[place] for path, each in part.shares.items()}
        for part in against.parts
    }
    return GateSide(run.state is RunState.COMPLETE, coverage, run.stuffed, shares)


def coverage_gap(
    policy: Policy | None, base: RunLedger, candidate: RunLedger, highest: Mapping[str, float]
) -> str:
    """Why two ended runs cover too little for a policy, or without one for checks of all
    headlines; empty if they cover enough. `highest` is the most that the candidate can cover of
    each benchmark.
    """
    sides = [
        GateSide(
            complete=True,
            coverage={
                name: min(each.share, most.get(name, 1.0)) for name, each in coverages.items()
            },
        )
        for run, most in ((base, {}), (candidate, highest))
        for _, coverages in (run_status(run.spec, run.summary, run.ledger),)
    ]
    policy = policy or Policy(tuple(Check(name, "*") for name in sides[1].coverage))
    checks = (check for check in policy.checks if check.tier is not Tier.ADVISORY)
    return next(filter(None, (unfit(policy, check, *sides) for check in checks)), "")


def on_these(finding: GateFinding) -> Decision | None:
    """The decision for these very questions, but for the judge's noise, if all were judged."""
    difference, margin = finding.difference, finding.margin
    if difference is None or difference.value is None or margin is None:
        return None
    gain = difference.value * (1 if finding.better is Better.MORE else -1)
    return Decision.PASSED if gain + margin > -_ROUNDING else Decision.REGRESSION


def describe_target(finding: GateFinding) -> str:
    """What a finding is about; if all questions were judged, also the decision for these."""
    text, decision = f"for {finding.target}", on_these(finding)
    return text if decision is None else f"{text}; {decision} for {FindingTarget.THESE}"
