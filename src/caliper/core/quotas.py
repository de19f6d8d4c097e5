"""Quotas: how much of an installation a team may use, and how much it uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from caliper.core.errors import InvalidInput
from caliper.core.spending import Spending


@dataclass(frozen=True, slots=True)
class DayQuota:
    """The model `calls`, and `tokens` of prompts and replies, that a team may spend per day,
    in UTC; None means unlimited.
    """

    team: str
    calls: int | None = None
    tokens: int | None = None

    def reached(self, spent: Spending) -> str:
        """The name of the first limit reached; empty if none is."""
        for name, used, limit in (
            ("calls_a_day", spent.calls, self.calls),
            ("tokens_a_day", spent.tokens, self.tokens),
        ):
            if limit is not None and used >= limit:
                return name
        return ""

    @classmethod
    def from_json(cls, fields: Any) -> DayQuota:
        """Read the fields of a quota. Raises InvalidInput."""
        try:
            limits = (fields.get(name) for name in ("calls", "tokens"))
            return cls(str(fields["team"]), *(None if n is None else int(n) for n in limits))
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise InvalidInput(f"not the quota of a team: {error!r:.100}") from error


@dataclass(frozen=True, slots=True)
class TeamLimits:
    """The most that a team may use; None means unlimited. Days are in UTC."""

    runs_at_once: int | None = None
    calls_a_day: int | None = None
    tokens_a_day: int | None = None
    bytes_stored: int | None = None

    def by_name(self) -> dict[str, int]:
        """The limits that are set, by name."""
        limits = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: limit for name, limit in limits.items() if limit is not None}

    def day_quota(self, team: str) -> DayQuota | None:
        """The daily limits; None if there are none."""
        if self.calls_a_day is None and self.tokens_a_day is None:
            return None
        return DayQuota(team, self.calls_a_day, self.tokens_a_day)


NO_LIMITS = TeamLimits()


@dataclass(frozen=True, slots=True)
class QuotaTable:
    """The limits of named teams, and the `default` of all others."""

    teams: Mapping[str, TeamLimits] = field(default_factory=dict)
    default: TeamLimits = NO_LIMITS

    def of(self, team: str) -> TeamLimits:
        """The limits of a team."""
        return self.teams.get(team, self.default)


@dataclass(frozen=True, slots=True)
class QuotaUse:
    """How much a team has `used` of a `limit`, which has the name of a field of TeamLimits. `frees`
    says when more is available.
    """

    team: str
    name: str
    used: int
    limit: int
    frees: str

    def __str__(self) -> str:
        used = f"{self.used:,} of {self.limit:,} {self.name.replace('_', ' ')}"
        return f"the quota of team {self.team}: {used}; available again {self.frees}"
