"""The benchmarks by name. Adding one is adding a folder and a line here."""

from __future__ import annotations

import importlib

from caliper.benchmarks.base import Benchmark
from caliper.core.errors import UnknownName

_MODULES = {
    "capability": "caliper.benchmarks.capability.benchmark",
    "captionqa": "caliper.benchmarks.captionqa.benchmark",
    "comprecap": "caliper.benchmarks.comprecap.benchmark",
}
NAMES = tuple(_MODULES)


def recipe_names() -> tuple[str, ...]:
    """The recipes that any benchmark has."""
    return tuple(sorted({recipe for name in NAMES for recipe in benchmark(name).recipes}))


def benchmark(name: str) -> Benchmark:
    """The benchmark of that name, imported when first asked for.

    Raises UnknownName with the list of known ones.
    """
    if name not in _MODULES:
        raise UnknownName("benchmark", name, NAMES)
    found: Benchmark = importlib.import_module(_MODULES[name]).BENCHMARK
    return found
