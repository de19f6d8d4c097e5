"""The sinks that results are exported to, by name: NAME, or NAME:WHERE."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from caliper.adapters.packs.files import shipped_pack
from caliper.core.errors import UnknownName
from caliper.lazy import require
from caliper.plugins import PluginGroup, blame, no_function
from caliper.ports.sinks import Results, Sink

BUILT_IN = {
    "csv": "csv:CsvSink",
    "every_eval_ever": "every_eval_ever:EveryEvalEverSink",
    "hf": "hugging_face:HuggingFaceSink",
    "hf-pr": "hugging_face:HubPullRequestSink",
    "junit": "junit:JunitSink",
    "mlflow": "mlflow:MlflowSink",
    "otel": "otel:OtelSink",
    "tensorboard": "tensorboard:TensorboardSink",
    "wandb": "wandb:WandbSink",
}
"""The module and class of each sink, below `caliper.adapters.exports.sinks`."""
PATHS = frozenset({"csv", "every_eval_ever", "hf", "junit", "tensorboard"})
"""Sinks whose WHERE is a path."""
_WITH_PROMPTS = frozenset({"every_eval_ever"})
"""Sinks that report the judges' prompts."""


SINKS = PluginGroup[Callable[[str], Sink]]("sink", BUILT_IN, no_function)
"""Sinks of other packages: functions of WHERE."""


def sink_names() -> tuple[str, ...]:
    """The names of all sinks."""
    return (*BUILT_IN, *SINKS.names)


def put_results(results: Results, target: str) -> str:
    """Put results into the sink at NAME[:WHERE] and return the place. Imports the sink's module.

    Raises what `check_target` and the sink raise, and InvalidInput for an unusable WHERE.
    """
    check_target(target)
    name, _, where = target.partition(":")
    if name in BUILT_IN:
        return _built_in(name)(where).write(results)
    sink = SINKS.load(name)
    with blame(SINKS.label(name)):
        return str(sink(where).write(results))


def check_target(target: str) -> None:
    """Raise UnknownName for a sink that does not exist, InvalidInput for a built-in one whose
    name a package uses too.
    """
    name = target.partition(":")[0]
    if name not in sink_names():
        raise UnknownName("sink", name, sink_names())
    if name in BUILT_IN:
        SINKS.check_own(name)


def target_under(folder: Path, target: str) -> str:
    """The target; a WHERE that is a relative path is resolved against `folder`."""
    name, _, where = target.partition(":")
    # Options may follow; as part of a path, double slashes in their URLs would be merged.
    place, comma, options = where.partition(",")
    return f"{name}:{folder / place}{comma}{options}" if place and name in PATHS else target


def _built_in(name: str) -> Callable[[str], Sink]:
    module, _, attribute = BUILT_IN[name].partition(":")
    factory: Callable[..., Sink] = getattr(
        require(f"caliper.adapters.exports.sinks.{module}"), attribute
    )
    return partial(factory, pack=shipped_pack()) if name in _WITH_PROMPTS else factory
