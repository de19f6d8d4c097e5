"""The registry of benchmarks: the folders of this package, and plug-ins.

A folder declares its `BENCHMARK` in `benchmark.py`. Another package adds a benchmark through an
entry point in the group `caliper.benchmarks`, named like the benchmark and pointing to its
declaration. Templates (`prompts/`) and questions with known answers (`anchors.yaml`,
`canary.yaml`) are next to the declaring module.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint
from pkgutil import iter_modules

import caliper.benchmarks
from caliper.benchmarks.base import Setting
from caliper.benchmarks.benchmark import Benchmark
from caliper.core.errors import InvalidInput, UnknownName
from caliper.plugins import PluginGroup

BUILT_IN = {
    module.name: f"{caliper.benchmarks.__name__}.{module.name}"
    for module in iter_modules(caliper.benchmarks.__path__)
    if module.ispkg
}
"""The packages of the built-in benchmarks by name: the folders beside this module."""
INTERNAL = {"building": "caliper.building.asking"}
"""The packages of benchmarks that other commands run; `evaluate` has none of them."""


def _problem(point: EntryPoint, declared: object) -> str:
    if not isinstance(declared, Benchmark) or declared.name != point.name:
        return f"{point.value} is not a Benchmark of that name"
    return "" if _package(point) else f"{point.module} is a module; a package is needed"


def _package(point: EntryPoint) -> str:
    return import_module(point.module).__package__ or ""


PLUGINS = PluginGroup[Benchmark]("benchmark", (*BUILT_IN, *INTERNAL), _problem)


def benchmark_names() -> tuple[str, ...]:
    """Return all benchmark names, built-in ones first, then those of plug-ins, usable or not."""
    return (*BUILT_IN, *PLUGINS.names)


def all_names() -> tuple[str, ...]:
    """Return the names of all benchmarks, internal ones last."""
    return (*benchmark_names(), *INTERNAL)


def usable_names() -> Iterator[str]:
    """The names of the benchmarks that can be used, for code about all of them: a broken plug-in
    then affects only commands that name it.
    """
    for name in benchmark_names():
        try:
            benchmark(name)
        except InvalidInput:
            continue
        yield name


def recipe_names() -> tuple[str, ...]:
    """Return the names of the recipes of all benchmarks."""
    return tuple(sorted({recipe for name in usable_names() for recipe in benchmark(name).recipes}))


@cache
def benchmark(name: str) -> Benchmark:
    """Return the benchmark of that name, imported on first use.

    A plug-in gets an additional setting, its package's name and version, so that runs with
    different versions of its rules and prompts are different runs.

    Raises UnknownName with the known names, and InvalidInput naming the package of a plug-in that
    cannot be used.
    """
    package = BUILT_IN.get(name) or INTERNAL.get(name)
    if package is not None:
        PLUGINS.check_own(name)
        own: Benchmark = import_module(f"{package}.benchmark").BENCHMARK
        return own
    if name not in PLUGINS.names:
        raise UnknownName("benchmark", name, benchmark_names())
    plugin, package = PLUGINS.load(name), PLUGINS.package(name)
    origin = Setting("package", package, choices=(package,))
    return replace(plugin, settings=(*plugin.settings, origin))


def resources(name: str) -> str:
    """Return the package that holds a benchmark's templates and other files.

    Raises whatever `benchmark` raises.
    """
    if name in BUILT_IN or name in INTERNAL:
        return BUILT_IN.get(name) or INTERNAL[name]
    benchmark(name)
    return _package(PLUGINS.point(name))
