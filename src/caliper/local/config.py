"""The configuration of a local run, from the command line or a run.yaml.

The parts that affect scores are resolved into a RunSpec. The rest (paths, endpoints, concurrency)
is never part of a fingerprint.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import (
    Field,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from caliper.benchmarks.registry import all_names, benchmark_names, recipe_names
from caliper.core.errors import InvalidInput
from caliper.core.run import COVERAGE_FLOOR
from caliper.core.terms import Priority, Terms
from caliper.local.benchmark_config import BenchmarkConfig
from caliper.local.config_origin import ConfigOrigin
from caliper.local.recipes import recipe_values
from caliper.pipeline.reports.judge_check import should_check
from caliper.pipeline.store.dataset_names import is_dataset_name
from caliper.wiring.data_sources import data_name
from caliper.wiring.export_sinks import check_target, target_under
from caliper.wiring.strict import Strict, first_problem
from caliper.wiring.yaml_text import read_document


class RunConfig(Strict):
    """A run over one or more benchmarks.

    `name` is the checkpoint's label, `limit` the number of items to draw per task or domain with
    `seed`, `out` the run's directory and `store` the store of replies across runs;
    `share_replies` also shares replies of models without a revision, and `judge_share` is the share
    of questions about captions to ask. `recipe` names the settings
    behind published figures, which apply unless the run sets them itself.
    `max_calls` and `max_tokens` cap its cost, `priority` ranks it among other runs. With `anchors`,
    captions with a known verdict are judged alongside it; see wiring.anchors. `export` names the
    sinks for its results: NAME or NAME:WHERE.
    """

    # Declared before the benchmarks: their validation reads it.
    recipe: str | None = None
    benchmarks: Mapping[str, BenchmarkConfig] = Field(min_length=1)
    name: str | None = None
    seed: int = Field(default=0, ge=0)
    limit: int | None = Field(default=None, ge=1)
    replicate: int = Field(default=0, ge=0)
    share_replies: bool = False
    coverage_floor: float = Field(default=COVERAGE_FLOOR, ge=0, le=1)
    judge_share: float | None = Field(default=None, gt=0, lt=1)
    concurrency: int = Field(default=64, ge=1, le=4096)
    max_calls: int | None = Field(default=None, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)
    priority: Priority = Priority.NORMAL
    anchors: bool | None = None
    pack: Path | None = None
    out: Path | None = None
    store: Path | None = None
    export: tuple[str, ...] = ()
    _origin: ConfigOrigin = PrivateAttr(default=ConfigOrigin())

    @field_validator("export")
    @classmethod
    def _known_sinks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for target in value:
            try:
                check_target(target)
            except InvalidInput as error:
                raise ValueError(error.message) from error
        return value

    @field_validator("recipe")
    @classmethod
    def _known_recipe(cls, value: str | None) -> str | None:
        if value is not None and value not in (names := recipe_names()):
            raise ValueError(f"unknown recipe {value!r}; known: {', '.join(names)}")
        return value

    @field_validator("benchmarks")
    @classmethod
    def _known_benchmarks(
        cls, value: Mapping[str, BenchmarkConfig], info: ValidationInfo
    ) -> Mapping[str, BenchmarkConfig]:
        unknown = sorted(set(value) - set(all_names()))
        if unknown:
            raise ValueError(
                f"unknown benchmark {unknown[0]!r}; known: {', '.join(benchmark_names())}"
            )
        # A fixed order, so that the order in which benchmarks are named does not change the run.
        recipe = info.data.get("recipe")
        return {
            name: _by_recipe(name, value[name], recipe) for name in all_names() if name in value
        }

    @property
    def terms(self) -> Terms:
        """The terms of one start of the run."""
        return Terms(self.max_calls, self.max_tokens, self.priority)

    @property
    def specs(self) -> tuple[str | None, ...]:
        """The SPECs of all models and embedders."""
        return tuple(getattr(part, key) for part in self.benchmarks.values() for key in _SPECS)

    @property
    def named_specs(self) -> tuple[str | None, ...]:
        """The SPECs if they come from a command line; empty if they come from a file."""
        return self.specs if self._origin.typed else ()

    @property
    def origin(self) -> ConfigOrigin:
        """Where the values come from."""
        return self._origin

    @property
    def with_anchors(self) -> bool:
        """Whether anchors are judged alongside the run."""
        return should_check(self.terms, choice=self.anchors)

    @property
    def label(self) -> str:
        """The checkpoint's label: its name, else the stem of its first captions file, else the
        model in its captioner's SPEC. Empty without any of them; never part of a URL.
        """
        if self.name:
            return self.name
        for part in self.benchmarks.values():
            if part.captions is not None:
                return part.captions.stem or "captions"
        captioner = next(iter(self.benchmarks.values())).captioner or ""
        # After the # of a Triton SPEC come options, not a model.
        model = "" if captioner.startswith("triton:") else captioner.partition("#")[2]
        return model.rsplit("/", 1)[-1]


def _by_recipe(name: str, part: BenchmarkConfig, recipe: str | None) -> BenchmarkConfig:
    """The part, with the recipe's values for everything that it does not set."""
    if recipe is None:
        return part
    values = recipe_values(name, recipe, captioned=part.captioner is not None)
    explicit = part.model_dump(exclude_unset=True)
    merged = {key: value for key, value in explicit.items() if value is not None}
    for key in ("set", "preparation"):
        merged[key] = {**values.get(key, {}), **getattr(part, key)}
    return BenchmarkConfig.model_validate({**values, **merged})


