"""docs/fidelity.md tells every protocol setting, its values and its default as in the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from caliper.benchmarks.base import Setting
from caliper.benchmarks.registry import NAMES, benchmark
from caliper.core.outcome import Reason

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "fidelity.md").read_text("utf-8")
ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \|", re.MULTILINE)


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def told(setting: Setting) -> str:
    """How the page writes the values of a setting: the default first and bold."""
    others = [choice for choice in setting.choices if choice != setting.default]
    return ", ".join([f"**`{setting.default}`**", *(f"`{choice}`" for choice in others)])


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_stands_in_the_table_of_its_benchmark(name: str) -> None:
    chosen = benchmark(name)
    rows = dict(ROW.findall(section(chosen.title)))
    for setting in chosen.settings:
        assert rows[setting.name].startswith(told(setting)), setting.name
        if setting.range is not None:
            assert f"{setting.range[1]:.10g}" in rows[setting.name]
    assert set(rows) - {"dynamic_object_number"} == {setting.name for setting in chosen.settings}


def test_reasons_are_named_as_the_code_names_them() -> None:
    for reason in re.findall(r"Unscored\((\w+)\)", PAGE):
        assert reason == "reason" or Reason(reason)
