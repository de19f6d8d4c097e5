"""Where results are exported to, by name: NAME, or NAME:WHERE."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from caliper.core.errors import UnknownName
from caliper.ports.sinks import Sink

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


def sink_names() -> tuple[str, ...]:
    """The names of all sinks."""
    return tuple(BUILT_IN)


def open_sink(target: str) -> Sink:
    """The sink at NAME[:WHERE], whose module is imported only now.

    Raises UnknownName, and InvalidInput for a WHERE that it cannot use.
    """
    name, _, where = target.partition(":")
    return _factory(name)(where)


def check_target(target: str) -> None:
    """Raise UnknownName for a sink that does not exist."""
    name = target.partition(":")[0]
    if name not in sink_names():
        raise UnknownName("sink", name, sink_names())


def target_under(folder: Path, target: str) -> str:
    """The target, with a WHERE that is a path taken from `folder`."""
    name, _, where = target.partition(":")
    return f"{name}:{folder / where}" if where and name in PATHS else target


def _factory(name: str) -> Callable[[str], Sink]:
    check_target(name)
    module, _, attribute = BUILT_IN[name].partition(":")
    factory: Callable[[str], Sink] = getattr(
        import_module(f"caliper.adapters.exports.sinks.{module}"), attribute
    )
    return factory
