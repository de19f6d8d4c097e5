"""Evaluates the checkpoints of suites in this process, with the engine of local runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from caliper.adapters.hosts.template import FIELDS, fill
from caliper.adapters.stores.directory import DirectoryStore
from caliper.analysis.sequential import Look
from caliper.benchmarks.registry import benchmark
from caliper.core.checkpoints import CheckpointEntry, CheckpointRevision
from caliper.core.entry_states import EntryCause
from caliper.core.errors import CaliperError, InvalidInput, LeaseLost, StoreUnavailable
from caliper.core.run import RunState
from caliper.core.spending import Spending
from caliper.core.suites import Suite
from caliper.local.baseline_runs import config_again, config_whole
from caliper.local.claim_watcher import ClaimWatcher
from caliper.local.config import RunConfig, check_config
from caliper.local.directory import DEFAULT_ROOT, RunDirectory
from caliper.local.exports import export_directory
from caliper.local.run import RunResult, evaluate, run_directory
from caliper.local.run_costs import check_prices
from caliper.local.run_removal import remove_run
from caliper.local.serve_config import ENDPOINT_FIELDS, suite_serving
from caliper.local.setup import RunSetup, prepare
from caliper.local.sources import is_gone
from caliper.local.suite_config import suite_run
from caliper.local.suite_decisions import (
    EvaluatedRun,
    decide,
    decide_by_look,
    judged_in_full,
    sequential_plan,
)
from caliper.pipeline.aggregation.known_questions import is_deterministic
from caliper.pipeline.aggregation.sequential import SequentialPlan
from caliper.pipeline.comparing.comparison import Comparison, compare_runs
from caliper.pipeline.comparing.gate_decision import GATE_REQUEST
from caliper.pipeline.suites.accounts import SuiteAccounts
from caliper.pipeline.suites.baselines import BaselineChoice
from caliper.pipeline.suites.claims import EntryClaim
from caliper.pipeline.suites.evaluation import EntryResult
from caliper.pipeline.suites.kept_runs import kept_runs
from caliper.pipeline.suites.registry import StoredEntry, SuiteRegistry
from caliper.pipeline.suites.slots import ServingSlot
from caliper.ports.clock import Clock
from caliper.ports.serving import CheckpointEndpoint
from caliper.ports.watcher import Watcher
from caliper.wiring.endpoint_tokens import EndpointPlace, endpoint_places
from caliper.wiring.hosts import HostRoom
from caliper.wiring.prices import read_prices, spending
from caliper.wiring.settings import access, decoders

LossOf = Callable[[CheckpointRevision], Awaitable[str]]


def suite_store() -> DirectoryStore:
    """The registry of this folder, beside its runs."""
    return DirectoryStore(DEFAULT_ROOT / ".suites")


def check_tokens(suite: Suite) -> None:
    """Raise InvalidInput if an endpoint of the suite would not get its token: every checkpoint
    would fail. Pods have no address yet.
    """
    tokens, fields = access(0).tokens, dict.fromkeys((*FIELDS, *ENDPOINT_FIELDS), "x")
    plan = suite_serving(suite.values)
    if plan is not None and plan.pod is None:
        target = plan.endpoint or (plan.triton or "").rpartition("/")[0] or plan.url
        fields["endpoint"] = fill(target, {**fields, "port": "1"})
    for spec in filter(None, check_config(suite.values["run"]).specs):
        places: tuple[EndpointPlace, ...] = ()
        with suppress(InvalidInput):
            places = endpoint_places(fill(spec, fields))
        for place in places:
            tokens.sendable(place, spec.partition(":")[0])


class LocalEvaluator:
    """pipeline.suites.evaluation.CheckpointEvaluator. `loss_of` says why a checkpoint that is
    not a path is gone; empty if it is not.
    """

    def __init__(self, watcher: Watcher, clock: Clock, loss_of: LossOf) -> None:
        self._watcher, self._clock, self._loss_of = watcher, clock, loss_of
        self._prices = read_prices()
        self.spent = Spending()

    async def evaluate(
        self, suite: Suite, claim: EntryClaim, baseline: BaselineChoice
    ) -> EntryResult:
        entry = claim.entry
        gone = await self._loss(entry)
        if gone:
            return EntryResult(EntryCause.LOSS, {"reason": gone})
        try:
            baseline = await self._whole(suite, claim, baseline)
            plan = await self._sequential_plan(suite, claim, baseline)
            result = await self._served_run(suite, claim, plan)
        except (LeaseLost, StoreUnavailable):
            raise
        except CaliperError:
            gone = await self._loss(entry)
            if not gone:
                raise
            return EntryResult(EntryCause.LOSS, {"reason": gone})
        spent = self.spent
        name, costs = result.directory.name, (spent.calls, spent.tokens, spent.money)
        run = EvaluatedRun(name, result.report, *costs)
        by_look = "judging" in result.report.spec and not result.report.partial
        if plan is not None and baseline.entry is not None and by_look:
            look = partial(_look, plan, result.directory)
            cause, decided = await decide_by_look(look, run, baseline.entry)
        else:
            cause, decided = await decide(suite, run, baseline, _compare)
        targets, warn = suite.values["run"].get("export", ()), self._watcher.on_warning
        await export_directory(result.directory, targets, warn, entry)
        return EntryResult(cause, run.fields | decided)

    async def _loss(self, entry: CheckpointEntry) -> str:
        checkpoint = entry.checkpoint
        return await asyncio.to_thread(is_gone, checkpoint) or await self._loss_of(checkpoint)

    async def _whole(
        self, suite: Suite, claim: EntryClaim, baseline: BaselineChoice
    ) -> BaselineChoice:
        """The baseline, judged in full: the questions that its run left out are asked first."""
        base = baseline.entry
        if "judging" not in suite.values or base is None:
            return baseline
        directory = RunDirectory(DEFAULT_ROOT / base.run)
        if (await directory.stored_run.open()).state is RunState.COMPLETE:
            return baseline
        result = await self._evaluate(suite, await config_whole(suite, directory), claim)
        registry = SuiteRegistry(suite_store(), self._clock)
        place = result.directory.relative_to(DEFAULT_ROOT)
        return await judged_in_full(registry, base, str(place), result.report)

    async def _sequential_plan(
        self, suite: Suite, claim: EntryClaim, baseline: BaselineChoice
    ) -> SequentialPlan | None:
        """How to stop early; None if the suite does not, or there is no baseline. Part of the
        baseline is judged again first.
        """
        if "judging" not in suite.values or baseline.entry is None:
            return None
        directory = RunDirectory(DEFAULT_ROOT / baseline.entry.run)
        base = directory.stored_run
        accounts = SuiteAccounts(suite_store(), self._clock, suite.name)
        number = await accounts.comparison_number(suite.version, claim.entry.checkpoint.revision)
        plan = sequential_plan(suite, base, number)
        if is_deterministic(base.spec):
            return plan
        config = await config_again(suite, directory, number)
        result = await self._evaluate(suite, config, claim)
        repeats = RunDirectory(result.directory).stored_run
        return replace(plan, repeats=repeats)

    async def _served_run(
        self, suite: Suite, claim: EntryClaim, sequential: SequentialPlan | None
    ) -> RunResult:
        plan, checkpoint = suite_serving(suite.values), claim.entry.checkpoint
        if plan is None:
            return await self._evaluate(suite, suite_run(suite, checkpoint), claim, sequential)
        warn, place = self._watcher.on_warning, plan.place
        room = HostRoom(access(0))
        server = room.server(plan.model_dump(), DEFAULT_ROOT / ".serving" / f"{place}.log")
        slot = ServingSlot(suite_store(), self._clock, place, room.clear, warn, plan.server_place)

        async def work(served: CheckpointEndpoint) -> RunResult:
            await claim.note_server()
            config = suite_run(suite, checkpoint, served)
            return await self._evaluate(suite, config, claim, sequential)

        label = f"{suite.name} {checkpoint.label}"
        return await slot.use(server, checkpoint, label, plan.use, work)

    async def _evaluate(
        self,
        suite: Suite,
        config: RunConfig,
        claim: EntryClaim,
        plan: SequentialPlan | None = None,
    ) -> RunResult:
        async with prepare(config, access(config.concurrency), self._clock) as setup:
            self._warn(setup, shares=config.share_replies)
            check_prices(suite, setup.spec, self._prices, "CALIPER_PRICES")
            run = setup
            if plan is not None and plan.is_comparable(setup.spec):
                spec = replace(setup.spec, judging=plan.digest)
                run = replace(setup, spec=spec, rule_of=plan.rule_of)
            if config.out is None:
                # The run of the checkpoint, not one beside its baseline's.
                await claim.note_run(run_directory(run).path.name)
            try:
                watcher = ClaimWatcher(self._watcher, claim)
                return await evaluate(run, watcher, self._clock, decoders())
            finally:
                self.spent += spending(setup.models.room.costs, self._prices)

    def _warn(self, setup: RunSetup, *, shares: bool) -> None:
        for part in setup.spec.benchmarks:
            model = part.models[benchmark(part.name).role]
            if not model.revision and not shares:
                self._watcher.on_warning(
                    f"{part.name}: {model.name} has no revision: its verdicts are not reused"
                )

    async def abandon(self, entry: CheckpointEntry) -> None:
        """Do nothing: a run of this process ends with its evaluation."""

    async def after(self, suite: Suite, entries: Sequence[CheckpointEntry]) -> None:
        """Remove the runs that neither this suite keeps nor another one uses."""
        # Only runs below our folder, whatever an entry says.
        outdated = {
            run
            for run in outdated_runs(suite, entries)
            if Path(run).name == run and (DEFAULT_ROOT / run / "run.yaml").is_file()
        }
        if not outdated:
            return
        registry = SuiteRegistry(suite_store(), self._clock)
        # Read again: an entry may have been tagged or retried since.
        present = list(entries)
        for place, each in enumerate(entries):
            if each.run in outdated:
                stored_entry = await registry.read(StoredEntry(each, None).key)
                present[place] = each if stored_entry is None else stored_entry.entry
        outdated &= set(outdated_runs(suite, present))
        for name in await registry.names():
            if name != suite.name:
                stored, _ = await registry.entries(name)
                outdated -= {each.entry.run for each in stored}
        for run in outdated:
            await remove_run(RunDirectory(DEFAULT_ROOT / run))


def outdated_runs(suite: Suite, entries: Sequence[CheckpointEntry]) -> list[str]:
    """The runs of all checkpoints that the suite does not keep."""
    if suite.keep is None:
        return []
    kept = kept_runs(suite, entries)
    return [each.run for each in entries if each.run and each.run not in kept]


async def _compare(base: str, run: str) -> Comparison:
    directories = (RunDirectory(DEFAULT_ROOT / name) for name in (base, run))
    return await compare_runs([each.stored_run for each in directories], GATE_REQUEST)


async def _look(plan: SequentialPlan, path: Path) -> Look:
    directory = RunDirectory(path)
    run = await directory.stored_run.open()
    return await plan.look(run, await directory.captions(run))
