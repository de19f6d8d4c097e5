"""Ends the run of a checkpoint once its comparison with the baseline is sure."""

from __future__ import annotations

from asyncio import to_thread
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from types import MappingProxyType
from typing import Any

from caliper.analysis.comparability import incomparable, setup_differences
from caliper.analysis.gate import Check, Policy, Tier
from caliper.analysis.sequential import (
    Finding,
    Look,
    Measure,
    SequentialComparison,
    StopCheck,
    StopTarget,
)
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput, NotFound
from caliper.core.keys import digest
from caliper.core.report import Figure
from caliper.core.run import RunSpec
from caliper.pipeline.aggregation.drawn_blocks import decide_again
from caliper.pipeline.aggregation.known_questions import (
    RuleScores,
    caption_questions,
    draw_blocks,
    highest_coverage,
    known_scores,
    settled,
    supplied,
)
from caliper.pipeline.comparing.figure_strata import stratum_weights
from caliper.pipeline.comparing.gate_decision import coverage_gap
from caliper.pipeline.ledger.declaration import empty_report
from caliper.pipeline.ledger.report import tallies
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.ledger.runs import StoredRun
from caliper.pipeline.ledger.stop_criterion import StopCriterion, read_criterion
from caliper.pipeline.reports.report_files import captions_of_run, stored_texts
from caliper.pipeline.store.plan import Captions
from caliper.pipeline.store.runs import read_spec
from caliper.pipeline.store.share import caption_seed
from caliper.ports.models import Answerer
from caliper.ports.storage import ObjectStore

_MEASURES = {
    "f1": Measure.F1,
    "precision": Measure.PRECISION,
    "recall": Measure.RECALL,
    "score": Measure.MEAN,
}
_POINTS = 100.0
NO_CAPTIONS: Captions = MappingProxyType({})


@dataclass(slots=True)
class ComparisonRule:
    """ports.stages.StopRule: sure once every check is decided, or one has regressed."""

    comparison: SequentialComparison
    blocks: Sequence[Sequence[int]]
    last: Look | None = None

    def is_sure(self, outcomes: Mapping[int, float | None], blocks_done: int) -> bool:
        self.last = self.comparison.look(outcomes, blocks_done)
        return self.last.finding is not Finding.UNDECIDED

    def is_drawn(self, index: int) -> bool:
        return self.comparison.is_drawn(index)


