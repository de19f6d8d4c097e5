"""The configuration of a run from what Python callers give, with the functions that it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypedDict

from caliper.adapters.models.function import FunctionModel
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.library.captions import caption_places
from caliper.library.model import Model
from caliper.local.config import RunConfig, check_config, read_config
from caliper.local.directory import DEFAULT_ROOT
from caliper.local.part_checks import check_parts
from caliper.wiring.specs import BACKENDS, CHAT_KINDS

Paths = str | PathLike[str]
Answerers = str | Callable[..., Any] | Model | None
Benchmarks = Paths | Mapping[str, Paths | Mapping[str, Any]]
_CAPTIONERS = (*(f"{kind}:" for kind in CHAT_KINDS), "triton:", "http://", "https://")


class RunOptions(TypedDict, total=False):
    """The keys of a run file; docs/cli.md lists them as flags."""

    recipe: str
    seed: int
    limit: int
    replicate: int
    share_replies: bool
    coverage_floor: float
    judge_share: float
    concurrency: int
    max_calls: int
    max_tokens: int
    priority: str
    anchors: bool
    pack: Paths
    out: Paths
    store: Paths
    export: Sequence[str]


@dataclass(slots=True)
class RunInputs:
    """A configuration in the making. Captions in memory are written below `folder`, by default
    `.captions` beside the run's directory, so that `run.yaml` names them. With `unasked`, names of
    models stand for models that are not called: those of an installation. `named_specs` are the
    SPECs that the program gave, not those in a file.
    """

    folder: Path | None = None
    unasked: bool = False
    models: dict[str, Model] = field(default_factory=dict)
    named_specs: tuple[str, ...] = ()

    def config(
        self,
        captions: Any,
        benchmarks: Benchmarks | None,
        judge: Answerers,
        name: str | None,
        options: RunOptions,
    ) -> RunConfig:
        """The configuration. Raises InvalidInput naming the field."""
        values: dict[str, Any] = {**_values_of(benchmarks), **options}
        parts = {key: _part(part) for key, part in values["benchmarks"].items()}
        if name is not None:
            values["name"] = name
        if self.folder is None:
            out = values.get("out")
            beside = Path(path_of(out, "out")).parent if out else DEFAULT_ROOT
            self.folder = beside / ".captions"
        if captions is not None:
            label = self._supply(captions, parts)
            values.setdefault("name", label)
        for key, part in parts.items():
            self._name_models(key, part, judge)
        config = check_config({**values, "benchmarks": parts})
        specs = config.specs if isinstance(benchmarks, Mapping) else (captions, judge)
        self.named_specs = tuple(spec for spec in specs if isinstance(spec, str))
        return config

    def open(self) -> dict[str, FunctionModel]:
        """The functions as models, by SPEC, for one event loop."""
        return {spec: model.open() for spec, model in self.models.items()}

    def _supply(self, captions: Any, parts: Mapping[str, dict[str, Any]]) -> str | None:
        """Give every benchmark its captions, or the captioner; returns the checkpoint's label."""
        is_spec = isinstance(captions, str) and (
            captions.startswith(_CAPTIONERS) or captions.partition(":")[0] in BACKENDS.names
        )
        if is_spec or isinstance(captions, Model) or callable(captions):
            for part in parts.values():
                part |= {"captions": None, "captioner": captions}
            return None if is_spec else _model(captions).label
        assert self.folder is not None  # noqa: S101 - set before
        places = caption_places(captions, tuple(parts), self.folder)
        for key, part in parts.items():
            part |= {"captions": places[key], "captioner": None}
        return None if isinstance(captions, str | PathLike) else "captions"

    def _name_models(self, name: str, part: dict[str, Any], judge: Answerers) -> None:
        """Replace functions by SPECs that stand for them."""
        role = benchmark(name).role
        if part.get(role) is None:
            # On an installation, it is one of its models.
            part[role] = role if judge is None and self.unasked else judge
        for key in ("captioner", "judge", "reader"):
            value = part.get(key)
            if value is not None and (self.unasked or not isinstance(value, str)):
                part[key] = self._spec(Model(_never, value) if isinstance(value, str) else value)

    def _spec(self, value: Any) -> str:
        """The SPEC of a function: the same for equal ones, so that each is called by one model."""
        model = _model(value)
        for spec, other in self.models.items():
            if other == model:
                return spec
        if model.spec in self.models:
            raise InvalidInput(
                f"{model.label}, revision {model.revision}, stands for two functions", field="name"
            )
        self.models[model.spec] = model
        return model.spec


def _values_of(benchmarks: Benchmarks | None) -> dict[str, Any]:
    if benchmarks is None:
        raise InvalidInput("name them, with their data, or a run file", field="benchmarks")
    if isinstance(benchmarks, Mapping):
        return {"benchmarks": dict(benchmarks)}
    config = read_config(Path(path_of(benchmarks, "benchmarks")))
    check_parts(config)
    return config.model_dump(exclude_unset=True)


def _part(value: Paths | Mapping[str, Any]) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {"data": value}


def _never(_: object) -> None:
    """Stands for models that are only named."""


def _model(value: Any) -> Model:
    """The model of a function. Its origin is this evaluation, even if `value` is a Model: its
    replies may have changed since an earlier one.
    """
    if isinstance(value, Model):
        return replace(value)
    if not callable(value):
        raise InvalidInput(f"expected a SPEC or a function, found {value!r:.60}")
    return Model(value)


def path_of(value: Any, field: str) -> str:
    """A path as text. Raises InvalidInput for another type."""
    if not isinstance(value, str | PathLike):
        raise InvalidInput(f"expected a path, found {value!r:.60}", field=field)
    return fspath(value)
