"""Figures of runs that go on, reduced once for all who want them."""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

from caliper.core.report import Report
from caliper.pipeline.aggregate import figures
from caliper.pipeline.ledger import Ledger
from caliper.pipeline.tracked import TrackedRun


class Reductions:
    """The figures of runs as far as their ledgers go, but for what reports tell of captions.

    The sums of a large run take room: who reduces holds the `turn`.
    """

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self._held: WeakKeyDictionary[Ledger, tuple[int, Report]] = WeakKeyDictionary()

    def held(self, run: TrackedRun) -> tuple[int, Report] | None:
        """What was reduced last, and the changes of the ledger that it tells at least."""
        return self._held.get(run.ledger)

    async def figures(self, run: TrackedRun) -> tuple[int, Report]:
        """As `held`, of all that the ledger holds now. Raises InvalidInput when the plan is lost,
        StoreUnavailable.
        """
        held, changes = self.held(run), run.ledger.changes
        if held is None or held[0] != changes:
            held = changes, await figures(run.spec, run.summary, run.plan, run.ledger)
            self._held[run.ledger] = held
        return held
