"""Decides on a checkpoint whose run has ended, wherever it was evaluated."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from caliper.adapters.caption_warnings import stuffing_warnings
from caliper.adapters.phrases import state
from caliper.analysis.gate import Check, Decision, GateFinding, Policy
from caliper.analysis.sequential import Look, spent_alpha
from caliper.analysis.significance import LEVEL
from caliper.benchmarks.registry import benchmark
from caliper.core.checkpoints import CheckpointEntry, EntryFigure, figures_of
from caliper.core.entry_states import EntryCause
from caliper.core.errors import BackendError, CaliperError, StoreUnavailable
from caliper.core.report import Report
from caliper.core.run import RunState
from caliper.core.suites import Suite
from caliper.local.suite_config import suite_policy
from caliper.pipeline.aggregation.look_findings import decision_of, describe, finding_json
from caliper.pipeline.aggregation.sequential import SequentialPlan
from caliper.pipeline.comparing.comparison import Comparison
from caliper.pipeline.comparing.gate_decision import describe_target, gate_comparison, on_these
from caliper.pipeline.ledger.runs import StoredRun
from caliper.pipeline.suites.baselines import BaselineChoice
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.wiring.models import ModelRoom

CAUSES = {
    Decision.PASSED: EntryCause.SUCCESS,
    Decision.REGRESSION: EntryCause.REGRESSION,
    Decision.INCONCLUSIVE: EntryCause.DOUBT,
}
RunComparison = Callable[[str, str], Awaitable[Comparison]]
"""Compares two runs, named as in entries, by the gate's request; the base comes first."""


@dataclass(frozen=True, slots=True)
class EvaluatedRun:
    """An ended run: its name in entries, its report, and its cost."""

    name: str
    report: Report
    calls: int = 0
    tokens: int = 0
    money: float = 0.0

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of questions that were asked, that reused replies of other runs, and that
        were not asked.
        """
        coverages = [part.coverage for part in self.report.benchmarks]
        saved = sum(coverage.undrawn for coverage in coverages)
        reused = self.report.reuse.verdicts if self.report.reuse else 0
        count = sum(coverage.planned for coverage in coverages) - saved - reused
        return {"asked": count, "reused": reused, "saved": saved}

    @property
    def fields(self) -> dict[str, Any]:
        """The run's fields in an entry."""
        return {
            "run": self.name,
            "is_complete": self.report.state == RunState.COMPLETE,
            "is_improved": False,
            **self.counts,
            "figures": tuple(figures_of(self.report)),
            "calls": self.calls,
            "tokens": self.tokens,
            "money": self.money,
        }


async def decide(
    suite: Suite, run: EvaluatedRun, baseline: BaselineChoice, compare: RunComparison
) -> tuple[EntryCause, dict[str, Any]]:
    """Compare with the baseline and apply the gate: the cause of the entry's next state, and more
    of its fields. Runs that cannot be compared are inconclusive. Raises StoreUnavailable,
    BackendError.
    """
    policy, margin = suite_policy(suite), suite.values["margin"]
    base = baseline.entry
    if run.report.partial:
        return EntryCause.DOUBT, {"reason": state(run.report)}
    if baseline.missing:
        return EntryCause.DOUBT, {"reason": baseline.missing}
    if base is None or (policy is None and margin is None):
        return EntryCause.NO_GATE, {}
    against: dict[str, Any] = {"baseline": base.checkpoint.revision}
    try:
        comparison = await compare(base.run, run.name)
    except (StoreUnavailable, BackendError):
        raise
    except CaliperError as error:
        return EntryCause.DOUBT, {**against, "reason": str(error)}
    gated = gate_comparison(policy or _headline_policy(comparison, margin), comparison)
    decisive = [each for each in gated.findings if each.decision is gated.decision]
    reason = "" if gated.decision is Decision.PASSED else "; ".join(map(_describe, decisive))
    findings = tuple(map(_finding_json, gated.findings))
    return CAUSES[gated.decision], {**against, "reason": reason, "findings": findings}