def check_config(
    values: Mapping[str, Any],
    *,
    file: str = "",
    root: yaml.Node | None = None,
    typed: bool = False,
) -> RunConfig:
    """A configuration from plain values. `typed`: no value comes from a file. Raises
    InvalidInput naming file and field, and the line in the document `root`, if any.
    """
    try:
        config = RunConfig.model_validate(values)
    except ValidationError as error:
        model = BenchmarkConfig if len(error.errors()[0]["loc"]) > 1 else RunConfig
        raise first_problem(error, model.model_fields, file, root) from error
    config._origin = ConfigOrigin(file, root, typed)  # noqa: SLF001 - no key of a file can set it
    return config


def read_config(path: Path) -> RunConfig:
    """The configuration in a YAML file; its paths are relative to the file's folder.

    Raises InvalidInput naming file, line and field.
    """
    root, values = read_document(path)
    if isinstance(values, dict) and "fingerprint" in values:
        # The run.yaml of an existing run has its configuration below `config`.
        root, values = None, values.get("config")
    if not isinstance(values, dict):
        raise InvalidInput("expected a mapping with the key benchmarks", file=str(path))
    return relative_to(check_config(values, file=str(path), root=root), path.parent)


def relative_to(config: RunConfig, folder: Path) -> RunConfig:
    """The configuration with its relative paths taken from `folder`."""
    parts = {
        name: part.model_copy(
            update={
                **{key: _under(folder, getattr(part, key)) for key in _PATHS},
                **{key: _spec_under(folder, getattr(part, key)) for key in _SPECS},
            }
        )
        for name, part in config.benchmarks.items()
    }
    places = {key: _under(folder, getattr(config, key)) for key in ("pack", "out", "store")}
    export = tuple(target_under(folder, target) for target in config.export)
    return config.model_copy(update={"benchmarks": parts, **places, "export": export})


def config_values(config: RunConfig) -> dict[str, Any]:
    """The configuration as plain values with absolute paths, for run.yaml.

    Leaves out what may change when the same run is resumed: output folders, concurrency, terms.
    """
    folder = Path.cwd()
    absolute = relative_to(config, folder)
    # Left out if off: equal to the run.yaml of releases without them.
    unset = {name for name in ("share_replies", "judge_share") if not getattr(config, name)}
    values = absolute.model_dump(mode="json", exclude=_TRANSIENT | unset)
    for name, part in absolute.benchmarks.items():
        values["benchmarks"][name] |= {"media": str(folder / part.media_root), **part.origins}
    return values


def config_record(config: RunConfig) -> dict[str, Any]:
    """The part of run.yaml about a configuration: its values, and folders of unnamed media."""
    parts = config.benchmarks.items()
    media = {
        name: str(Path.cwd() / part.media_root) for name, part in parts if "media" in part.origins
    }
    return {"config": config_values(config), **({"media": media} if media else {})}


# A recipe is present as the values that it set.
_TRANSIENT = {
    *("recipe", "out", "store", "concurrency", "export"),
    *("max_calls", "max_tokens", "priority", "anchors"),
}
_PATHS = ("data", "captions", "media", "qa", "qa_replies", "taxonomy")
_SPECS = ("judge", "reader", "captioner", "embedder")
_WITH_FOLDER = ("replay", "minilm")


def is_installed(path: Path, folder: Path = Path()) -> bool:
    """Whether a path is the name of an installation's data, and not a file of `folder`."""
    return is_dataset_name(str(path)) and not (folder / path).exists()


def _under(folder: Path, path: Path | Literal[True] | None) -> Path | Literal[True] | None:
    if not isinstance(path, Path) or data_name(path) is not None or is_installed(path, folder):
        return path
    return folder / path


def _spec_under(folder: Path, spec: str | None) -> str | None:
    kind, _, place = (spec or "").partition(":")
    return f"{kind}:{folder / place}" if place and kind in _WITH_FOLDER else spec
