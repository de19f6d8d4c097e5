"""Recipes: the settings behind published figures, and the gaps that settings cannot close."""

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
    """A benchmark's configuration by the recipe, for captions that a model writes (`captioned`) or
    supplied ones. Empty if the benchmark does not have the recipe.
    """
    definition = benchmark(name).recipes.get(recipe)
    settings = {setting.name for setting in benchmark(name).settings}
    values: dict[str, Any] = {}
    for ingredient in () if definition is None else definition.ingredients:
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
    definition = benchmark(part.name).recipes.get(recipe)
    if definition is None:
        yield f"no recipe {recipe}"
        return
    for role, name in definition.models.items():
        own = part.models[role]
        if name.casefold() not in own.name.casefold():
            verb = _VERBS[role]
            yield f"{recipe} figures were {verb} {name}; this run is {verb} {own.label}"
    source = "captions" if part.captions is not None else "captioner"
    for gap in definition.gaps:
        if gap.needs in ("", source):
            yield gap.text