@dataclass(frozen=True, slots=True)
class SequentialPlan:
    """How a checkpoint is compared with its baseline while it is judged.

    `policy` has the checks, None for a drop of `margin` points in every headline. `repeats` is
    another judging of some of the baseline's questions, which shows the noise of the judge. The
    verdicts of `rules` on the captions narrow the bound. `alarm_level` is the level of a
    regression, where it is not `level`; `similar` is as in StopTarget.
    """

    base: StoredRun
    policy: Policy | None
    margin: float | None
    level: float
    repeats: StoredRun | None = None
    rules: Answerer | None = None
    alarm_level: float | None = None
    similar: bool = False
    _rule_scores: RuleScores = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    async def stored(
        cls, criterion: StopCriterion, store: ObjectStore, rules: Answerer
    ) -> SequentialPlan:
        """The plan of a criterion, over the runs in a store. It is without rules where `rules` are
        not those of the criterion, since another release began the run.

        Raises NotFound if one of the runs is not there, and what `read_spec` raises.
        """
        captions_of = partial(stored_captions, store)
        own = criterion.rules == rules.identity.revision

        async def find(run: str) -> StoredRun:
            spec = await read_spec(store, run)
            if spec is None:
                raise NotFound(f"no run {run}")
            return StoredRun(spec, store, captions_of)

        repeats = await find(criterion.repeats) if criterion.repeats else None
        base = await find(criterion.base)
        return cls(
            base,
            criterion.policy,
            criterion.margin,
            criterion.level,
            repeats,
            rules if own else None,
            criterion.alarm_level,
            criterion.similar,
        )

    @property
    def criterion(self) -> StopCriterion:
        """The plan as it is stored."""
        repeats = "" if self.repeats is None else self.repeats.spec.run_id
        rules = self.rules.identity.revision if self.rules is not None else ""
        more = self.margin, self.level, repeats, rules, self.alarm_level, self.similar
        return StopCriterion(self.base.spec.run_id, self.policy, *more)

    @property
    def digest(self) -> str:
        """The digest that a spec has of it."""
        return self.criterion.digest

    def is_comparable(self, spec: RunSpec) -> bool:
        """Whether a run differs from the baseline in its checkpoint only."""
        reports = map(empty_report, (self.base.spec, spec))
        return not incomparable(setup_differences(*reports))

    async def rule_of(self, run: RunLedger, captions: Captions = NO_CAPTIONS) -> ComparisonRule:
        """The rule for a planned run; `captions` are the candidate's, before anything is drawn.

        Raises InvalidInput for a figure that cannot be decided, and what `StoredRun.open` raises.
        """
        base = await self.base.open()
        questions = await caption_questions(run)
        texts = await self.base.captions(base), settled(run.spec, captions, questions)
        again = None if self.repeats is None else await self.repeats.open()
        rules = self.rules, self._rule_scores
        known = await known_scores((run, base, again), questions, texts, rules)
        blocks = draw_blocks(questions, known.reused, _seed(run.spec))
        scored = (one.unit for one in questions if known.baseline[one.unit.index] is not None)
        sizes = Counter(unit.stratum for unit in scored)
        checks = [check async for check in self._checks(base, sizes)]
        margin = (self.margin or 0.0) / _POINTS
        target = StopTarget(margin, self.level, tuple(checks), self.similar, self.alarm_level)
        try:
            units = [each.unit for each in questions]
            # In a thread, since it takes a second for ten thousand questions.
            comparison = await to_thread(SequentialComparison, units, blocks, target, known)
        except ValueError as error:
            raise InvalidInput(str(error), field="judging") from error
        return ComparisonRule(comparison, blocks)

    async def _checks(self, base: RunLedger, sizes: Mapping[str, int]) -> Any:
        totals = await tallies(base.spec, base.plan, base.ledger)
        for part in base.spec.benchmarks:
            tally = totals[part.name]
            layout = benchmark(part.name).report(tally, part.settings)
            headline = Check(part.name, ".".join(layout.headline), max_drop=self.margin)
            checks = (headline,) if self.policy is None else self.policy.checks
            for check in checks:
                if check.benchmark == part.name and check.tier is not Tier.ADVISORY:
                    for figure in _matching(check, layout.figures):
                        sums = {cell: tally.total(cell) for cell in figure.cells}
                        weights = stratum_weights(part.name, figure, sizes, layout, tally)
                        yield _stop_check(check, figure, weights, figure.statistic(sums))

    async def look(self, run: RunLedger, captions: Captions = NO_CAPTIONS) -> Look:
        """The last look at a run that has ended. Takes and raises what `rule_of` does."""
        rule = await self.rule_of(run, captions)
        if not await decide_again(run, rule):
            # Where the last of the captions came late, it was drawn without them.
            await decide_again(run, rule := await self.rule_of(run))
        if rule.last is None:
            raise InvalidInput("there is nothing to compare", field="judging")
        base = await self.base.open()
        # What lacks its caption counts, whether it was drawn or not: the draw may have missed it.
        highest = await highest_coverage(run, captions)
        gap = coverage_gap(self.policy, base, run, highest)
        return replace(rule.last, reason=rule.last.reason or gap)


async def stored_rule(store: ObjectStore, rules: Answerer, run: RunLedger) -> ComparisonRule:
    """The rule for a planned run by the criterion beside its spec.

    Raises what `read_criterion`, `SequentialPlan.stored` and `SequentialPlan.rule_of` raise.
    """
    criterion = await read_criterion(run.store, run.spec)
    plan = await SequentialPlan.stored(criterion, store, rules)
    return await plan.rule_of(run, await supplied_captions(store, run))


async def supplied_captions(store: ObjectStore, run: RunLedger) -> Captions:
    """The captions that a run in a store was given. Raises what `stored_texts` raises."""
    return supplied(run.spec, await stored_captions(store, run))


async def stored_captions(store: ObjectStore, run: RunLedger) -> Captions:
    """The captions of a run in a store, as far as they exist. Raises what `stored_texts` raises."""
    return await captions_of_run(partial(stored_texts, store), run)


def _matching(check: Check, figures: Sequence[Figure]) -> Iterator[Figure]:
    matches = [each for each in figures if fnmatchcase(".".join(each.path), check.figure)]
    if not matches:
        raise InvalidInput(f"no figure {check.figure}", field=check.benchmark)
    yield from matches


def _stop_check(
    check: Check, figure: Figure, weights: Mapping[str, float], value: float | None
) -> StopCheck:
    name = ".".join(figure.path)
    measure = _MEASURES.get(figure.path[-1])
    if measure is None or not weights:
        message = f"{name}: only {', '.join(_MEASURES)} of whole tasks or domains can be judged in"
        raise InvalidInput(f"{message} sequence", field=check.benchmark)
    margin = check.margin(value) / _POINTS
    return StopCheck(f"{check.benchmark} {name}", weights, measure, margin)


def _seed(spec: RunSpec) -> bytes:
    """Of the captions of both runs: no order is known before they are."""
    seeds = [caption_seed(part, spec.seed) for part in spec.benchmarks]
    return bytes.fromhex(digest([spec.judging, seeds]))
