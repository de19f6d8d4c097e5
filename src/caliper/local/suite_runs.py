"""Evaluates the checkpoints of suites in this process, by the engine of local runs."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from caliper.adapters.models.cost import Cost
from caliper.adapters.phrases import state, stuffing_warnings
from caliper.adapters.stores.directory import DirectoryStore
from caliper.analysis.gate import Check, Decision, GateFinding, Policy
from caliper.analysis.sequential import spent_alpha
from caliper.analysis.significance import LEVEL
from caliper.benchmarks.registry import benchmark
from caliper.core.checkpoints import CheckpointEntry, EntryFigure
from caliper.core.entry_states import EntryCause
from caliper.core.errors import CaliperError, InvalidInput, LeaseLost, StoreUnavailable
from caliper.core.report import Report
from caliper.core.run import RunState
from caliper.core.spending import Spending
from caliper.core.suites import BaselineKind, Suite
from caliper.local.config import RunConfig
from caliper.local.directory import DEFAULT_ROOT, RunDirectory
from caliper.local.judged_again import config_again
from caliper.local.run import RunResult, evaluate
from caliper.local.serving_config import suite_serving
from caliper.local.setup import RunSetup, prepare
from caliper.local.sources import is_gone
from caliper.local.suite_config import suite_policy, suite_run
from caliper.pipeline.aggregation.known_questions import is_deterministic
from caliper.pipeline.aggregation.sequential import (
    SequentialPlan,
    decision_of,
    describe,
    finding_json,
)
from caliper.pipeline.comparing.comparison import Comparison, compare_runs
from caliper.pipeline.comparing.gating import GATE_REQUEST, gate_comparison
from caliper.pipeline.suites.accounts import SuiteAccounts, limits_of
from caliper.pipeline.suites.baselines import BaselineChoice, best_entry
from caliper.pipeline.suites.loop import EntryResult
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.pipeline.suites.slots import ServingSlot
from caliper.ports.clock import Clock
from caliper.ports.serving import CheckpointEndpoint
from caliper.ports.watcher import Watcher
from caliper.wiring.hosts import HostRoom
from caliper.wiring.models import ModelRoom
from caliper.wiring.prices import read_prices, spending, unpriced
from caliper.wiring.settings import access, decoders

_CAUSES = {
    Decision.PASSED: EntryCause.SUCCESS,
    Decision.REGRESSION: EntryCause.REGRESSION,
    Decision.INCONCLUSIVE: EntryCause.DOUBT,
}
Costs = Mapping[str, Cost]
"""What calls cost, by model."""


def suite_store() -> DirectoryStore:
    """The registry of this folder, beside its runs."""
    return DirectoryStore(DEFAULT_ROOT / ".suites")


class LocalEvaluator:
    """pipeline.suites.loop.CheckpointEvaluator."""

    def __init__(self, watcher: Watcher, clock: Clock) -> None:
        self._watcher, self._clock = watcher, clock
        self._prices = read_prices()
        self.spent = Spending()

    async def evaluate(
        self, suite: Suite, entry: CheckpointEntry, baseline: BaselineChoice
    ) -> EntryResult:
        gone = await asyncio.to_thread(is_gone, entry.checkpoint)
        if gone:
            return EntryResult(EntryCause.LOSS, {"reason": gone})
        try:
            plan, again = await self._sequential_plan(suite, entry, baseline)
            result = await self._served_run(suite, entry, plan)
        except (LeaseLost, StoreUnavailable):
            raise
        except CaliperError:
            gone = await asyncio.to_thread(is_gone, entry.checkpoint)
            if not gone:
                raise
            return EntryResult(EntryCause.LOSS, {"reason": gone})
        fields = _result_fields(result, again)
        by_look = "judging" in result.report.spec and not result.report.partial
        if plan is not None and baseline.entry is not None and by_look:
            cause, decided = await _decide_by_look(plan, result, baseline.entry)
        else:
            cause, decided = await _decide(suite, result, baseline)
        return EntryResult(cause, fields | {"money": self.spent.money} | decided)

    async def _sequential_plan(
        self, suite: Suite, entry: CheckpointEntry, baseline: BaselineChoice
    ) -> tuple[SequentialPlan | None, Costs]:
        """How to stop early, and what it cost to judge some of the baseline again; None if the
        suite does not, or there is nothing to compare with.
        """
        if "judging" not in suite.values or baseline.entry is None:
            return None, {}
        policy, margin = suite_policy(suite), suite.values["margin"]
        level = LEVEL if policy is None else policy.level
        alarm_level = None
        if "alarms" in suite.values:
            accounts = SuiteAccounts(suite_store(), self._clock, suite.name)
            revision = entry.checkpoint.revision
            number = await accounts.comparison_number(suite.version, revision)
            alarm_level = spent_alpha(level, number)
        directory, rules = RunDirectory(DEFAULT_ROOT / baseline.entry.run), ModelRoom.rules()
        base = directory.stored_run
        plan = SequentialPlan(base, policy, margin, level, None, rules, alarm_level)
        if is_deterministic(base.spec):
            return plan, {}
        result = await self._evaluate(suite, await config_again(suite, directory))
        repeats = RunDirectory(result.directory).stored_run
        return replace(plan, repeats=repeats), result.spent

    async def _served_run(
        self, suite: Suite, entry: CheckpointEntry, sequential: SequentialPlan | None
    ) -> RunResult:
        plan, checkpoint = suite_serving(suite.values), entry.checkpoint
        if plan is None:
            return await self._evaluate(suite, suite_run(suite, checkpoint), sequential)
        warn, place = self._watcher.on_warning, plan.place
        room = HostRoom(access(0))
        server = room.server(plan.model_dump(), DEFAULT_ROOT / ".serving" / f"{place}.log")
        slot = ServingSlot(suite_store(), self._clock, place, room.clear, warn)

        async def work(served: CheckpointEndpoint) -> RunResult:
            config = suite_run(suite, checkpoint, served)
            return await self._evaluate(suite, config, sequential)

        label = f"{suite.name} {checkpoint.label}"
        return await slot.use(server, checkpoint, label, plan.use, work)

    async def _evaluate(
        self, suite: Suite, config: RunConfig, plan: SequentialPlan | None = None
    ) -> RunResult:
        async with prepare(config, access(config.concurrency), self._clock) as setup:
            self._warn(setup, shares=config.share_replies)
            self._check_prices(suite, setup)
            alike = plan is not None and plan.is_comparable(setup.spec)
            run = _ended_by(setup, plan) if plan is not None and alike else setup
            try:
                return await evaluate(run, self._watcher, self._clock, decoders())
            finally:
                self.spent += spending(setup.models.room.costs, self._prices)

    def _check_prices(self, suite: Suite, setup: RunSetup) -> None:
        """Raise InvalidInput for a model without a price, where a budget is in money."""
        missing = unpriced(setup.models.room.costs, self._prices)
        if "money" in limits_of(suite) and missing:
            message = f"no price of {', '.join(missing)}: set CALIPER_PRICES"
            raise InvalidInput(message, field="budget.month.money")

    def _warn(self, setup: RunSetup, *, shares: bool) -> None:
        for part in setup.spec.benchmarks:
            model = part.models[benchmark(part.name).role]
            if not model.revision and not shares:
                self._watcher.on_warning(
                    f"{part.name}: {model.name} has no revision: no verdict of it is reused"
                )

    async def after(self, suite: Suite, entries: Sequence[CheckpointEntry]) -> None:
        """Remove the run directories that neither the suite keeps nor another one has."""
        outdated = set(outdated_runs(suite, entries))
        if not outdated:
            return
        registry = SuiteRegistry(suite_store(), self._clock)
        for name in await registry.names():
            if name != suite.name:
                stored, _ = await registry.entries(name)
                outdated -= {each.entry.run for each in stored}
        for run in outdated:
            # Only what is a run below our folder, whatever an entry says.
            if Path(run).name == run and (DEFAULT_ROOT / run / "run.yaml").is_file():
                await asyncio.to_thread(shutil.rmtree, DEFAULT_ROOT / run, ignore_errors=True)


def _ended_by(setup: RunSetup, plan: SequentialPlan) -> RunSetup:
    spec = replace(setup.spec, judging=plan.digest)
    rule_of = partial(plan.rule_of, captions=setup.supplies.captions)
    return replace(setup, spec=spec, rule_of=rule_of)


def outdated_runs(suite: Suite, entries: Sequence[CheckpointEntry]) -> list[str]:
    """The runs of all but the last checkpoints, and of those that stay or may become a baseline:
    the best one, tagged ones, the pinned one.
    """
    if suite.keep is None:
        return []
    ended = [each for each in entries if each.run and not each.is_open]
    kept = [*ended[-suite.keep :], *(each for each in ended if each.checkpoint.tags)]
    if complete := [each for each in ended if each.is_complete]:
        kept += [best_entry(complete), complete[-1]]
    if suite.baseline.kind is BaselineKind.PINNED:
        pin = suite.baseline.name
        kept += [each for each in ended if each.checkpoint.revision.startswith(pin)]
    runs = {each.run for each in kept}
    return [each.run for each in ended if each.run not in runs]


def _result_fields(result: RunResult, again: Costs) -> dict[str, Any]:
    costs = [*result.spent.values(), *again.values()]
    return {
        "run": result.directory.name,
        "is_complete": result.report.state == RunState.COMPLETE,
        **_counts(result.report),
        "figures": tuple(_figures(result.report)),
        "calls": sum(cost.calls for cost in costs),
        "tokens": sum(cost.prompt_tokens + cost.completion_tokens for cost in costs),
    }


def _counts(report: Report) -> dict[str, int]:
    coverages = [part.coverage for part in report.benchmarks]
    saved = sum(coverage.undrawn for coverage in coverages)
    reused = report.reuse.verdicts if report.reuse else 0
    asked = sum(coverage.planned for coverage in coverages) - saved - reused
    return {"asked": asked, "reused": reused, "saved": saved}


def _figures(report: Report) -> Iterator[EntryFigure]:
    for part in report.benchmarks:
        for path, estimate in part.estimates.items():
            if estimate.value is not None:
                bounds, name = (estimate.low, estimate.high), ".".join(path)
                is_headline = path == part.headline
                yield EntryFigure(part.name, name, estimate.value, *bounds, is_headline=is_headline)


async def _decide(
    suite: Suite, result: RunResult, baseline: BaselineChoice
) -> tuple[EntryCause, dict[str, Any]]:
    """Compare with the baseline and apply the gate. What cannot be compared is inconclusive."""
    policy, margin = suite_policy(suite), suite.values["margin"]
    base = baseline.entry
    if result.report.partial:
        return EntryCause.DOUBT, {"reason": state(result.report)}
    if baseline.missing:
        return EntryCause.DOUBT, {"reason": baseline.missing}
    if base is None or (policy is None and margin is None):
        return EntryCause.NO_GATE, {}
    against: dict[str, Any] = {"baseline": base.checkpoint.revision}
    directories = (RunDirectory(DEFAULT_ROOT / base.run), RunDirectory(result.directory))
    try:
        comparison = await compare_runs([each.stored_run for each in directories], GATE_REQUEST)
    except StoreUnavailable:
        raise
    except CaliperError as error:
        return EntryCause.DOUBT, {**against, "reason": str(error)}
    gated = gate_comparison(policy or _headline_policy(comparison, margin), comparison)
    decisive = [each for each in gated.findings if each.decision is gated.decision]
    reason = "" if gated.decision is Decision.PASSED else "; ".join(map(_describe, decisive))
    findings = tuple(map(_finding_json, gated.findings))
    return _CAUSES[gated.decision], {**against, "reason": reason, "findings": findings}


async def _decide_by_look(
    plan: SequentialPlan, result: RunResult, base: CheckpointEntry
) -> tuple[EntryCause, dict[str, Any]]:
    """The decision of the look that ended a run, or of the last one."""
    against: dict[str, Any] = {"baseline": base.checkpoint.revision}
    if warnings := stuffing_warnings(result.report):
        return EntryCause.DOUBT, {**against, "reason": "; ".join(warnings)}
    directory = RunDirectory(result.directory)
    run = await directory.stored_run.open()
    look = await plan.look(run, await directory.captions(run))
    counts = _counts(result.report)
    told = f"asked {counts['asked']:,} of {sum(counts.values()):,} questions"
    told += f", reused {counts['reused']:,}" if counts["reused"] else ""
    reason = "; ".join(filter(None, (describe(look), told)))
    findings = tuple(map(finding_json, look.checks))
    return _CAUSES[decision_of(look)], {**against, "reason": reason, "findings": findings}


def _headline_policy(comparison: Comparison, margin: float) -> Policy:
    (against,) = comparison.candidates
    headlines = ((part.name, ".".join(part.headline)) for part in against.parts)
    return Policy(tuple(Check(name, figure, max_drop=margin) for name, figure in headlines))


def _describe(finding: GateFinding) -> str:
    difference = finding.difference
    change = ""
    if difference is not None and difference.value is not None:
        change = f" {difference.value:+.2f}"
    why = f": {finding.reason}" if finding.reason else ""
    return f"{finding.check.benchmark} {finding.figure}{change}{why}"


def _finding_json(finding: GateFinding) -> dict[str, Any]:
    difference = finding.difference
    values = {} if difference is None else asdict(difference)
    shown = ("value", "low", "high", "paired")
    return {
        "benchmark": finding.check.benchmark,
        "figure": finding.figure,
        "tier": finding.check.tier,
        "decision": finding.decision,
        "margin": finding.margin,
        "reason": finding.reason,
        **{name: values.get(name) for name in shown},
    }
