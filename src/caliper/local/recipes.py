"""Recipes: the settings behind published figures, and their gaps, which settings cannot close."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from caliper.benchmarks.registry import benchmark
from caliper.core.run import BenchmarkSpec, RunSpec

_VERBS = {
    "judge": "judged by",
    "reader": "read by",
    "tagger": "made with nouns from",
    "embedder": "made with similarities from",
}


def recipe_values(name: str, recipe: str, *, captioned: bool) -> dict[str, Any]:
    """The configuration of a benchmark that the recipe prescribes, for captions that a model
    writes (`captioned`) or that are supplied. Empty if the benchmark does not have the recipe.
    """
    chosen = benchmark(name).recipes.get(recipe)
    settings = {setting.name for setting in benchmark(name).settings}
    values: dict[str, Any] = {}
    for ingredient in () if chosen is None else chosen.ingredients:
        if ingredient.needs not in ("", "captioner" if captioned else "captions"):
            continue
        group, _, key = ingredient.key.rpartition(".")
        group = "set" if ingredient.key in settings else group
        (values.setdefault(group, {}) if group else values)[key] = ingredient.value
    return values


def recipe_gaps(spec: RunSpec, recipe: str) -> Iterator[str]:
    """One sentence for each way in which the run cannot follow the recipe."""
    for part in spec.benchmarks:
        title = benchmark(part.name).title
        for text in _gaps(part, recipe):
            yield f"{title}: {text}"


def _gaps(part: BenchmarkSpec, recipe: str) -> Iterator[str]:
    chosen = benchmark(part.name).recipes.get(recipe)
    if chosen is None:
        yield f"no recipe {recipe}"
        return
    for role, name in chosen.models.items():
        own = part.models[role]
        if name.casefold() not in own.name.casefold():
            verb = _VERBS[role]
            yield f"{recipe} figures were {verb} {name}; this run is {verb} {own.label}"
    source = "captions" if part.captions is not None else "captioner"
    for gap in chosen.gaps:
        if gap.needs in ("", source):
            yield gap.text
