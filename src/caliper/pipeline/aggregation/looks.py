"""Looks again at runs that end once their answer is sure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from caliper.analysis.gate import Policy
from caliper.core.errors import NotReady
from caliper.core.run import WHOLE_STATES
from caliper.lazy import lazy_module
from caliper.pipeline.gateway.stop_criteria import check_alike, check_policy
from caliper.pipeline.ledger.runs import Runs
from caliper.pipeline.ledger.stop_criterion import StopCriterion, read_criterion
from caliper.pipeline.store.run_book import RunBook
from caliper.pipeline.store.runs import run_store
from caliper.ports.models import Answerer
from caliper.ports.storage import ObjectStore

if TYPE_CHECKING:
    from caliper.analysis.sequential import Look
    from caliper.pipeline.aggregation import sequential
else:
    # It needs numpy, and few runs use it.
    sequential = lazy_module("caliper.pipeline.aggregation.sequential")


class Looks:
    """Finds the last looks at the runs of a store."""

    def __init__(self, store: ObjectStore, runs: RunBook, rules: Answerer) -> None:
        self._store, self._runs, self._rules = store, runs, rules

    async def last(self, base: str, run: str, policy: Policy | None = None) -> Look:
        """The last look at a run against a baseline, by the checks of a policy, or else by the
        run's own.

        Raises NotFound for an unknown run, NotReady for one that is not over or was not to end
        early, NotComparable, InvalidInput for a policy that cannot be decided, StoreUnavailable.
        """
        spec, before = await self._runs.spec(run), await self._runs.spec(base)
        ledger = await Runs(self._store).open(run, 0.0) if spec.judging else None
        if ledger is None or ledger.state not in WHOLE_STATES:
            raise NotReady(f"run {run} was not started to stop early, or has not ended yet")
        check_alike(before, spec)
        own = await read_criterion(run_store(self._store, run), spec)
        criterion = own
        if policy is not None:
            check_policy(policy)
            repeats = own.repeats if own.base == base else ""
            criterion = StopCriterion(base, policy, None, policy.level, repeats, own.rules)
        elif own.base != base:
            message = f"run {run} was compared with {own.base}: give a policy for {base}"
            raise NotReady(message)
        plan = await sequential.SequentialPlan.stored(criterion, self._store, self._rules)
        return await plan.look(ledger, await sequential.supplied_captions(self._store, ledger))
