"""Groups of options, and the configurations built from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, asdict, dataclass, fields, make_dataclass
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import typer

from caliper.benchmarks.registry import all_names, benchmark
from caliper.cli import flags
from caliper.core.errors import InvalidInput, UnknownName
from caliper.local.config import RunConfig, check_config, read_config
from caliper.local.config_origin import flag
from caliper.local.part_checks import check_parts


@dataclass(frozen=True, slots=True)
class SharedOptions:
    """The options of every run; they override `--config`. None: not given."""

    name: flags.Name = None
    recipe: flags.Recipe = None
    settings: flags.Set = None
    preparation: flags.Prepare = None
    caption_tokens: flags.CaptionTokens = None
    limit: flags.Limit = None
    seed: flags.Seed = None
    repeats: flags.Repeats = None
    replicate: flags.Replicate = None
    share_replies: flags.ShareReplies = None
    coverage_floor: flags.CoverageFloor = None
    judge_share: flags.JudgeShare = None
    pack: flags.Pack = None
    concurrency: flags.Concurrency = None
    max_calls: flags.MaxCalls = None
    max_tokens: flags.MaxTokens = None
    priority: flags.RunPriority = None
    anchors: flags.Anchors = None
    out: flags.Out = None
    store: flags.Store = None
    export: flags.Export = None

    def run_values(self) -> dict[str, Any]:
        """The values of RunConfig that were given."""
        benchmark_options = {"settings", "preparation", "caption_tokens", "repeats"}
        return {
            name: value
            for name in (field.name for field in fields(self))
            if name not in benchmark_options and (value := getattr(self, name)) is not None
        }


@dataclass(frozen=True, slots=True)
class ConfigOption:
    """The option of a run over several benchmarks."""

    config: flags.ConfigFile = None


def part_of(name: str) -> type:
    """Create a dataclass of the options that one benchmark declares."""
    definition = benchmark(name)
    options: list[tuple[str, Any, Any]] = [
        ("captions", flags.Captions, None),
        ("captioner", flags.CaptionerSpec, None),
        ("prompt", flags.Prompt, None),
    ]
    if "taxonomy" in definition.caption_prompts:
        options.append(("taxonomy", flags.TaxonomyFile, None))
    answerer = flags.Judge if definition.role == "judge" else flags.Reader
    options.append((definition.role, answerer, None))
    if definition.needs_language:
        options += [("tagger", flags.Tagger, "rules"), ("embedder", flags.EmbedderSpec, "ngram")]
    options.append(("media", flags.MediaRoot, None))
    if definition.qa_replies is not None:
        questions = flags.Qa if definition.qa_data is not None else flags.QaOnImage
        options += [("qa", questions, None), ("qa_replies", flags.QaReplies, None)]
    return make_dataclass("Part", [("data", flags.Data), *options], frozen=True, slots=True)


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """How a command shows its result."""

    json: flags.Json = False
    quiet: flags.Quiet = False


@dataclass(frozen=True, slots=True)
class EvaluateOptions(OutputOptions):
    """Where `evaluate` runs, and how it shows its result."""

    server: flags.Server = None


How = TypeVar("How", bound=OutputOptions)


def command_taking(
    action: Callable[..., int], *groups: type, with_context: bool = False, help_text: str = ""
) -> Callable[..., int]:
    """A function for typer whose parameters are the fields of the dataclasses `groups`.

    It builds one value of each dataclass and passes them to `action`, preceded by typer's context
    if `with_context` is true. So a flag is declared once for all commands that have it. `help_text`
    is the command's help.
    """

    def command(**values: Any) -> int:
        built = (group(**{name: values[name] for name in _hints(group)}) for group in groups)
        return action(*((values["context"],) if with_context else ()), *built)

    parameters = [_parameter("context", Parameter.empty, typer.Context)] if with_context else []
    for group in groups:
        hints = _hints(group)
        for field in fields(group):
            default = Parameter.empty if field.default is MISSING else field.default
            parameters.append(_parameter(field.name, default, hints[field.name]))
    command.__doc__ = help_text
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _parameter(name: str, default: Any, hint: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _hints(group: type) -> dict[str, Any]:
    return get_type_hints(group, include_extras=True)


def from_flags(name: str, part: Any, shared: SharedOptions) -> RunConfig:
    """The configuration of a run over one benchmark. Raises InvalidInput."""
    values = {key: value for key, value in asdict(part).items() if value is not None}
    values["set"] = split_settings(shared.settings or (), (name,))[name]
    values["preparation"] = _pairs(shared.preparation or (), "--preparation")
    for key in ("repeats", "caption_tokens"):
        if (value := getattr(shared, key)) is not None:
            values[key] = value
    values = {"benchmarks": {name: values}, **shared.run_values()}
    with _naming_flags():
        config = check_config(values, typed=True)
    check_parts(config)
    return config


def from_file(path: Path, shared: SharedOptions) -> RunConfig:
    """The configuration in a file, overridden by the flags. Raises InvalidInput."""
    config = read_config(path)
    check_parts(config)
    names = tuple(config.benchmarks)
    settings = split_settings(shared.settings or (), names)
    preparation = _pairs(shared.preparation or (), "--preparation")
    # Only captioned parts have a preparation; if there are none, the first reports the error.
    captioned = [name for name, part in config.benchmarks.items() if part.captioner] or names
    parts = {}
    for name, part in config.benchmarks.items():
        update: dict[str, Any] = {"set": {**part.set, **settings[name]}}
        if shared.repeats is not None:
            update["repeats"] = shared.repeats
        if preparation and name in captioned:
            update["preparation"] = {**part.preparation, **preparation}
        if shared.caption_tokens is not None and name in captioned:
            update["caption_tokens"] = shared.caption_tokens
        parts[name] = part.model_copy(update=update).model_dump(exclude_unset=True)
    values = {**config.model_dump(exclude={"benchmarks"}), **shared.run_values()}
    # The file is already validated: any error now comes from the command line.
    with _naming_flags():
        origin = config.origin
        config = check_config({**values, "benchmarks": parts}, file=origin.file, root=origin.root)
        check_parts(config)
    return config


@contextmanager
def _naming_flags() -> Iterator[None]:
    """Let errors in values of a configuration name their flags."""
    try:
        yield
    except InvalidInput as error:
        keys = error.field.split(".")
        keys = keys[2:] if keys[0] == "benchmarks" else keys
        if not keys:
            raise InvalidInput(error.message, file="command line", field=error.field) from error
        field = " ".join([flag(keys[0]), *keys[1:]])
        raise InvalidInput(error.message, field=field) from error


def split_settings(settings: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Split KEY=VALUE pairs by benchmark. KEY is a setting's name, which applies to all benchmarks
    that have it, or `benchmark.name`.

    Raises InvalidInput with the existing settings.
    """
    split: dict[str, dict[str, str]] = {name: {} for name in names}
    for key, value in _pairs(settings, "--set").items():
        owner, _, setting = key.rpartition(".")
        owners = [owner] if owner else [name for name in names if setting in _settings(name)]
        if not owners or any(name not in names for name in owners):
            existing = tuple(sorted(key for name in names for key in _settings(name)))
            raise InvalidInput(str(UnknownName("setting", key, existing)), field="--set")
        for name in owners:
            split[name][setting] = value
    return split


def _pairs(texts: Sequence[str], flag: str) -> dict[str, str]:
    """The values of a flag by key; the last value of a key wins."""
    pairs: dict[str, str] = {}
    for pair in texts:
        key, equals, value = pair.partition("=")
        if not equals:
            raise InvalidInput(f"expected KEY=VALUE, found {pair!r}", field=flag)
        pairs[key] = value
    return pairs


def _settings(name: str) -> list[str]:
    if name not in all_names():
        return []
    return [setting.name for setting in benchmark(name).settings]
