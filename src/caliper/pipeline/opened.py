"""A run that is open for reading, wherever it is kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from caliper.core.plan import PlanSummary
from caliper.core.run import RunSpec, RunState
from caliper.core.tally import Tally
from caliper.pipeline.aggregate import tallies
from caliper.pipeline.ledger import Ledger
from caliper.pipeline.plan import Captions, PlanReader


@dataclass(frozen=True, slots=True)
class OpenRun:
    """`captions` reads the captions when they are asked for. `state` is how the run stands
    where that is known; None leaves it to the ledger.
    """

    spec: RunSpec
    summary: PlanSummary
    plan: PlanReader
    ledger: Ledger
    captions: Callable[[], Awaitable[Captions]]
    state: RunState | None = None

    async def tallies(self) -> dict[str, Tally]:
        """The tally of each benchmark. Raises InvalidInput when the plan is lost."""
        return await tallies(self.spec, self.plan, self.ledger)


@dataclass(frozen=True, slots=True)
class Opening:
    """A run that can be opened, and what is known of it before."""

    spec: RunSpec
    open: Callable[[], AbstractAsyncContextManager[OpenRun]]
