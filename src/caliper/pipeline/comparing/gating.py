"""Applies a gate's policy to a comparison."""

from __future__ import annotations

from caliper.analysis.gate import GateResult, GateSide, Policy, gate
from caliper.core.run import RunState
from caliper.pipeline.comparing.comparison import Comparison, ComparisonRequest, Side

GATE_REQUEST = ComparisonRequest(partial=True, flips=0)
"""Incomplete runs are accepted: the gate then decides nothing instead of failing."""


def gate_comparison(policy: Policy, comparison: Comparison) -> GateResult:
    """The gate's result for the first candidate of a comparison."""
    against = comparison.candidates[0]
    differences = {part.name: part.figures for part in against.parts}
    return gate(policy, differences, _gate_side(comparison.base), _gate_side(against.side))


def _gate_side(run: Side) -> GateSide:
    coverage = {name: coverage.share for name, coverage in run.coverage.items()}
    return GateSide(run.state is RunState.COMPLETE, coverage, run.stuffed)
