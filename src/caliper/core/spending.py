"""The cost of evaluations: calls, tokens, and money in the currency of the prices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from caliper.core.keys import fields_of


@dataclass(frozen=True, slots=True)
class Spending:
    """Calls, tokens and money."""

    calls: int = 0
    tokens: int = 0
    money: float = 0.0

    def __add__(self, other: Spending) -> Spending:
        return Spending(
            self.calls + other.calls,
            self.tokens + other.tokens,
            round(self.money + other.money, 6),
        )

    def to_json(self) -> dict[str, float]:
        return fields_of(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Spending:
        """Read it; missing fields are 0. Raises ValueError, TypeError."""
        return cls(
            int(fields.get("calls", 0)),
            int(fields.get("tokens", 0)),
            float(fields.get("money", 0.0)),
        )


def mean_spending(spendings: Sequence[Spending]) -> Spending:
    """The mean, rounded up; zero for an empty sequence."""
    total, count = sum(spendings, Spending()), max(len(spendings), 1)
    return Spending(-(-total.calls // count), -(-total.tokens // count), total.money / count)


def describe_spending(kind: str, used: float, limit: float) -> str:
    """How much of a limit is used, for people."""
    return f"{_amount(kind, used)} of {_amount(kind, limit)} {kind}"


def describe_cost(cost: Mapping[str, float], kinds: Iterable[str]) -> str:
    """Some kinds of a cost, for people."""
    return ", ".join(f"{_amount(kind, cost[kind])} {kind}" for kind in kinds)


def _amount(kind: str, value: float) -> str:
    return f"{value:,.2f}" if kind == "money" else f"{value:,.0f}"
