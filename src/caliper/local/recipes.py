"""Recipes: runs set to how known figures were made, and what cannot be set so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from caliper.benchmarks.registry import benchmark
from caliper.core.run import BenchmarkSpec, RunSpec

_WORKED = {
    "judge": "judged by",
    "reader": "read by",
    "tagger": "made with nouns from",
    "embedder": "made with similarities from",
}


def recipe_values(name: str, recipe: str, *, captioned: bool) -> dict[str, Any]:
    """The keys of a benchmark's configuration as the recipe has them, for a run whose captions a
    model writes (`captioned`) or that are supplied. Nothing where the benchmark lacks the recipe.
    """
    found = benchmark(name).recipes.get(recipe)
    settings = {setting.name for setting in benchmark(name).settings}
    values: dict[str, Any] = {}
    for one in () if found is None else found.ingredients:
        if one.needs not in ("", "captioner" if captioned else "captions"):
            continue
        group, _, key = one.key.rpartition(".")
        group = "set" if one.key in settings else group
        (values.setdefault(group, {}) if group else values)[key] = one.value
    return values


def recipe_gaps(spec: RunSpec, recipe: str) -> Iterator[str]:
    """A sentence for everything in which the run cannot follow the recipe."""
    for part in spec.benchmarks:
        title = benchmark(part.name).title
        for text in _gaps(part, recipe):
            yield f"{title}: {text}"


def _gaps(part: BenchmarkSpec, recipe: str) -> Iterator[str]:
    found = benchmark(part.name).recipes.get(recipe)
    if found is None:
        yield f"no recipe {recipe}"
        return
    for role, name in found.models.items():
        here = part.models[role]
        if name.casefold() not in here.name.casefold():
            worked = _WORKED[role]
            yield f"{recipe} figures were {worked} {name}; this run is {worked} {here.label}"
    source = "captions" if part.captions is not None else "captioner"
    for gap in found.gaps:
        if gap.needs in ("", source):
            yield gap.text
