"""A team's daily budget: checked before every call, charged after it, and shared by all processes
that work for the team. `pipeline.store.team_use` defines where it is stored.

Calls in flight count as calls, but not their tokens, and other processes' spending for unfinished
jobs is unknown. These can exceed a quota.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from caliper.core.errors import BudgetSpent
from caliper.core.quotas import DayQuota
from caliper.core.spending import Spending
from caliper.pipeline.store.team_quotas import day_of
from caliper.pipeline.store.team_use import spent_by_process, write_spent
from caliper.ports.clock import Clock
from caliper.ports.models import Usage
from caliper.ports.storage import ObjectStore

_DAYS = 2
"""The days in memory: today's, and the one before, which may not be published yet."""


@dataclass(eq=False)
class _Day:
    """This process's spending for a team on one day, its published part, and the known spending of
    others.
    """

    own: Spending = field(default_factory=Spending)
    published: Spending = field(default_factory=Spending)
    elsewhere: Spending = field(default_factory=Spending)


class TeamBudget:
    """The spending of one team, by day."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._days: dict[str, _Day] = {}
        self.in_flight = 0
        self.publish_lock = asyncio.Lock()

    def today(self) -> tuple[str, _Day]:
        """The present day, and its spending."""
        name = day_of(self._clock.now())
        day = self._days.setdefault(name, _Day())
        while len(self._days) > _DAYS:
            del self._days[min(self._days)]
        return name, day

    def unpublished(self) -> Mapping[str, _Day]:
        """The days with unpublished spending."""
        return {name: day for name, day in self._days.items() if day.own != day.published}

    def ask(self, quota: DayQuota) -> None:
        """Check that one more call is allowed. Raises BudgetSpent if not."""
        _, day = self.today()
        if name := quota.reached(day.own + day.elsewhere + Spending(self.in_flight, 0)):
            # Without numbers, so that the text in verdicts is the same in every process.
            limit = name.replace("_", " ")
            raise BudgetSpent(f"the quota of team {quota.team} on {limit} leaves no room for it")

    def enter(self, usage: Usage) -> None:
        """Charge an answered call."""
        _, day = self.today()
        day.own += Spending(1, usage.tokens)


class TeamBudgets:
    """The budgets of the teams that a process works for; `process` names it uniquely."""

    def __init__(self, store: ObjectStore, clock: Clock, process: str) -> None:
        self._store, self._clock, self._who = store, clock, process
        self._budgets: dict[str, TeamBudget] = {}

    async def of(self, team: str) -> TeamBudget:
        """The budget of a team, updated with other processes' published spending. Raises
        StoreUnavailable.
        """
        budget = self._budgets.setdefault(team, TeamBudget(self._clock))
        name, day = budget.today()
        spent = await spent_by_process(self._store, team, name)
        spent.pop(self._who, None)
        day.elsewhere = sum(spent.values(), Spending())
        return budget

    async def publish(self, team: str) -> None:
        """Publish this process's spending for a team. Raises StoreUnavailable or StoreFull."""
        budget = self._budgets.get(team)
        if budget is None:
            return
        async with budget.publish_lock:
            for name, day in budget.unpublished().items():
                spent = day.own
                await write_spent(self._store, team, name, self._who, spent)
                day.published = spent