def sequential_plan(suite: Suite, base: StoredRun, number: int) -> SequentialPlan:
    """How the run of the checkpoint that is compared as the `number`th stops early, without
    repeated judgements of the baseline.
    """
    policy, margin = suite_policy(suite), suite.values["margin"]
    level = LEVEL if policy is None else policy.level
    alarm_level = spent_alpha(level, number) if "alarms" in suite.values else None
    similar, rules = suite.values.get("target") == "similar", ModelRoom.rules()
    return SequentialPlan(base, policy, margin, level, None, rules, alarm_level, similar)


async def decide_by_look(
    last_look: Callable[[], Awaitable[Look]], evaluated: EvaluatedRun, base: CheckpointEntry
) -> tuple[EntryCause, dict[str, Any]]:
    """The decision of the look that ended a run, or of the last look."""
    against: dict[str, Any] = {"baseline": base.checkpoint.revision}
    if warnings := stuffing_warnings(evaluated.report):
        return EntryCause.DOUBT, {**against, "reason": "; ".join(warnings)}
    look, counts = await last_look(), evaluated.counts
    effort = f"asked {counts['asked']:,} of {sum(counts.values()):,} questions"
    effort += f", reused {counts['reused']:,}" if counts["reused"] else ""
    reason = "; ".join(filter(None, (describe(look), effort)))
    findings, cause = tuple(map(finding_json, look.checks)), CAUSES[decision_of(look)]
    is_better = cause is EntryCause.SUCCESS and any(check.low > 0 for check in look.checks)
    found = {"reason": reason, "findings": findings, "is_improved": is_better}
    decided: dict[str, Any] = {**against, **found}
    if evaluated.report.state == RunState.DECIDED:
        decided["figures"] = tuple(_estimates(evaluated.report, look, base))
    return cause, decided


async def judged_in_full(
    registry: SuiteRegistry, base: CheckpointEntry, run: str, report: Report
) -> BaselineChoice:
    """The choice of a baseline of which another run judged the questions that its own left out, as
    its registry notes. There is none if that run is not complete. Raises StoreUnavailable.
    """
    if report.state != RunState.COMPLETE:
        return without_baseline(base, state(report))
    await registry.note_whole(base, tuple(figures_of(report)))
    return BaselineChoice(replace(base, run=run))


def without_baseline(base: CheckpointEntry, reason: str) -> BaselineChoice:
    """No choice, as the baseline could not be judged in full."""
    label = base.checkpoint.label
    return BaselineChoice(missing=f"the baseline {label} could not be judged in full: {reason}")


def _estimates(report: Report, look: Look, base: CheckpointEntry) -> Iterator[EntryFigure]:
    """The figures of a decided run. A check's is the baseline's plus the difference over all
    questions. Others are over the drawn ones, without those that pool groups of which different
    shares were drawn.
    """
    checks = {(each["benchmark"], each["figure"]): each for each in map(finding_json, look.checks)}
    settings = {part.name: part.settings for part in report.benchmarks}
    for figure in figures_of(report):
        definition, path = benchmark(figure.benchmark), tuple(figure.path.split("."))
        change = checks.get((figure.benchmark, figure.path))
        before = base.figure(figure.benchmark, figure.path)
        if change is not None and before is not None:
            least, most = definition.bounds_of(path)
            value, low, high = (
                min(most, max(least, before.value + change[name]))
                for name in ("value", "low", "high")
            )
            yield replace(figure, value=value, low=low, high=high)
        elif not definition.pools(path, settings[figure.benchmark]):
            yield figure


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
    return f"{finding.check.benchmark} {finding.figure}{change}{why}, {describe_target(finding)}"


def _finding_json(finding: GateFinding) -> dict[str, Any]:
    difference = finding.difference
    values = {} if difference is None else asdict(difference)
    names = ("value", "low", "high", "paired")
    return {
        "benchmark": finding.check.benchmark,
        "figure": finding.figure,
        "tier": finding.check.tier,
        "target": finding.target,
        "decision": finding.decision,
        "on_these": on_these(finding),
        "margin": finding.margin,
        "reason": finding.reason,
        **{name: values.get(name) for name in names},
    }
