"""Checks messages about runs before they are entered: their senders, and for verdicts whether the
plan has these questions and they can have these outcomes.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import blake2b
from typing import Any

from cachetools import LRUCache

from caliper.benchmarks.registry import benchmark
from caliper.core.messages import EventKind, RunEvent, Verdicts, event_key, kind_of
from caliper.core.outcome import Outcome, Reason, Scored, Verdict
from caliper.core.question import Item, Question, Source
from caliper.core.run import RunSpec
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.work.authentic_stream import (
    AGGREGATOR,
    CAPTIONER,
    GATEWAY,
    JUDGE,
    QA_READER,
    Misfit,
)
from caliper.ports.security_events import Refusal

_MOST_INDICES = 4_000_000
_EXAMINERS = {"judge": JUDGE, "reader": QA_READER}
_EVENT_SENDERS = {
    EventKind.PLAN: (GATEWAY,),
    EventKind.CANCEL: (GATEWAY,),
    EventKind.FAIL: (CAPTIONER, JUDGE, QA_READER),
    EventKind.END: (AGGREGATOR,),
}


def check_key(message: Verdicts, key: str) -> None:
    """Raises Misfit for verdicts that do not match their key, which determines the aggregator of
    the run.
    """
    if key != f"{message.run}/{message.benchmark}/{message.sample}":
        raise Misfit(Refusal.KEY, f"it is about run {message.run!r:.40}")


def check_event(event: RunEvent, key: str, sender: str) -> None:
    """Raises Misfit for an event that does not match its key, or that this sender may not send; an
    empty sender may send any.
    """
    if key != event_key(event):
        raise Misfit(Refusal.KEY, f"it is about {event_key(event)!r:.60}")
    kind = kind_of(event)
    if sender and sender not in _EVENT_SENDERS[kind]:
        raise Misfit(Refusal.SENDER, f"{sender} does not send events of kind {kind}")


@dataclass(frozen=True, slots=True)
class OutcomeRule:
    """The outcomes that a question may have: scores from `low` to `high`, given by `scorer`.

    A question planned as `unscored` has none. The captioner may report a missing caption for a
    `captioned` one.
    """

    scorer: str
    captioned: bool
    unscored: Reason | None
    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, spec: RunSpec, item: Item, question: Question[Any]) -> OutcomeRule:
        """The rule for a question in the plan of a run."""
        definition, sources = benchmark(item.benchmark), spec.benchmark(item.benchmark)
        captioned = item.source in sources.checkpoint_sources
        by_checkpoint = captioned and item.source is Source.MEDIA
        scorer = CAPTIONER if by_checkpoint else _EXAMINERS[definition.role]
        return cls(scorer, captioned, question.unscored, *definition.score_range(question))

    def admits(self, outcome: Outcome, *, in_blocks: bool) -> bool:
        """Whether the question may have the outcome. In a run judged `in_blocks`, any question may
        be undrawn.
        """
        if not isinstance(outcome, Scored):
            undrawn = outcome.reason is Reason.NOT_DRAWN
            return not undrawn or in_blocks or self.unscored is Reason.NOT_DRAWN
        return self.unscored is None and self.low <= outcome.score <= self.high

    def is_from(self, sender: str, outcome: Outcome) -> bool:
        """Whether the sender may give the outcome."""
        if sender in ("", self.scorer):
            return True
        if isinstance(outcome, Scored):
            return False
        return sender == AGGREGATOR or (sender == CAPTIONER and self.captioned)


@dataclass(slots=True)
class PlanTable:
    """A plan in 4 bytes per index and 16 per sample: the rule of each index, and the first index
    and a digest of each sample.
    """

    indices: array[int] = field(default_factory=lambda: array("I"))
    firsts: array[int] = field(default_factory=lambda: array("q"))
    digests: array[int] = field(default_factory=lambda: array("q"))
    rules: dict[OutcomeRule, int] = field(default_factory=dict)
    by_number: list[OutcomeRule] = field(default_factory=list)

    def add(self, spec: RunSpec, items: list[Item]) -> None:
        """Add the items of a shard, in plan order."""
        for item in items:
            digest = _digest(item.benchmark, item.sample)
            # All items of a sample are neighbours.
            if not self.digests or self.digests[-1] != digest:
                self.firsts.append(item.first)
                self.digests.append(digest)
            for question in item.questions:
                rule = OutcomeRule.of(spec, item, question)
                number = self.rules.setdefault(rule, len(self.rules))
                if number == len(self.by_number):
                    self.by_number.append(rule)
                self.indices.extend([number] * question.repeats)

    def checked_verdicts(self, message: Verdicts) -> Iterator[tuple[Verdict, OutcomeRule]]:
        """The verdicts of a message, each with its rule. Raises Misfit for an index outside the
        message's sample.
        """
        digest = _digest(message.benchmark, message.sample)
        for verdict in message.verdicts:
            index = verdict.index
            if not 0 <= index < len(self.indices) or digest != self._sample(index):
                raise Misfit(Refusal.PLAN, f"index {index} is not of its sample")
            yield verdict, self.by_number[self.indices[index]]

    def _sample(self, index: int) -> int:
        return self.digests[bisect_right(self.firsts, index) - 1]


class PlanCheck:
    """Checks verdicts against the plans of their runs. It keeps the tables used last, of at most
    four million indices.
    """

    def __init__(self, most: int = _MOST_INDICES) -> None:
        self._tables: LRUCache[str, PlanTable] = LRUCache(
            most, lambda table: min(len(table.indices), most)
        )

    async def check(self, run: RunLedger, message: Verdicts, sender: str) -> None:
        """Raises Misfit for verdicts that the run's plan does not have, or that this sender may not
        give; an empty sender may give any. Raises what reading the plan raises.
        """
        table, in_blocks = await self._table(run), bool(run.spec.judging)
        for verdict, rule in table.checked_verdicts(message):
            if not rule.admits(verdict.outcome, in_blocks=in_blocks):
                raise Misfit(Refusal.SCORE, f"index {verdict.index} cannot have its outcome")
            if not rule.is_from(sender, verdict.outcome):
                raise Misfit(Refusal.SENDER, f"{sender} does not judge index {verdict.index}")

    async def _table(self, run: RunLedger) -> PlanTable:
        table = self._tables.get(run.run)
        if table is None:
            table = PlanTable()
            async for items in run.plan():
                table.add(run.spec, items)
            self._tables[run.run] = table
        return table


def _digest(name: str, sample: str) -> int:
    text = f"{name}\0{sample}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big", signed=True)
