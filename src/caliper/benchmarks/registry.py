"""The registry of benchmarks: the folders of this package, and plugins.

A folder declares its `BENCHMARK` in `benchmark.py`. Another package adds a benchmark through an
entry point in the group `caliper.benchmarks`, named like the benchmark and pointing to its
declaration. Templates (`prompts/`) and questions with known answers (`anchors.yaml`,
`canary.yaml`) are next to the declaring module.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules

import caliper.benchmarks
from caliper.benchmarks.base import Setting
from caliper.benchmarks.benchmark import Benchmark
from caliper.core.errors import InvalidInput, UnknownName

BUILT_IN = {
    module.name: f"{caliper.benchmarks.__name__}.{module.name}"
    for module in iter_modules(caliper.benchmarks.__path__)
    if module.ispkg
}
"""The packages of the built-in benchmarks by name: the folders beside this module."""
INTERNAL = {"building": "caliper.building.asking"}
"""The packages of benchmarks that other commands run: nobody evaluates on them."""
_GROUP = "caliper.benchmarks"


def benchmark_names() -> tuple[str, ...]:
    """Return all benchmark names, built-in ones first.

    Raises InvalidInput for an invalid plugin name or a name claimed by two packages.
    """
    return (*BUILT_IN, *_plugins())


def all_names() -> tuple[str, ...]:
    """Return the names of all benchmarks, internal ones last. Raises like `benchmark_names`."""
    return (*benchmark_names(), *INTERNAL)


def recipe_names() -> tuple[str, ...]:
    """Return the names of the recipes of all benchmarks."""
    return tuple(
        sorted({recipe for name in benchmark_names() for recipe in benchmark(name).recipes})
    )


@cache
def benchmark(name: str) -> Benchmark:
    """Return the benchmark of that name, imported on first use.

    A plugin gets an additional setting, its package's name and version, so that runs with
    different versions of its rules and prompts are different runs.

    Raises UnknownName with the known names, and InvalidInput naming the package of a benchmark
    that cannot be used.
    """
    package = BUILT_IN.get(name) or INTERNAL.get(name)
    if package is not None:
        own: Benchmark = import_module(f"{package}.benchmark").BENCHMARK
        return own
    if name not in _plugins():
        raise UnknownName("benchmark", name, benchmark_names())
    point = _plugins()[name]
    try:
        declaration = point.load()
    except Exception as error:  # a foreign module may raise anything
        raise _unusable(point, f"it cannot be imported: {error!r}") from error
    if not isinstance(declaration, Benchmark) or declaration.name != name:
        raise _unusable(point, f"{point.value} is no Benchmark of that name")
    origin = Setting(
        "package", _package(point), "the package that the benchmark is from", (_package(point),)
    )
    return replace(declaration, settings=(*declaration.settings, origin))


def resources(name: str) -> str:
    """Return the package that holds a benchmark's templates and other files.

    Raises whatever `benchmark` raises, and InvalidInput for a plugin that is not in a package.
    """
    if name in BUILT_IN or name in INTERNAL:
        return BUILT_IN.get(name) or INTERNAL[name]
    benchmark(name)
    point = _plugins()[name]
    package = import_module(point.module).__package__
    if not package:
        raise _unusable(point, f"{point.module} is a module; a package is needed")
    return package


@cache
def _plugins() -> Mapping[str, EntryPoint]:
    plugins: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=_GROUP), key=lambda point: point.name):
        if point.module.startswith("caliper.benchmarks."):
            continue
        if not re.fullmatch("[a-z][a-z0-9_]*", point.name):
            raise _unusable(point, "its name may have small letters, digits and _")
        if point.name in plugins or point.name in (*BUILT_IN, *INTERNAL):
            other = _package(plugins[point.name]) if point.name in plugins else "Caliper"
            raise _unusable(point, f"{other} has one of the same name")
        plugins[point.name] = point
    return plugins


def _unusable(point: EntryPoint, problem: str) -> InvalidInput:
    return InvalidInput(
        f"the benchmark {point.name!r} of the package {_package(point)} cannot be used: {problem}"
    )


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value
