"""Where results are exported to, by name: NAME, or NAME:WHERE."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

from caliper.adapters.packs.files import shipped_pack
from caliper.core.errors import UnknownName
from caliper.ports.sinks import Sink

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
"""Those whose WHERE is a path."""
_WITH_PROMPTS = frozenset({"every_eval_ever"})
"""Those that tell with which prompts models judged."""


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
    # Options follow, and a path would join the slashes of their URLs.
    place, comma, options = where.partition(",")
    return f"{name}:{folder / place}{comma}{options}" if place and name in PATHS else target


def _factory(name: str) -> Callable[[str], Sink]:
    check_target(name)
    module, _, attribute = BUILT_IN[name].partition(":")
    factory: Callable[..., Sink] = getattr(
        import_module(f"caliper.adapters.exports.sinks.{module}"), attribute
    )
    return partial(factory, pack=shipped_pack()) if name in _WITH_PROMPTS else factory
