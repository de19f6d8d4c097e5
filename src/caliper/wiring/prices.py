"""The cost of calls in money, by the prices in the settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from caliper.adapters.models.cost import Cost
from caliper.core.errors import InvalidInput
from caliper.core.spending import Spending
from caliper.wiring.settings import ModelSettings, read_settings, variable

_TOKENS = 1_000_000
_PRICE = re.compile(r"(.+)=(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)", re.ASCII)
Prices = Mapping[str, tuple[float, float]]
"""The prices per million prompt tokens and per million completion tokens, by model."""


def read_prices() -> Prices:
    """The prices of the command line. Raises InvalidInput, and what `read_settings` raises."""
    return parse_prices(read_settings(ModelSettings).prices, variable(ModelSettings, "prices"))


def parse_prices(text: str, field: str) -> Prices:
    """The prices in a setting; `field` is its variable. Raises InvalidInput."""
    prices = {}
    for entry in filter(None, text.split(",")):
        match = _PRICE.fullmatch(entry.strip())
        if match is None:
            message = f"expected MODEL=PROMPT/COMPLETION, found {entry.strip()!r:.80}"
            raise InvalidInput(message, file="environment", field=field)
        prices[match[1]] = float(match[2]), float(match[3])
    return prices


def unpriced(models: Iterable[str], prices: Prices) -> list[str]:
    """The models without a price."""
    return sorted({name for name in map(_model, models) if name not in prices})


def spending(costs: Mapping[str, Cost], prices: Prices) -> Spending:
    """The total of calls' costs by identity label. Models without a price cost no money."""
    total = Spending()
    for label, cost in costs.items():
        prompt, completion = prices.get(_model(label), (0.0, 0.0))
        money = (cost.prompt_tokens * prompt + cost.completion_tokens * completion) / _TOKENS
        total += Spending(cost.calls, cost.prompt_tokens + cost.completion_tokens, money)
    return total


def _model(label: str) -> str:
    # A label is a name, and in brackets its kind and revision.
    return label.rsplit(" (", 1)[0]
