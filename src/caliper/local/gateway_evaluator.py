"""Evaluates the checkpoints of suites through an installation's gateway."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from caliper.adapters.remote.gateway import RemoteGateway
from caliper.core.checkpoints import CheckpointEntry
from caliper.core.entry_states import EntryCause
from caliper.core.errors import BackendError, InvalidInput, NotComparable, NotFound
from caliper.core.run import RunState
from caliper.core.spending import Spending
from caliper.core.suites import Suite
from caliper.local.checkpoint_requests import CheckpointRequest, CheckpointRequests
from caliper.local.gateway_baselines import GatewayBaselines, for_owners
from caliper.local.installation_requests import check_installed
from caliper.local.patient_gateway import CANCELLATION_PATIENCE, PatientGateway
from caliper.local.run_costs import RunCosts
from caliper.local.suite_decisions import EvaluatedRun, decide, decide_by_look
from caliper.pipeline.aggregation.sequential import SequentialPlan
from caliper.pipeline.comparing.comparer import Comparer
from caliper.pipeline.comparing.comparison import Comparison
from caliper.pipeline.comparing.gate_decision import GATE_REQUEST
from caliper.pipeline.ledger.stop_criterion import read_criterion
from caliper.pipeline.store.owners import run_owners, share, suite_owners
from caliper.pipeline.store.run_record import Evaluation
from caliper.pipeline.store.runs import run_store
from caliper.pipeline.suites.baselines import BaselineChoice
from caliper.pipeline.suites.claims import EntryClaim
from caliper.pipeline.suites.evaluation import EntryResult
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore


@dataclass(slots=True)
class GatewayEvaluator:
    """pipeline.suites.evaluation.CheckpointEvaluator for runs in the gateway's store, which
    `comparer` reads too. `warn` receives outages.

    The store notes the run that was begun for an entry, so whatever ends a loop, the next one
    follows that run. Without the note, it begins the same run, as the id depends only on what is
    measured.
    """

    gateway: RemoteGateway
    store: ObjectStore
    comparer: Comparer
    requests: CheckpointRequests
    clock: Clock
    warn: Callable[[str], None]
    costs: RunCosts
    spent: Spending = field(default_factory=Spending)

    @property
    def _patient(self) -> PatientGateway:
        return PatientGateway(self.gateway, self.clock, self.warn)

    @property
    def _baselines(self) -> GatewayBaselines:
        return GatewayBaselines(self._patient, self.store, self.costs, self._add)

    async def evaluate(
        self, suite: Suite, claim: EntryClaim, baseline: BaselineChoice
    ) -> EntryResult:
        try:
            return await self._result(suite, claim, baseline)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            # A broken suite must not affect others.
            message = f"cannot be evaluated: {error!r:.200}"
            raise InvalidInput(message, file=f"suite {suite.name}") from error

    async def _result(
        self, suite: Suite, claim: EntryClaim, baseline: BaselineChoice
    ) -> EntryResult:
        entry = claim.entry
        run = await self._begun(suite, entry)
        if not run:
            check_installed(suite)
        baseline = await self._baselines.whole(suite, entry, baseline)
        if run and await self._has_other_base(run, baseline):
            # An earlier checkpoint came meanwhile: the run's looks were at another baseline.
            await self.abandon(entry)
            run = ""
        if not run:
            run = await self._new_run(suite, claim, baseline)
            if not run:
                reason = f"there are no captions at {entry.checkpoint.source}"
                return EntryResult(EntryCause.LOSS, {"reason": reason})
        await claim.note_run(run)
        ended = await self._patient.end(run, partial(_note_progress, claim))
        await self.costs.pay(ended, self._add)
        result = await self._conclusion(suite, ended, baseline)
        if shortfall := str((await self.costs.note(entry)).get("shortfall") or ""):
            reasons = filter(None, (shortfall, result.fields.get("reason")))
            result = replace(result, fields={**result.fields, "reason": "; ".join(reasons)})
        return result

    async def _conclusion(
        self, suite: Suite, ended: Evaluation, baseline: BaselineChoice
    ) -> EntryResult:
        """The result of an ended run."""
        run = ended.spec.run_id
        if ended.state is RunState.FAILED:
            return EntryResult(EntryCause.FAILURE, {"run": run, "reason": ended.error})
        if ended.state is RunState.CANCELLED:
            return EntryResult(EntryCause.DOUBT, {"run": run, "reason": f"run {run} was cancelled"})
        report = await self._patient.report(run)
        # report.json does not say which tasks an average lacks.
        lacking = {part.name: part.lacking for part in ended.benchmarks}
        parts = (replace(part, lacking=lacking.get(part.name, ())) for part in report.benchmarks)
        report, spent = replace(report, benchmarks=tuple(parts)), self.spent
        evaluated = EvaluatedRun(run, report, spent.calls, spent.tokens, spent.money)
        base = baseline.entry
        if base is not None and ended.spec.judging and not evaluated.report.partial:
            look = partial(self.gateway.look, base.run, run)
            cause, decided = await decide_by_look(lambda: self._patient.call(look), evaluated, base)
        else:
            cause, decided = await decide(suite, evaluated, baseline, self._compare)
        return EntryResult(cause, evaluated.fields | decided)

    async def abandon(self, entry: CheckpointEntry) -> None:
        """Cancel the run of an entry, to save further calls. Raises StoreUnavailable."""
        own = str((await self.costs.note(entry)).get("run") or "")
        run = own or str((await self.costs.last_note(entry)).get("again") or "")
        if not run:
            return
        try:
            await self._patient.call(lambda: self.gateway.cancel(run), CANCELLATION_PATIENCE)
            # Calls in flight are paid for, too.
            async with asyncio.timeout(CANCELLATION_PATIENCE):
                ended = await self._patient.end(run)
                await self.costs.pay(ended, self._add)
            if not own:
                await self.costs.end_again(entry)
        except NotFound:
            return
        except TimeoutError:
            self.warn(f"run {run} is still being cancelled: its cost is not in the account")
        except BackendError as error:
            self.warn(f"run {run} continues, as it could not be cancelled: {error}")

    async def after(self, suite: Suite, entries: Sequence[CheckpointEntry]) -> None:
        """Do nothing: the gateway removes old runs."""

    async def _begun(self, suite: Suite, entry: CheckpointEntry) -> str:
        """The run that an earlier loop began for this round of an entry; empty if none did."""
        run = str((await self.costs.note(entry)).get("run") or "")
        if not run:
            return ""
        try:
            begun = await self._patient.call(lambda: self.gateway.get(run))
        except NotFound:
            return ""
        self.costs.check(suite, begun.spec)
        return run

    async def _has_other_base(self, run: str, baseline: BaselineChoice) -> bool:
        """Whether a run ends by its comparison with another run than the baseline's."""
        spec = (await self._patient.call(lambda: self.gateway.get(run))).spec
        if not spec.judging or baseline.entry is None:
            return False
        criterion = await read_criterion(run_store(self.store, run), spec)
        return criterion.base != baseline.entry.run

    async def _new_run(self, suite: Suite, claim: EntryClaim, baseline: BaselineChoice) -> str:
        """Begin the run of an entry. Returns its id, empty if there are no captions."""
        entry = claim.entry
        if suite.values.get("serve"):
            # Before serving: this takes long and needs no server.
            plan = await self._baselines.plan(suite, entry, baseline)
            served = await self.requests.served(suite, claim, self._add)
            return await self._begin(suite, entry, served, plan)
        delivered = await self.requests.delivered(suite, entry.checkpoint)
        if delivered is None:
            return ""
        plan = await self._baselines.plan(suite, entry, baseline)
        return await self._begin(suite, entry, delivered, plan)

    def _add(self, cost: Spending) -> None:
        self.spent += cost

    async def _begin(
        self,
        suite: Suite,
        entry: CheckpointEntry,
        made: CheckpointRequest,
        plan: SequentialPlan | None,
    ) -> str:
        request = await for_owners(self.store, suite, made.request)
        judging = None if plan is None else plan.criterion
        sequential = replace(request, judging=judging)
        try:
            started, is_new = await self._patient.call(lambda: self.gateway.start(sequential))
        except NotComparable:
            # In full, so that the next checkpoint has a baseline.
            started, is_new = await self._patient.call(lambda: self.gateway.start(request))
        run = started.spec.run_id
        await share(self.store, run_owners(run), suite_owners(suite.name))
        if foreign := made.foreign(started.spec, entry.checkpoint):
            if is_new:
                await self.gateway.cancel(run)
            raise InvalidInput(foreign, field="captioner")
        if not is_new and (await self.costs.last_note(entry)).get("run") != run:
            # Perhaps another suite's: it continues, whether this suite can pay or not.
            self.costs.check(suite, started.spec)
        # First the note: if the run is refused, `abandon` cancels and pays for the noted run.
        await self.costs.begin(entry, run, made.shortfall)
        self.costs.check(suite, started.spec)
        return run

    async def _compare(self, base: str, run: str) -> Comparison:
        comparison, _ = await self.comparer.compare([base, run], GATE_REQUEST)
        return comparison


def _note_progress(claim: EntryClaim, update: Evaluation) -> None:
    coverages = [part.coverage for part in update.benchmarks]
    if coverages:
        claim.note_progress(
            sum(each.known for each in coverages), sum(each.planned for each in coverages)
        )
