"""What a run may spend at most: calls, cut when it is planned, and tokens, cut as they are used.

What a cap leaves out is Unscored(budget), and the run is not complete. A later run of the same
spec with a higher cap, or none, goes on from there.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from itertools import takewhile

from caliper.benchmarks.registry import benchmark
from caliper.core.errors import BudgetSpent
from caliper.core.outcome import Evidence, Reason, Unscored, Verdict
from caliper.core.question import Item, Source
from caliper.core.run import RunSpec
from caliper.pipeline.aggregate import PlanReader
from caliper.pipeline.ledger import Ledger
from caliper.pipeline.publish import jobs

_NO_CALLS = ("lexical", "replay")


def _nobody(_: str) -> None:
    """Be told in vain."""


@dataclass(slots=True)
class Allowance:
    """The tokens of prompts and replies that a run may use, None for any number.

    `tell` is told, once a model, that its server counts none, so that no cap can hold; what was
    told stands in `warnings` by model.
    """

    tokens: int | None = None
    used: int = 0
    tell: Callable[[str], None] = _nobody
    warnings: dict[str, str] = field(default_factory=dict)

    def ask(self) -> None:
        """Be allowed one more call. Raises BudgetSpent.

        Calls in flight are not taken back, so that their tokens may pass the cap.
        """
        if self.tokens is not None and self.used >= self.tokens:
            raise BudgetSpent(f"{self.used:,} tokens are used, and {self.tokens:,} are allowed")

    def enter(self, tokens: int, model: str) -> None:
        """Enter what an answered call of a model used, as its server counts."""
        self.used += tokens
        if tokens or self.tokens is None or model in self.warnings:
            return
        self.warnings[model] = (
            f"the server of {model} counts no tokens: the cap of {self.tokens:,} (--max-tokens) "
            "cannot hold for its calls; cap them with --max-calls"
        )
        self.tell(self.warnings[model])


def calls_of(spec: RunSpec, items: tuple[Item, ...]) -> int:
    """How many calls a job takes at most, what is asked again left out: one a question and
    repeat that a chat model is asked, one a caption that has to be written.
    """
    part, source = spec.benchmark(items[0].benchmark), items[0].source
    role = benchmark(part.name).role if source is Source.CAPTION else "media"
    asked = part.models[role].kind not in _NO_CALLS
    written = source is Source.CAPTION and part.captions is None
    return asked * sum(item.size for item in items) + written


async def affordable(spec: RunSpec, plan: PlanReader, calls: int) -> int:
    """The dense index from which on nothing is asked, so that the jobs before it, in the plan's
    order, take no more than `calls`.
    """
    left, end = calls, 0
    async for items in plan():
        for job in jobs(items):
            left -= calls_of(spec, job)
            if left < 0:
                return end
            end = max(item.first + item.size for item in job)
    return end


def before(plan: PlanReader, end: int) -> PlanReader:
    """The plan up to that dense index."""

    async def read() -> AsyncIterator[list[Item]]:
        async for items in plan():
            kept = list(takewhile(lambda item: item.first < end, items))
            if kept:
                yield kept
            if len(kept) < len(items):
                return

    return read


async def leave_out(plan: PlanReader, end: int, ledger: Ledger, calls: int) -> None:
    """Enter Unscored(budget) for what is not known from that dense index on, and the reason of
    its own for what can never be asked. Raises StoreUnavailable or StoreFull.
    """
    told = f"no more than {calls:,} calls are allowed"
    async for items in plan():
        ledger.merge(
            [
                Verdict(
                    index,
                    Unscored(question.unscored or Reason.BUDGET),
                    Evidence(explanation=question.note if question.unscored else told),
                )
                for item in items
                for index, question, _ in item.positions()
                if index >= end and ledger.outcome(index) is None
            ]
        )
