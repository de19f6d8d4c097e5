"""What calls cost, by the prices in the settings."""

import pytest

from caliper.adapters.models.cost import Cost
from caliper.core.errors import InvalidInput
from caliper.core.spending import Spending
from caliper.wiring.prices import parse_prices, read_prices, spending, unpriced

LABEL = "owner/judge (tgi, 0123456789ab)"


def test_calls_cost_what_the_settings_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIPER_PRICES", "owner/judge=0.5/2, other=1/1")
    costs = {LABEL: Cost(calls=3, prompt_tokens=1_000_000, completion_tokens=100_000)}
    assert spending(costs, read_prices()) == Spending(3, 1_100_000, 0.7)
    assert not unpriced(costs, read_prices())
    assert unpriced([LABEL, "another (tgi, 1)"], {"owner/judge": (0.0, 0.0)}) == ["another"]
    monkeypatch.delenv("CALIPER_PRICES")
    assert spending(costs, read_prices()) == Spending(3, 1_100_000)


@pytest.mark.parametrize("text", ["judge", "judge=1", "=1/1", "judge=-1/1", "judge=1/x"])
def test_an_unusable_price_names_its_variable(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIPER_PRICES", text)
    with pytest.raises(InvalidInput, match="expected MODEL=PROMPT/COMPLETION") as caught:
        read_prices()
    assert caught.value.field == "CALIPER_PRICES"
    with pytest.raises(InvalidInput) as caught:
        parse_prices(text, "CALIPER_SUITES_PRICES")
    assert caught.value.field == "CALIPER_SUITES_PRICES"
