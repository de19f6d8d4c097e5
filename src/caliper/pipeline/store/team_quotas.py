"""Quotas of teams: admits starts and pushes of their callers, and reports their use."""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta

from caliper.core.errors import BackendOverloaded
from caliper.core.quotas import DayQuota, QuotaTable, QuotaUse
from caliper.core.spending import Spending
from caliper.pipeline.store import team_use
from caliper.pipeline.store.owners import Ownership
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore

_RUNS, _CALLS, _TOKENS, _BYTES = "runs_at_once", "calls_a_day", "tokens_a_day", "bytes_stored"


_FRESH = 5.0
"""Seconds until other gateways' pushes for a team are listed again, as these may be many."""


@dataclass(eq=False)
class _StoredBytes:
    """The bytes that a team stores, valid `until` a time."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    size: int = 0
    until: float = -math.inf


class TeamQuotas:
    """The quotas of the present caller's team, by the limits in `table`. Only limited resources are
    counted.
    """

    def __init__(
        self,
        store: ObjectStore,
        clock: Clock,
        ownership: Ownership,
        table: Callable[[], QuotaTable] = QuotaTable,
    ) -> None:
        self._store, self._clock = store, clock
        self._ownership, self._table = ownership, table
        self._stored = defaultdict[str, _StoredBytes](_StoredBytes)

    async def admit_run(self, run: str) -> DayQuota | None:
        """Count a run that the caller starts, and return its team's daily quota.

        Raises BackendOverloaded if a limit is reached, StoreUnavailable.
        """
        team = self._ownership.team
        limits = self._table().of(team)
        quota = limits.day_quota(team)
        if quota is not None and (name := quota.reached(await self._spent(team))):
            raise self._refusal(await self._use(team, name))
        most = limits.runs_at_once
        now = self._clock.now()
        if most is not None and not await team_use.take_place(self._store, team, run, most, now):
            raise self._refusal(await self._use(team, _RUNS))
        return quota

    async def admit_bytes(self, digest: str, size: int) -> None:
        """Count the caller's push before it is stored. The same `digest` counts once.

        Raises BackendOverloaded if a limit is reached, StoreUnavailable or StoreFull.
        """
        team = self._ownership.team
        limit = self._table().of(team).bytes_stored
        if limit is None:
            return
        stored = self._stored[team]
        # One by one, so that two do not take the same room.
        async with stored.lock:
            if await team_use.is_stored(self._store, team, digest, size):
                return
            now = self._clock.monotonic()
            if now >= stored.until:
                stored.size = await team_use.stored_bytes(self._store, team)
                stored.until = now + _FRESH
            if stored.size + size > limit:
                use = QuotaUse(team, _BYTES, stored.size, limit, _FREES[_BYTES])
                raise BackendOverloaded(f"{use}; this needs {size:,}")
            await team_use.note_stored(self._store, team, digest, size)
            stored.size += size

    async def uses(self) -> list[QuotaUse]:
        """The use of each limit by the teams that the caller may see, by team. Raises
        StoreUnavailable.
        """
        table, teams = self._table(), {self._ownership.team}
        if self._ownership.is_admin:
            teams |= {*table.teams} | await team_use.teams_of(self._store, self._today)
        limits = [(team, name) for team in sorted(teams) for name in table.of(team).by_name()]
        return [await self._use(team, name) for team, name in limits]

    async def _use(self, team: str, name: str) -> QuotaUse:
        if name == _RUNS:
            used = await team_use.running_runs(self._store, team, self._clock.now())
        elif name == _BYTES:
            used = await team_use.stored_bytes(self._store, team)
        else:
            spent = await self._spent(team)
            used = spent.calls if name == _CALLS else spent.tokens
        frees = _FREES.get(name) or f"at {self._midnight.isoformat()}"
        return QuotaUse(team, name, used, self._table().of(team).by_name()[name], frees)

    def _refusal(self, use: QuotaUse) -> BackendOverloaded:
        left = (self._midnight - self._clock.now()).total_seconds()
        return BackendOverloaded(str(use), None if use.name in _FREES else left)

    async def _spent(self, team: str) -> Spending:
        spending = await team_use.spent_by_process(self._store, team, self._today)
        return sum(spending.values(), Spending())

    @property
    def _today(self) -> str:
        return day_of(self._clock.now())

    @property
    def _midnight(self) -> datetime:
        tomorrow = self._clock.now().astimezone(UTC).date() + timedelta(days=1)
        return datetime.combine(tomorrow, time(), UTC)


_FREES = {_RUNS: "when one of them ends", _BYTES: "when an administrator raises it"}


def day_of(now: datetime) -> str:
    """The day of quotas: the date in UTC."""
    return now.astimezone(UTC).date().isoformat()
