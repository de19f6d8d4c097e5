"""Where results are exported to, by name: NAME, or NAME:WHERE."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from caliper.core.errors import UnknownName
from caliper.plugins import PluginGroup, blame, no_function
from caliper.ports.sinks import Results, Sink

BUILT_IN = {
    "csv": "csv:CsvSink",
    "junit": "junit:JunitSink",
    "mlflow": "mlflow:MlflowSink",
    "tensorboard": "tensorboard:TensorboardSink",
    "wandb": "wandb:WandbSink",
}
"""The module and class of each sink, below `caliper.adapters.exports.sinks`."""
PATHS = frozenset({"csv", "junit", "tensorboard"})
"""Those whose WHERE is a path."""


SINKS = PluginGroup[Callable[[str], Sink]]("sink", BUILT_IN, no_function)
"""Those of other packages: a function of WHERE."""


def sink_names() -> tuple[str, ...]:
    """The names of all sinks."""
    return (*BUILT_IN, *SINKS.names)


def put_results(results: Results, target: str) -> str:
    """Put results into the sink at NAME[:WHERE], whose module is imported only now. Returns the
    place.

    Raises what `check_target` and the sink raise, and InvalidInput for a WHERE that it cannot use.
    """
    check_target(target)
    name, _, where = target.partition(":")
    if name in BUILT_IN:
        return _built_in(name)(where).write(results)
    sink = SINKS.load(name)
    with blame(SINKS.label(name)):
        return str(sink(where).write(results))


def check_target(target: str) -> None:
    """Raise UnknownName for a sink that does not exist, and InvalidInput for one whose name a
    package has as well.
    """
    name = target.partition(":")[0]
    if name not in sink_names():
        raise UnknownName("sink", name, sink_names())
    if name in BUILT_IN:
        SINKS.check_own(name)


def target_under(folder: Path, target: str) -> str:
    """The target, with a WHERE that is a path taken from `folder`."""
    name, _, where = target.partition(":")
    return f"{name}:{folder / where}" if where and name in PATHS else target


def _built_in(name: str) -> Callable[[str], Sink]:
    module, _, attribute = BUILT_IN[name].partition(":")
    factory: Callable[[str], Sink] = getattr(
        import_module(f"caliper.adapters.exports.sinks.{module}"), attribute
    )
    return factory
