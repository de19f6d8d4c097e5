"""Judges baselines through an installation's gateway."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from caliper.core.checkpoints import CheckpointEntry
from caliper.core.errors import NotFound
from caliper.core.run import REPORTED_STATES, RunState
from caliper.core.suites import Suite
from caliper.local.baseline_runs import in_full, share_again
from caliper.local.config import RunConfig
from caliper.local.installation_requests import benchmark_request
from caliper.local.patient_gateway import PatientGateway
from caliper.local.request import run_request
from caliper.local.run_costs import Pay, RunCosts
from caliper.local.suite_decisions import judged_in_full, sequential_plan, without_baseline
from caliper.pipeline.aggregation.known_questions import is_deterministic
from caliper.pipeline.aggregation.sequential import SequentialPlan, stored_captions
from caliper.pipeline.ledger.runs import StoredRun
from caliper.pipeline.planning.resolution import EvaluationRequest
from caliper.pipeline.store.owners import caption_owners, run_owners, share, suite_owners
from caliper.pipeline.store.run_record import Evaluation
from caliper.pipeline.suites.accounts import SuiteAccounts
from caliper.pipeline.suites.baselines import BaselineChoice
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.ports.storage import ObjectStore


@dataclass(frozen=True, slots=True)
class GatewayBaselines:
    """Judges baselines in full, and part of them again. `add` receives the cost, which the
    checkpoint that is compared with them pays.
    """

    gateway: PatientGateway
    store: ObjectStore
    costs: RunCosts
    add: Pay

    async def whole(
        self, suite: Suite, entry: CheckpointEntry, baseline: BaselineChoice
    ) -> BaselineChoice:
        """The baseline, judged in full: the questions that its run left out are asked first."""
        base = baseline.entry
        stored = None if "judging" not in suite.values else await self._run_of(base)
        if base is None or stored is None or stored[1] is RunState.COMPLETE:
            return baseline
        run = stored[0]
        ended = await self._over_captions(suite, entry, run, in_full(suite, run.spec))
        if ended.state not in REPORTED_STATES:
            return without_baseline(base, ended.error or f"its run was {ended.state}")
        whole = ended.spec.run_id
        registry = SuiteRegistry(self.store, self.gateway.clock)
        return await judged_in_full(registry, base, whole, await self.gateway.report(whole))

    async def plan(
        self, suite: Suite, entry: CheckpointEntry, baseline: BaselineChoice
    ) -> SequentialPlan | None:
        """How to stop early; None if the suite does not, or there is no baseline. Part of the
        baseline is judged again first.
        """
        stored = None if "judging" not in suite.values else await self._run_of(baseline.entry)
        if stored is None:
            return None
        base, _ = stored
        accounts = SuiteAccounts(self.store, self.gateway.clock, suite.name)
        number = await accounts.comparison_number(suite.version, entry.checkpoint.revision)
        plan = sequential_plan(suite, base, number)
        if is_deterministic(base.spec):
            return plan
        config = share_again(suite, base.spec, number)
        ended = await self._over_captions(suite, entry, base, config)
        if ended.state in REPORTED_STATES:
            return replace(plan, repeats=replace(base, spec=ended.spec))
        # The judge then counts as flipping half of its verdicts.
        run, name = ended.spec.run_id, base.spec.name
        self.gateway.warn(f"run {run}, which judges part of {name} again: {ended.state}")
        return plan

    async def _run_of(self, entry: CheckpointEntry | None) -> tuple[StoredRun, RunState] | None:
        """The run of an entry and its state; None if it was removed, as the comparison reports."""
        if entry is None:
            return None
        try:
            found = await self.gateway.call(lambda: self.gateway.gateway.get(entry.run))
        except NotFound:
            return None
        captions_of = partial(stored_captions, self.store)
        return StoredRun(found.spec, self.store, captions_of), found.state

    async def _over_captions(
        self, suite: Suite, entry: CheckpointEntry, base: StoredRun, config: RunConfig
    ) -> Evaluation:
        """The ended run of a configuration over the captions of a baseline."""
        supplied = {part.name: part.captions for part in base.spec.benchmarks}
        texts = await base.captions(await base.open()) if None in supplied.values() else {}
        parts = []
        for name in config.benchmarks:
            upload = partial(self.gateway.gateway.upload, name, texts.get(name, {}))
            digest = supplied[name] or await self.gateway.call(upload)
            parts.append(replace(benchmark_request(suite, config, name), captions=digest))
        request = await for_owners(self.store, suite, run_request(config, config.label, parts))
        start = partial(self.gateway.gateway.start, request)
        started, is_new = await self.gateway.call(start)
        run = started.spec.run_id
        await share(self.store, run_owners(run), suite_owners(suite.name))
        if is_new:
            await self.costs.begin_again(entry, run)
        self.costs.check(suite, started.spec)
        ended = await self.gateway.end(run)
        await self.costs.pay(ended, self.add)
        if is_new:
            await self.costs.end_again(entry)
        return ended


async def for_owners(
    store: ObjectStore, suite: Suite, request: EvaluationRequest
) -> EvaluationRequest:
    """The request on behalf of the suite's owners, who first become owners of its captions."""
    for part in request.benchmarks:
        if part.captions is not None:
            await share(store, caption_owners(part.captions), suite_owners(suite.name))
    return replace(request, suite=suite.name)
