"""The options of `evaluate` and `plan`, and the configuration that they build."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from caliper.benchmarks.registry import NAMES, benchmark
from caliper.core.errors import InvalidInput, UnknownName
from caliper.standalone.config import RunConfig, checked, read_config

_WHAT = "What is measured"
_WHO = "Who captions, judges and reads"
_HOW = "How the run goes"

Data = Annotated[
    Path, typer.Option("--data", help="The dataset in its official layout.", rich_help_panel=_WHAT)
]
Captions = Annotated[
    Path | None,
    typer.Option("--captions", help="Captions to evaluate.", rich_help_panel=_WHAT),
]
CaptionerSpec = Annotated[
    str | None,
    typer.Option(
        "--captioner",
        metavar="SPEC",
        help="A checkpoint that writes the captions: tgi:URL\\[#model]. Instead of --captions.",
        rich_help_panel=_WHO,
    ),
]
Prompt = Annotated[
    str,
    typer.Option(
        "--prompt",
        help="Caption prompt: simple, short, long or taxonomy. Only recorded when captions "
        "are supplied.",
        rich_help_panel=_WHAT,
    ),
]
Judge = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="SPEC",
        help="lexical (default), tgi:URL\\[#model] or replay:DIR.",
        rich_help_panel=_WHO,
    ),
]
Reader = Annotated[
    str | None,
    typer.Option(
        "--reader",
        metavar="SPEC",
        help="lexical (default), tgi:URL\\[#model] or replay:DIR.",
        rich_help_panel=_WHO,
    ),
]
Tagger = Annotated[
    str, typer.Option("--tagger", help="rules or spacy:MODEL.", rich_help_panel=_WHO)
]
EmbedderSpec = Annotated[
    str, typer.Option("--embedder", help="ngram or minilm.", rich_help_panel=_WHO)
]
MediaRoot = Annotated[
    Path | None,
    typer.Option(
        "--media",
        help="Folder that media paths are relative to. Default: the data's folder.",
        rich_help_panel=_WHAT,
    ),
]
Qa = Annotated[
    Path | None,
    typer.Option(
        "--qa",
        help="The dataset in question form, asked from the media (KT-bar, CompreQA).",
        rich_help_panel=_WHAT,
    ),
]
QaReplies = Annotated[
    Path | None,
    typer.Option(
        "--qa-replies",
        help="Recorded replies to the questions asked from the media.",
        rich_help_panel=_WHAT,
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        "--name",
        help="The checkpoint's label. Default: the captions' stem.",
        rich_help_panel=_WHAT,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A protocol choice; may be given several times. See docs/fidelity.md.",
        rich_help_panel=_WHAT,
    ),
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", help="Draw that many items a task or domain.", rich_help_panel=_WHAT),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed", help="Seed of every draw. [dim]\\[default: 0][/dim]", rich_help_panel=_WHAT
    ),
]
Repeats = Annotated[
    int | None,
    typer.Option(
        "--repeats",
        help="Ask each question that often. Default: 1, CompreCap 3.",
        rich_help_panel=_WHAT,
    ),
]
Replicate = Annotated[
    int | None,
    typer.Option(
        "--replicate",
        help="Number of a deliberate repetition: same questions, nothing taken from the store.",
        rich_help_panel=_WHAT,
    ),
]
CoverageFloor = Annotated[
    float | None,
    typer.Option(
        "--coverage-floor",
        help="Share of askable questions that must be scored for a complete run. "
        "[dim]\\[default: 0.99][/dim]",
        rich_help_panel=_WHAT,
    ),
]
Pack = Annotated[
    Path | None,
    typer.Option(
        "--pack", help="A folder of prompts instead of the shipped ones.", rich_help_panel=_WHAT
    ),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        "--concurrency",
        help="Calls in flight at once. [dim]\\[default: 64][/dim]",
        rich_help_panel=_HOW,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", help="Run directory. Default: runs/<name>-<run id>.", rich_help_panel=_HOW
    ),
]
Store = Annotated[
    Path | None,
    typer.Option(
        "--store",
        help="Where replies are kept between runs. Default: .store beside the run directory.",
        rich_help_panel=_HOW,
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print the result as JSON on standard output.", rich_help_panel=_HOW
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress, no tables.", rich_help_panel=_HOW)
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="A run.yaml that names one or several benchmarks.",
        rich_help_panel=_WHAT,
    ),
]


@dataclass(frozen=True, slots=True)
class Shared:
    """The options that every run has; over `--config` they win. None: not given."""

    name: Name = None
    settings: Set = None
    limit: Limit = None
    seed: Seed = None
    repeats: Repeats = None
    replicate: Replicate = None
    coverage_floor: CoverageFloor = None
    pack: Pack = None
    concurrency: Concurrency = None
    out: Out = None
    store: Store = None

    def run_values(self) -> dict[str, Any]:
        """The values of RunConfig that were given."""
        not_of_the_run = {"settings", "repeats"}
        return {
            name: given
            for name in (field.name for field in fields(self))
            if name not in not_of_the_run and (given := getattr(self, name)) is not None
        }


@dataclass(frozen=True, slots=True)
class FromFile:
    """The option of a run over several benchmarks."""

    config: ConfigFile = None


@dataclass(frozen=True, slots=True)
class CapabilityPart:
    """What can be said of CAPability."""

    data: Data
    captions: Captions = None
    captioner: CaptionerSpec = None
    prompt: Prompt = "simple"
    judge: Judge = None
    media: MediaRoot = None
    qa: Qa = None
    qa_replies: QaReplies = None


@dataclass(frozen=True, slots=True)
class CaptionQaPart:
    """What can be said of CaptionQA."""

    data: Data
    captions: Captions = None
    captioner: CaptionerSpec = None
    prompt: Prompt = "simple"
    reader: Reader = None
    media: MediaRoot = None
    qa_replies: QaReplies = None


@dataclass(frozen=True, slots=True)
class CompreCapPart:
    """What can be said of CompreCap."""

    data: Data
    captions: Captions = None
    captioner: CaptionerSpec = None
    prompt: Prompt = "simple"
    judge: Judge = None
    tagger: Tagger = "rules"
    embedder: EmbedderSpec = "ngram"
    media: MediaRoot = None
    qa: Qa = None
    qa_replies: QaReplies = None


Part = CapabilityPart | CaptionQaPart | CompreCapPart


@dataclass(frozen=True, slots=True)
class Shown:
    """How a command shows its result."""

    json: Json = False
    quiet: Quiet = False


def taking(act: Callable[..., int], *groups: type) -> Callable[..., int]:
    """A function for typer whose parameters are the fields of the dataclasses `groups`.

    It builds one value of each and hands them to `act`: an option is declared once and
    serves every command that has it.
    """
    hints = {name: hint for group in groups for name, hint in _hints(group).items()}

    def command(**values: Any) -> int:
        built = (group(**{name: values[name] for name in _hints(group)}) for group in groups)
        return act(*built)

    parameters = [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for group in groups
        for field in fields(group)
    ]
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = hints
    return command


def _hints(group: type) -> dict[str, Any]:
    return get_type_hints(group, include_extras=True)


def from_flags(name: str, part: Part, shared: Shared) -> RunConfig:
    """The configuration of a run over one benchmark. Raises InvalidInput."""
    values = {key: value for key, value in asdict(part).items() if value is not None}
    values["set"] = split_settings(shared.settings or (), (name,))[name]
    if shared.repeats is not None:
        values["repeats"] = shared.repeats
    return checked({"benchmarks": {name: values}, **shared.run_values()}, file="command line")


def from_file(path: Path, shared: Shared) -> RunConfig:
    """The configuration in a file, with the flags over it. Raises InvalidInput."""
    config = read_config(path)
    names = tuple(config.benchmarks)
    given = split_settings(shared.settings or (), names)
    parts = {}
    for name, part in config.benchmarks.items():
        update: dict[str, Any] = {"set": {**part.set, **given[name]}}
        if shared.repeats is not None:
            update["repeats"] = shared.repeats
        parts[name] = part.model_copy(update=update).model_dump()
    values = {**config.model_dump(exclude={"benchmarks"}), **shared.run_values()}
    return checked({**values, "benchmarks": parts}, file=str(path))


def split_settings(settings: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, str]]:
    """KEY=VALUE pairs by benchmark. KEY is a setting's name, or `benchmark.name` where
    several benchmarks of the run have it.

    Raises InvalidInput, UnknownName with the settings that there are.
    """
    split: dict[str, dict[str, str]] = {name: {} for name in names}
    for pair in settings:
        key, equals, value = pair.partition("=")
        if not equals:
            raise InvalidInput(f"expected KEY=VALUE, found {pair!r}", field="--set")
        owner, _, setting = key.rpartition(".")
        owners = [owner] if owner else [name for name in names if setting in _settings(name)]
        if not owners or any(name not in names for name in owners):
            known = tuple(sorted(key for name in names for key in _settings(name)))
            raise UnknownName("setting", key, known)
        for name in owners:
            split[name][setting] = value
    return split


def _settings(name: str) -> list[str]:
    if name not in NAMES:
        return []
    return [setting.name for setting in benchmark(name).settings]
