"""The configuration of a local run: what the command line and run.yaml can say.

What is measured is resolved from it into a RunSpec; where things are (paths, endpoints,
concurrency) stays here and is never part of a fingerprint.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from caliper.benchmarks.registry import benchmark_names, recipe_names
from caliper.core.caps import Caps
from caliper.core.caption import MOST_CAPTION_TOKENS
from caliper.core.errors import InvalidInput
from caliper.core.preparation import Preparation
from caliper.local.recipes import recipe_values
from caliper.local.yaml_text import read_yaml
from caliper.pipeline.reports.judge_check import check_wanted


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BenchmarkConfig(_Strict):
    """One benchmark of a run. Exactly one of `captions` and `captioner` is given.

    Models are named by SPEC: `lexical`, `tgi:URL[,URL...][#model[@revision]]`,
    `triton:HOST:PORT/MODEL[@VERSION][#OPTIONS]` or `replay:DIR`. `media` is the
    folder that the dataset's media paths are relative to, by default that of the data.
    `qa` has the captioner asked questions from the media: the dataset in question form, or
    true where the benchmark's own questions serve. `qa_replies` are recorded replies to them.
    `preparation` says what the captioner is shown of media: the fields of
    core.preparation.Preparation by name. `taxonomy` is a file of the nodes that the caption
    prompt lists (docs/data.md), and `caption_tokens` the most that it may write of a caption.
    """

    data: Path
    captions: Path | None = None
    captioner: str | None = None
    prompt: str = "simple"
    judge: str | None = None
    reader: str | None = None
    tagger: str = "rules"
    embedder: str = "ngram"
    media: Path | None = None
    qa: Path | Literal[True] | None = None
    qa_replies: Path | None = None
    repeats: int | None = Field(default=None, ge=1, le=100)
    set: Mapping[str, str] = Field(default_factory=dict)
    preparation: Mapping[str, str] = Field(default_factory=dict)
    taxonomy: Path | None = None
    caption_tokens: int | None = Field(default=None, ge=1, le=MOST_CAPTION_TOKENS)

    @field_validator("set", "preparation", mode="before")
    @classmethod
    def _plain_values(cls, value: object) -> object:
        """YAML reads `max_tokens: 4` as a number; settings are texts."""
        if isinstance(value, Mapping):
            return {name: str(chosen) for name, chosen in value.items()}
        return value

    @property
    def media_root(self) -> Path:
        """The folder that media paths are relative to."""
        return self.media or (self.data if self.data.is_dir() else self.data.parent)

    @property
    def prepared(self) -> Preparation | None:
        """What the captioner is shown of media; None where there is no captioner."""
        return None if self.captioner is None else Preparation.of(self.preparation)

    @model_validator(mode="after")
    def _one_source_of_captions(self) -> Self:
        if (self.captions is None) == (self.captioner is None):
            raise ValueError("give exactly one of captions and captioner")
        if self.preparation and self.captioner is None:
            raise ValueError("only a captioner is shown media: preparation needs one")
        if self.caption_tokens is not None and self.captioner is None:
            raise ValueError("only a captioner writes captions: caption_tokens needs one")
        if self.taxonomy and (self.captioner is None or self.prompt != "taxonomy"):
            raise ValueError("a taxonomy is for a captioner with the caption prompt taxonomy")
        if self.qa is not None and self.captioner is None and self.qa_replies is None:
            raise ValueError(
                "questions from the media (qa) are put to the checkpoint: give its captioner, "
                "or its recorded replies (qa_replies)"
            )
        return self

    @field_validator("preparation", mode="after")
    @classmethod
    def _known_preparation(cls, value: Mapping[str, str]) -> Mapping[str, str]:
        try:
            Preparation.of(value)
        except InvalidInput as error:
            raise ValueError(str(error)) from error
        return value


class RunConfig(_Strict):
    """A run over one or more benchmarks.

    `name` is the checkpoint's label, `limit` draws that many items a task or domain by
    `seed`, `out` the run's directory and `store` where replies are kept between runs;
    `share_replies` shares those of models without a revision, too. `recipe` names how known
    figures were made: what the run does not say itself is set so.
    `max_calls` and `max_tokens` cap what it may spend; see pipeline.budget. `anchors` are known
    captions that are judged beside it; see runtime.anchors.
    """

    # Before the benchmarks: their validation reads it.
    recipe: str | None = None
    benchmarks: Mapping[str, BenchmarkConfig] = Field(min_length=1)
    name: str | None = None
    seed: int = Field(default=0, ge=0)
    limit: int | None = Field(default=None, ge=1)
    replicate: int = Field(default=0, ge=0)
    share_replies: bool = False
    coverage_floor: float = Field(default=0.99, ge=0, le=1)
    concurrency: int = Field(default=64, ge=1, le=4096)
    max_calls: int | None = Field(default=None, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)
    anchors: bool | None = None
    pack: Path | None = None
    out: Path | None = None
    store: Path | None = None

    @field_validator("recipe")
    @classmethod
    def _known_recipe(cls, value: str | None) -> str | None:
        if value is not None and value not in (known := recipe_names()):
            raise ValueError(f"unknown recipe {value!r}; known: {', '.join(known)}")
        return value

    @field_validator("benchmarks")
    @classmethod
    def _known_benchmarks(
        cls, value: Mapping[str, BenchmarkConfig], info: ValidationInfo
    ) -> Mapping[str, BenchmarkConfig]:
        unknown = sorted(set(value) - set(benchmark_names()))
        if unknown:
            raise ValueError(
                f"unknown benchmark {unknown[0]!r}; known: {', '.join(benchmark_names())}"
            )
        # One order for all, so that the same benchmarks named in another order are one run.
        recipe = info.data.get("recipe")
        return {
            name: _by_recipe(name, value[name], recipe)
            for name in benchmark_names()
            if name in value
        }

    @property
    def caps(self) -> Caps:
        """What one start of the run may spend."""
        return Caps(self.max_calls, self.max_tokens)

    @property
    def with_anchors(self) -> bool:
        """Whether anchors are judged beside the run."""
        return check_wanted(self.caps, asked=self.anchors)

    @property
    def label(self) -> str:
        """The checkpoint's label: its name, else the stem of its first captions, else the
        model that its captioner names. Empty when none of them tells; never part of a URL.
        """
        if self.name:
            return self.name
        for part in self.benchmarks.values():
            if part.captions is not None:
                return part.captions.stem or "captions"
        captioner = next(iter(self.benchmarks.values())).captioner or ""
        # What stands behind the # of a Triton model are options.
        named = "" if captioner.startswith("triton:") else captioner.partition("#")[2]
        return named.rsplit("/", 1)[-1]


def _by_recipe(name: str, part: BenchmarkConfig, recipe: str | None) -> BenchmarkConfig:
    """The part, where what it does not say is what the recipe says."""
    if recipe is None:
        return part
    values = recipe_values(name, recipe, captioned=part.captioner is not None)
    said = part.model_dump(exclude_unset=True)
    given = {key: value for key, value in said.items() if value is not None}
    for key in ("set", "preparation"):
        given[key] = {**values.get(key, {}), **getattr(part, key)}
    return BenchmarkConfig.model_validate({**values, **given})


def checked(written: Mapping[str, Any], *, file: str = "") -> RunConfig:
    """A configuration from plain values. Raises InvalidInput naming file and field."""
    try:
        return RunConfig.model_validate(written)
    except ValidationError as error:
        raise _first_problem(error, file) from error


def _first_problem(error: ValidationError, file: str) -> InvalidInput:
    problem = error.errors()[0]
    field = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        model = BenchmarkConfig if len(problem["loc"]) > 1 else RunConfig
        known = ", ".join(sorted(model.model_fields))
        return InvalidInput(f"unknown key; known: {known}", file=file, field=field)
    return InvalidInput(problem["msg"].removeprefix("Value error, "), file=file, field=field)


def read_config(path: Path) -> RunConfig:
    """The configuration in a YAML file; its paths are relative to the file's folder.

    Raises InvalidInput naming file, line and field.
    """
    written = read_yaml(path)
    if isinstance(written, dict) and "fingerprint" in written:
        # The run.yaml of a kept run: what was asked for stands below `config`.
        written = written.get("config")
    if not isinstance(written, dict):
        raise InvalidInput("expected a mapping with the key benchmarks", file=str(path))
    return relative_to(checked(written, file=str(path)), path.parent)


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
    return config.model_copy(update={"benchmarks": parts, **places})


def as_asked(config: RunConfig) -> dict[str, Any]:
    """The configuration as plain values with absolute paths: what run.yaml keeps of it.

    Without what the same run may have otherwise the next time: folders to write to,
    concurrency, caps.
    """
    here = Path.cwd()
    absolute = relative_to(config, here)
    # Left out where it is off, as before there was such a thing.
    unshared = set() if config.share_replies else {"share_replies"}
    written = absolute.model_dump(mode="json", exclude=_OF_ONE_TIME | unshared)
    for name, part in absolute.benchmarks.items():
        written["benchmarks"][name]["media"] = str(here / part.media_root)
    return written


# A recipe is there as what it set.
_OF_ONE_TIME = {"recipe", "out", "store", "concurrency", "max_calls", "max_tokens", "anchors"}
_PATHS = ("data", "captions", "media", "qa", "qa_replies", "taxonomy")
_SPECS = ("judge", "reader", "captioner", "embedder")
_WITH_FOLDER = ("replay", "minilm")


def _under(folder: Path, path: Path | Literal[True] | None) -> Path | Literal[True] | None:
    return folder / path if isinstance(path, Path) else path


def _spec_under(folder: Path, spec: str | None) -> str | None:
    kind, _, place = (spec or "").partition(":")
    return f"{kind}:{folder / place}" if place and kind in _WITH_FOLDER else spec
