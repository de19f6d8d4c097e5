"""Checks the criterion that ends a run once its answer is sure, before the run starts."""

from __future__ import annotations

from math import isfinite

from caliper.analysis.comparability import check_comparable, setup_differences
from caliper.analysis.gate import Policy
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput, NotReady
from caliper.core.run import RunSpec, RunState
from caliper.pipeline.ledger.declaration import empty_report
from caliper.pipeline.ledger.stop_criterion import StopCriterion
from caliper.pipeline.planning.resolution import EvaluationRequest
from caliper.pipeline.store.owners import Ownership
from caliper.pipeline.store.run_record import read_record
from caliper.pipeline.store.runs import is_run_id, read_spec, run_store
from caliper.ports.storage import ObjectStore

_MOST_LEVEL = 0.5


async def check_baseline(
    criterion: StopCriterion, spec: RunSpec, store: ObjectStore, ownership: Ownership
) -> None:
    """Check the runs with which a run of this spec would be compared.

    Raises InvalidInput for runs that the caller cannot see, NotReady if the baseline was not judged
    in full, NotComparable, StoreUnavailable.
    """

    async def ended(run: str, field: str, *states: RunState) -> RunSpec:
        exists = is_run_id(run) and await ownership.permits_run(store, run)
        spec = await read_spec(store, run) if exists else None
        if spec is None:
            raise InvalidInput(f"no run {run!r:.40}", field=field)
        state = (await read_record(run_store(store, run), spec)).status().state
        if state not in states:
            raise NotReady(f"{field}: run {run} is {state}, not {states[0]}")
        return spec

    check_alike(await ended(criterion.base, "judging.base", RunState.COMPLETE), spec)
    if criterion.repeats:
        await ended(criterion.repeats, "judging.repeats", RunState.COMPLETE, RunState.FINISHED)


def check_alike(base: RunSpec, spec: RunSpec) -> None:
    """Raise NotComparable if two runs differ in more than their checkpoints."""
    check_comparable(setup_differences(empty_report(base), empty_report(spec)))


def check_policy(policy: Policy) -> None:
    """Raise InvalidInput for an invalid policy."""
    drops = {
        drop for each in policy.checks for drop in (each.max_drop, each.max_relative_drop) if drop
    }
    rules = {
        "it has no checks": not policy.checks,
        "a drop is not a number of at least 0": not all(map(_is_amount, drops)),
        "its level is not between 0 and 0.5": not 0 < policy.level < _MOST_LEVEL,
        "its coverage is not from 0 to 1": not 0 <= policy.min_coverage <= 1,
    }
    for message in (text for text, broken in rules.items() if broken):
        raise InvalidInput(message, field="policy")


def _is_amount(value: float) -> bool:
    return isfinite(value) and value >= 0


def check_criterion(request: EvaluationRequest, criterion: StopCriterion) -> None:
    """Raise InvalidInput for a request that cannot be judged in sequence."""
    whole = [each.name for each in request.benchmarks if not benchmark(each.name).is_divisible]
    rules = {
        "it needs a policy or a margin": criterion.policy is None and criterion.margin is None,
        "its margin is not a number of at least 0": not _is_amount(criterion.margin or 0.0),
        "its level is not between 0 and 0.5": not all(
            0 < level < _MOST_LEVEL
            for level in (criterion.level, criterion.alarm_level)
            if level is not None
        ),
        "not with a cap on calls, which cuts in another order": request.terms.calls is not None,
        "not with a judge share": request.judge_share is not None,
        f"not with {', '.join(whole)}, whose questions are judged together": bool(whole),
    }
    for message in (text for text, broken in rules.items() if broken):
        raise InvalidInput(message, field="judging")
    if criterion.policy is not None:
        check_policy(criterion.policy)
