"""docs/fidelity.md tells every protocol setting, its values and its default as in the code.

docs/published.md names settings and values that there are.
"""

from __future__ import annotations

import re

import pytest
from tests.fakes.sources import ROOT

from caliper.benchmarks.base import Setting
from caliper.benchmarks.registry import BUILT_IN, benchmark
from caliper.benchmarks.settings import resolve_settings
from caliper.core.outcome import Reason
from caliper.core.preparation import Preparation

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


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_setting_stands_in_the_table_of_its_benchmark(name: str) -> None:
    chosen = benchmark(name)
    rows = dict(ROW.findall(section(chosen.title)))
    for setting in chosen.settings:
        assert rows[setting.name].startswith(told(setting)), setting.name
        if setting.range is not None:
            assert f"{setting.range[1]:,.10g}" in rows[setting.name]
    assert set(rows) - {"dynamic_object_number"} == {setting.name for setting in chosen.settings}


def test_reasons_are_named_as_the_code_names_them() -> None:
    found = set(re.findall(r"Unscored\((\w+)\)", PAGE)) - {"reason"}
    assert found
    assert found <= {reason.value for reason in Reason}


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_settings_behind_published_figures_exist(name: str) -> None:
    codes = " ".join(CODE.findall(section(benchmark(name).title, PUBLISHED)))
    pairs = PAIR.findall(codes)
    known = {setting.name for setting in benchmark(name).settings}
    assert {key for key, _ in pairs if key in known}
    for key, value in pairs:
        if key in known:
            resolve_settings(name, {key: value})
        else:
            Preparation.of({"frames": 8, key: value})


FLAG = re.compile(r"--(prompt|repeats|caption-tokens) (\w+)")
PREPARED = re.compile(r"--preparation (\w+)=(\w+)")


def rows_of(name: str) -> list[tuple[str, str]]:
    """The cells "source" and "in Caliper" of what published figures were made with."""
    table = section(benchmark(name).title, PUBLISHED).split("\n| data |", 1)[1].split("\n\n", 1)[0]
    cells = (line.strip("|").split("|") for line in table.splitlines()[1:])
    return [(source.strip(), here.strip()) for *_, source, here in cells]


def values_in(name: str, here: str) -> set[tuple[str, str]]:
    """What a cell says to set, by the keys of recipes."""
    known = {setting.name for setting in benchmark(name).settings}
    found = {pair for code in CODE.findall(here) for pair in PAIR.findall(code) if pair[0] in known}
    for code in CODE.findall(here):
        found |= {(key.replace("-", "_"), value) for key, value in FLAG.findall(code)}
        found |= {(f"preparation.{key}", value) for key, value in PREPARED.findall(code)}
    return found


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_recipe_and_the_table_say_the_same(name: str) -> None:
    recipe = benchmark(name).recipes["published"]
    rows = rows_of(name)
    written = set().union(*(values_in(name, here) for _, here in rows))
    assert written == {(one.key, one.value) for one in recipe.ingredients}
    for one in recipe.ingredients:
        sources = [source for source, here in rows if (one.key, one.value) in values_in(name, here)]
        assert any(all(part in source for part in one.source.split("; ")) for source in sources), (
            one
        )
    told = section(benchmark(name).title, PUBLISHED).casefold()
    assert all(model.casefold() in told for model in recipe.models.values())
