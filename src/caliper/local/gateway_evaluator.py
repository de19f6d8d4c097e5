"""Evaluates the checkpoints of suites through an installation's gateway."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from caliper.adapters.exports.report_reader import read_report
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.core.checkpoints import CheckpointEntry
from caliper.core.entry_states import EntryCause
from caliper.core.errors import BackendError, InvalidInput, NotComparable, NotFound
from caliper.core.report import Report
from caliper.core.run import REPORTED_STATES, RunState
from caliper.core.spending import Spending
from caliper.core.suites import Suite
from caliper.local.checkpoint_requests import CheckpointRequest, CheckpointRequests
from caliper.local.installation_requests import benchmark_request, check_installed
from caliper.local.judge_repeats import share_again
from caliper.local.patient_gateway import CANCELLATION_PATIENCE, PatientGateway
from caliper.local.request import run_request
from caliper.local.run_costs import RunCosts
from caliper.local.suite_decisions import EvaluatedRun, decide, decide_by_look, sequential_plan
from caliper.pipeline.aggregation.known_questions import is_deterministic
from caliper.pipeline.aggregation.sequential import SequentialPlan, stored_captions
from caliper.pipeline.comparing.comparer import Comparer
from caliper.pipeline.comparing.comparison import Comparison
from caliper.pipeline.comparing.gate_decision import GATE_REQUEST
from caliper.pipeline.ledger.runs import StoredRun
from caliper.pipeline.planning.resolution import EvaluationRequest
from caliper.pipeline.store.owners import caption_owners, run_owners, share, suite_owners
from caliper.pipeline.store.run_record import Evaluation
from caliper.pipeline.suites.accounts import SuiteAccounts
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
        evaluated = await self._evaluated(ended)
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

    async def _sequential_plan(
        self, suite: Suite, entry: CheckpointEntry, baseline: BaselineChoice
    ) -> SequentialPlan | None:
        """How to stop early; None if the suite does not, or there is no baseline. Part of the
        baseline is judged again first.
        """
        if "judging" not in suite.values or baseline.entry is None:
            return None
        run = baseline.entry.run
        try:
            evaluation = await self._patient.call(lambda: self.gateway.get(run))
        except NotFound:
            # Removed since: the comparison reports it.
            return None
        base = StoredRun(evaluation.spec, self.store, partial(stored_captions, self.store))
        accounts = SuiteAccounts(self.store, self.clock, suite.name)
        plan = await sequential_plan(suite, entry, base, accounts)
        if is_deterministic(base.spec):
            return plan
        return replace(plan, repeats=await self._repeats(suite, entry, base))

    async def _repeats(
        self, suite: Suite, entry: CheckpointEntry, base: StoredRun
    ) -> StoredRun | None:
        """A run that judges part of the baseline again. None if that fails: the judge then counts
        as flipping half of its verdicts.
        """
        texts, parts = await base.captions(await base.open()), []
        config = share_again(suite, base.spec)
        for name in config.benchmarks:
            upload = partial(self.gateway.upload, name, texts.get(name, {}))
            digest = await self._patient.call(upload)
            parts.append(replace(benchmark_request(suite, config, name), captions=digest))
        again_request = await self._for_owners(suite, run_request(config, config.label, parts))
        start = partial(self.gateway.start, again_request)
        started, is_new = await self._patient.call(start)
        again = started.spec.run_id
        await share(self.store, run_owners(again), suite_owners(suite.name))
        if is_new:
            await self.costs.begin_again(entry, again)
        self.costs.check(suite, started.spec)
        ended = await self._patient.end(again)
        await self.costs.pay(ended, self._add)
        if is_new:
            await self.costs.end_again(entry)
        if ended.state not in REPORTED_STATES:
            self.warn(f"run {again}, which judges part of {base.spec.name} again: {ended.state}")
            return None
        return replace(base, spec=ended.spec)

    async def _new_run(self, suite: Suite, claim: EntryClaim, baseline: BaselineChoice) -> str:
        """Begin the run of an entry. Returns its id, empty if there are no captions."""
        entry = claim.entry
        if suite.values.get("serve"):
            # Before serving: this takes long and needs no server.
            plan = await self._sequential_plan(suite, entry, baseline)
            served = await self.requests.served(suite, claim, self._add)
            return await self._begin(suite, entry, served, plan)
        delivered = await self.requests.delivered(suite, entry.checkpoint)
        if delivered is None:
            return ""
        plan = await self._sequential_plan(suite, entry, baseline)
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
        request = await self._for_owners(suite, made.request)
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

    async def _for_owners(self, suite: Suite, request: EvaluationRequest) -> EvaluationRequest:
        """The request on behalf of the suite's owners, who first become owners of its captions."""
        for part in request.benchmarks:
            if part.captions is not None:
                await share(self.store, caption_owners(part.captions), suite_owners(suite.name))
        return replace(request, suite=suite.name)

    async def _evaluated(self, ended: Evaluation) -> EvaluatedRun:
        run = ended.spec.run_id
        report = await self._report(run)
        # report.json does not say which tasks an average lacks.
        lacking = {part.name: part.lacking for part in ended.benchmarks}
        parts = (replace(part, lacking=lacking.get(part.name, ())) for part in report.benchmarks)
        report = replace(report, benchmarks=tuple(parts))
        return EvaluatedRun(run, report, self.spent.calls, self.spent.tokens, self.spent.money)

    async def _report(self, run: str) -> Report:
        data = await self._patient.call(lambda: self.gateway.report(run, partial=True))
        # In a thread: the report has all figures of all tasks.
        return await asyncio.to_thread(read_report, data.decode(), f"run {run}")

    async def _compare(self, base: str, run: str) -> Comparison:
        comparison, _ = await self.comparer.compare([base, run], GATE_REQUEST)
        return comparison


def _note_progress(claim: EntryClaim, update: Evaluation) -> None:
    coverages = [part.coverage for part in update.benchmarks]
    if coverages:
        claim.note_progress(
            sum(each.known for each in coverages), sum(each.planned for each in coverages)
        )
