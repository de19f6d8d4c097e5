"""Ends the run of a checkpoint once its comparison with the baseline is sure."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from caliper.analysis.comparability import incomparable, setup_differences
from caliper.analysis.gate import Check, Decision, GateFinding, GateResult, Policy, Tier
from caliper.analysis.sequential import (
    CheckLook,
    Finding,
    KnownScores,
    Look,
    Measure,
    SequentialComparison,
    StopCheck,
    StopTarget,
    Unit,
    draw_order,
)
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput, NotFound
from caliper.core.keys import digest
from caliper.core.question import Source
from caliper.core.report import Figure
from caliper.core.run import RunSpec
from caliper.pipeline.aggregation.drawn_blocks import decide_again, mean_score, question_spans
from caliper.pipeline.ledger.declaration import empty_report
from caliper.pipeline.ledger.report import id_of, tallies
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.ledger.runs import StoredRun
from caliper.pipeline.ledger.stop_criterion import StopCriterion, read_criterion
from caliper.pipeline.reports.report_files import captions_of_run, stored_texts
from caliper.pipeline.store.runs import read_spec, run_store
from caliper.pipeline.store.share import caption_seed
from caliper.ports.storage import ObjectStore

_MEASURES = {
    "f1": Measure.F1,
    "precision": Measure.PRECISION,
    "recall": Measure.RECALL,
    "score": Measure.MEAN,
}
_POINTS = 100.0
_WITHOUT_NOISE = ("lexical", "replay")
_DECISIONS = {
    Finding.REGRESSED: Decision.REGRESSION,
    Finding.PASSED: Decision.PASSED,
    Finding.IMPROVED: Decision.PASSED,
    Finding.UNDECIDED: Decision.INCONCLUSIVE,
}


@dataclass(slots=True)
class ComparisonRule:
    """ports.stages.StopRule: sure once every check is decided, or one has regressed."""

    comparison: SequentialComparison
    blocks: Sequence[Sequence[int]]
    last: Look | None = None

    def is_sure(self, outcomes: Mapping[int, float | None], blocks_done: int) -> bool:
        self.last = self.comparison.look(outcomes, blocks_done)
        return self.last.finding is not Finding.UNDECIDED


@dataclass(frozen=True, slots=True)
class SequentialPlan:
    """How a checkpoint is compared with its baseline while it is judged.

    `policy` has the checks, None for a drop of `margin` points in every headline. `repeats` is
    another judging of some of the baseline's questions, which shows the noise of the judge.
    """

    base: StoredRun
    policy: Policy | None
    margin: float | None
    level: float
    repeats: StoredRun | None = None

    @classmethod
    async def stored(cls, criterion: StopCriterion, store: ObjectStore) -> SequentialPlan:
        """The plan of a criterion, over the runs in a store.

        Raises NotFound if one of them is not there, and what `read_spec` raises.
        """
        captions_of = partial(captions_of_run, partial(stored_texts, store))

        async def find(run: str) -> StoredRun:
            spec = await read_spec(run_store(store, run))
            if spec is None:
                raise NotFound(f"no run {run}")
            return StoredRun(spec, store, captions_of)

        repeats = await find(criterion.repeats) if criterion.repeats else None
        base = await find(criterion.base)
        return cls(base, criterion.policy, criterion.margin, criterion.level, repeats)

    @property
    def criterion(self) -> StopCriterion:
        """The plan as it is stored."""
        repeats = "" if self.repeats is None else self.repeats.spec.run_id
        base = self.base.spec.run_id
        return StopCriterion(base, self.policy, self.margin, self.level, repeats)

    @property
    def digest(self) -> str:
        """The digest that a spec has of it."""
        return self.criterion.digest

    def is_comparable(self, spec: RunSpec) -> bool:
        """Whether a run differs from the baseline in its checkpoint only."""
        reports = map(empty_report, (self.base.spec, spec))
        return not incomparable(setup_differences(*reports))

    async def rule_of(self, run: RunLedger) -> ComparisonRule:
        """The rule for a planned run. Raises InvalidInput for a figure that cannot be decided, and
        what `StoredRun.open` raises.
        """
        base = await self.base.open()
        before = await _scores(base)
        again = {} if self.repeats is None else await _scores(await self.repeats.open())
        units, keys = await _units(run)
        blocks = draw_order(units, _seed(run.spec))
        known = KnownScores(
            {index: before.get(key) for index, key in keys.items()},
            repeats={index: again[key] for index, key in keys.items() if key in again},
            deterministic=is_deterministic(run.spec),
        )
        checks = [check async for check in self._checks(base)]
        target = StopTarget((self.margin or 0.0) / _POINTS, self.level, tuple(checks))
        try:
            # In a thread, since it takes a second for ten thousand questions.
            comparison = await to_thread(SequentialComparison, units, blocks, target, known)
        except ValueError as error:
            raise InvalidInput(str(error), field="judging") from error
        return ComparisonRule(comparison, blocks)

    async def _checks(self, base: RunLedger) -> Any:
        totals = await tallies(base.spec, base.plan, base.ledger)
        for part in base.spec.benchmarks:
            layout = benchmark(part.name).report(totals[part.name], part.settings)
            headline = Check(part.name, ".".join(layout.headline), max_drop=self.margin)
            checks = (headline,) if self.policy is None else self.policy.checks
            for check in checks:
                if check.benchmark == part.name and check.tier is not Tier.ADVISORY:
                    for figure in _matching(check, layout.figures):
                        sums = {cell: totals[part.name].total(cell) for cell in figure.cells}
                        yield _stop_check(check, figure, figure.statistic(sums))

    async def look(self, run: RunLedger) -> Look:
        """The last look at a run that has ended. Raises as `rule_of`."""
        rule = await self.rule_of(run)
        await decide_again(run, rule)
        if rule.last is None:
            raise InvalidInput("there is nothing to compare", field="judging")
        return rule.last


async def stored_rule(store: ObjectStore, run: RunLedger) -> ComparisonRule:
    """The rule for a planned run by the criterion beside its spec.

    Raises what `read_criterion`, `SequentialPlan.stored` and `SequentialPlan.rule_of` raise.
    """
    criterion = await read_criterion(run.store, run.spec)
    return await (await SequentialPlan.stored(criterion, store)).rule_of(run)


def is_deterministic(spec: RunSpec) -> bool:
    """Whether nobody but rules and recordings judges in a run."""
    models = (part.models[benchmark(part.name).role] for part in spec.benchmarks)
    return all(model.kind in _WITHOUT_NOISE for model in models)


def _matching(check: Check, figures: Sequence[Figure]) -> Iterator[Figure]:
    found = [each for each in figures if fnmatchcase(".".join(each.path), check.figure)]
    if not found:
        raise InvalidInput(f"no figure {check.figure}", field=check.benchmark)
    yield from found


def _stop_check(check: Check, figure: Figure, value: float | None) -> StopCheck:
    name = ".".join(figure.path)
    measure = _MEASURES.get(figure.path[-1])
    if measure is None:
        message = f"{name}: only {', '.join(_MEASURES)} can be judged in sequence"
        raise InvalidInput(message, field=check.benchmark)
    parts = figure.parts or (figure,)
    weights = figure.weights or (1.0,)
    margins = [] if check.max_drop is None else [check.max_drop]
    if check.max_relative_drop is not None and value is not None:
        margins.append(check.max_relative_drop * abs(value))
    return StopCheck(
        f"{check.benchmark} {name}",
        {
            f"{check.benchmark}/{part.dimension}": weight
            for part, weight in zip(parts, weights, strict=True)
        },
        measure,
        min(margins, default=0.0) / _POINTS,
    )


async def _units(run: RunLedger) -> tuple[list[Unit], dict[int, str]]:
    """The questions about captions that can be asked, and their names in every run."""
    units, keys = list[Unit](), dict[int, str]()
    async for items in run.plan():
        for item in items:
            if item.source is Source.MEDIA:
                continue
            part, group = run.spec.benchmark(item.benchmark), benchmark(item.benchmark).group(item)
            for question, span in question_spans(item):
                if question.unscored is None:
                    units.append(Unit(span.start, f"{item.benchmark}/{group}", item.cluster))
                    keys[span.start] = id_of(part, item, question)
    return units, keys


async def _scores(run: RunLedger) -> dict[str, float | None]:
    _, keys = await _units(run)
    spans: dict[int, range] = {}
    async for items in run.plan():
        spans |= {span.start: span for item in items for _, span in question_spans(item)}
    return {key: mean_score(run, spans[index]) for index, key in keys.items()}


def _seed(spec: RunSpec) -> bytes:
    """Of the captions of both runs: no order is known before they are."""
    seeds = [caption_seed(part, spec.seed) for part in spec.benchmarks]
    return bytes.fromhex(digest([spec.judging, seeds]))


def finding_json(check: CheckLook) -> dict[str, Any]:
    """A check of a look as a finding of an entry, in points."""
    name, _, figure = check.name.partition(" ")
    return {
        "benchmark": name,
        "figure": figure,
        "tier": Tier.CRITICAL,
        "decision": _DECISIONS[check.finding],
        "margin": check.margin * _POINTS,
        "reason": str(check.finding),
        "value": check.difference * _POINTS,
        "low": check.low * _POINTS,
        "high": check.high * _POINTS,
        "paired": check.drawn,
        "needed_more": check.needed_more,
    }


def decision_of(look: Look) -> Decision:
    """What a gate says after a look."""
    return Decision.INCONCLUSIVE if look.reason else _DECISIONS[look.finding]


def gate_result(look: Look) -> GateResult:
    """A look as the result of a gate."""
    findings = []
    for check in look.checks:
        name, _, figure = check.name.partition(" ")
        margin = check.margin * _POINTS
        gated = Check(name, figure, max_drop=margin)
        decision = Decision.INCONCLUSIVE if look.reason else _DECISIONS[check.finding]
        reason = look.reason or _told(check)
        findings.append(GateFinding(gated, figure, decision, margin=margin, reason=reason))
    return GateResult(decision_of(look), tuple(findings))


def describe(look: Look) -> str:
    """Why a look passes nothing; empty if it does."""
    if decision_of(look) is Decision.PASSED:
        return ""
    decisive = (check for check in look.checks if check.finding is look.finding)
    told = (f"{check.name} {_told(check)}" for check in decisive)
    return "; ".join(filter(None, (look.reason, *told)))


def _told(check: CheckLook) -> str:
    value, low, high = (_POINTS * each for each in (check.difference, check.low, check.high))
    text = f"{value:+.2f} ({low:+.2f} to {high:+.2f}) after {check.drawn:,} questions"
    if check.needed_more is not None:
        text += f"; about {check.needed_more:,} more would decide"
    return text
