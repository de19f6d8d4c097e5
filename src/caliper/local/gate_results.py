"""Gates a candidate by a policy: by the last look at a run that ended early, or by a comparison."""

from __future__ import annotations

from collections.abc import Sequence

from caliper.analysis.comparability import unique_names
from caliper.analysis.gate import GateResult, Policy
from caliper.core.errors import NotComparable
from caliper.core.run import RunSpec, RunState
from caliper.local.baseline_runs import plan_by_policy
from caliper.local.directory import find_run
from caliper.local.installation import open_gateway
from caliper.pipeline.aggregation.look_findings import gate_result
from caliper.pipeline.comparing.comparison import Comparison
from caliper.pipeline.comparing.gate_decision import gate_comparison

Gated = tuple[tuple[str, ...], GateResult]
"""The names of base and candidate, and the result."""


def compared_gate(comparison: Comparison, policy: Policy) -> Gated:
    """The result for the first candidate of a comparison."""
    return comparison.names, gate_comparison(policy, comparison)


async def decided_gate(runs: Sequence[str], server: str | None, policy: Policy) -> Gated | None:
    """The result for a candidate whose run ended early because the answer was sure; else None.

    `runs` are base and candidate. Raises what `find_run`, and on an installation the gateway raise.
    """
    before, after = runs
    if server is not None:
        return await _remote_look(before, after, server, policy)
    candidate = find_run(after)
    stored = candidate.stored_run
    if not stored.spec.judging:
        return None
    run = await stored.open()
    plan = plan_by_policy(find_run(before), candidate, policy)
    if run.state is not RunState.DECIDED or not plan.is_comparable(run.spec):
        return None
    look = await plan.look(run, await stored.captions(run))
    return _names(plan.base.spec, run.spec), gate_result(look)


async def _remote_look(before: str, after: str, server: str, policy: Policy) -> Gated | None:
    async with open_gateway(server) as gateway:
        candidate = await gateway.get(after)
        if candidate.state is not RunState.DECIDED:
            return None
        base = await gateway.get(before)
        try:
            look = await gateway.look(before, after, policy)
        except NotComparable:
            return None
    return _names(base.spec, candidate.spec), gate_result(look)


def _names(*specs: RunSpec) -> tuple[str, ...]:
    return unique_names([spec.name for spec in specs], [spec.run_id for spec in specs])
