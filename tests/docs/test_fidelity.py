"""docs/fidelity.md tells every protocol setting, its values and its default as in the code.

docs/published.md names settings and values that there are.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from caliper.benchmarks.base import Setting
from caliper.benchmarks.registry import NAMES, benchmark
from caliper.benchmarks.settings import resolved_settings
from caliper.core.outcome import Reason
from caliper.core.preparation import Preparation

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "fidelity.md").read_text("utf-8")
ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \|", re.MULTILINE)


PUBLISHED = (ROOT / "docs" / "published.md").read_text("utf-8")
CODE = re.compile(r"`([^`]+)`")
PAIR = re.compile(r"(?<![\w-])([a-z_]+)=([\w.]+)")


def section(title: str, page: str = PAGE) -> str:
    return page.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


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


@pytest.mark.parametrize("name", NAMES)
def test_the_settings_behind_published_figures_exist(name: str) -> None:
    codes = " ".join(CODE.findall(section(benchmark(name).title, PUBLISHED)))
    pairs = PAIR.findall(codes)
    known = {setting.name for setting in benchmark(name).settings}
    assert {key for key, _ in pairs if key in known}
    for key, value in pairs:
        if key in known:
            resolved_settings(name, {key: value})
        else:
            Preparation.of({"frames": 8, key: value})
