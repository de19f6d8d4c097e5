# ruff: noqa: INP001 - a script beside the package, imported by nobody
"""Write docs/cli.md from the code, or with --check say whether it is up to date.

Reads the declarations, never the help texts as a terminal shows them: the page depends on
the code only, not on the width or colours of a terminal or on the environment.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import typer
from generated import ROOT, written
from rich.text import Text

from caliper.benchmarks.registry import NAMES, benchmark
from caliper.cli.app import app
from caliper.cli.exits import Exit
from caliper.runtime.endpoint_settings import EndpointSettings
from caliper.runtime.models import EMBEDDERS, KINDS, TAGGERS
from caliper.runtime.service_settings import (
    AggregatorSettings,
    CaptionerSettings,
    ClientSettings,
    GatewaySettings,
    JudgeSettings,
    KafkaSettings,
    QaReaderSettings,
    ServerSettings,
    StoreSettings,
    StreamSettings,
)
from caliper.runtime.settings import (
    CallSettings,
    MediaSettings,
    ModelSettings,
    Settings,
    variable,
)
from caliper.standalone.config import BenchmarkConfig, RunConfig

SERVICE_SETTINGS: tuple[type[Settings], ...] = (
    GatewaySettings,
    CaptionerSettings,
    JudgeSettings,
    QaReaderSettings,
    AggregatorSettings,
)
PAGE = ROOT / "docs" / "cli.md"
_INTRODUCTION = """# The command line

<!-- Written by tools/cli_reference.py from the code. Do not edit: run `make docs`. -->

`caliper --help`, and `--help` after every command, say the same on a terminal.
What the protocol settings mean, and where they come from, is in [fidelity.md](fidelity.md); what a
run writes is in [report.md](report.md)."""
_CONFIGURATION = """## A run over several benchmarks

`caliper evaluate --config FILE` reads YAML. Paths in it are relative to the file. Options on the
command line win over the file; an unknown key is an error.

```yaml
name: my-checkpoint
benchmarks:
  capability: {data: data/capability, captions: captions/capability, judge: "tgi:http://localhost:8080"}
  captionqa: {data: data/captionqa, captions: captions/captionqa.json, set: {max_tokens: 512}}
```"""
_ENVIRONMENT = """## Environment

The environment says how endpoints are reached, never what is measured. An unknown variable with
this prefix is an error."""
_SETTINGS = """## Protocol settings

`--set KEY=VALUE`, or `set:` in a file. Write `BENCHMARK.KEY=VALUE` for the setting of one benchmark
among several. Every setting is part of the run and is printed in its report."""
_DEFAULT = re.compile(r"\s*\[default: (.*?)\]")
_Row = tuple[str, str, str]
"""An option, what it means, its default."""
_Rows = tuple[_Row, ...]
_TYPES = {"Path": "PATH", "str": "TEXT", "int": "INTEGER", "float": "NUMBER"}


def page() -> str:
    """The whole page."""
    root = typer.main.get_command(app)
    blocks = [
        _INTRODUCTION,
        *_commands("caliper", root, (), {}),
        _models(),
        _CONFIGURATION,
        _keys(),
        _SETTINGS,
        *_settings(),
        _ENVIRONMENT,
        _environment(),
        *_installations(),
        "## Exit codes",
        _exit_codes(root.epilog or ""),
    ]
    return "\n\n".join(blocks) + "\n"


def _commands(name: str, command: Any, above: _Rows, known: dict[_Rows, str]) -> Iterator[str]:
    """The section of a command, then those of its sub-commands, groups first.

    `above` are the options of the group, which are not told again; `known` holds tables of
    options told before, each with its command: an equal one is referred to.
    """
    below: Mapping[str, Any] = getattr(command, "commands", {})
    arguments = [entry for entry in command.params if entry.param_type_name == "argument"]
    options = tuple(_option(entry) for entry in command.params if entry not in arguments)
    usage = [name, *(entry.metavar for entry in arguments), "[OPTIONS]"]
    yield f"## {name}"
    yield f"    {' '.join(usage)}" + (" [COMMAND]" if below else "")
    yield _plain(command.help or "")
    if arguments:
        yield _table(("argument", "meaning"), ((a.metavar, _plain(a.help)) for a in arguments))
    own = tuple(row for row in options if row not in above)
    told = known.setdefault(own, name)
    if own and told == name:
        yield _table(("option", "meaning", "default"), own)
    elif own:
        yield f"The same options as [{told}](#{told.replace(' ', '-')})."
    if shared := [row for row in options if row in above]:
        group = name.rpartition(" ")[0]
        absent = ", ".join(row[0] for row in above if row not in shared)
        yield f"And those of [{group}](#{group.replace(' ', '-')}), except {absent}."
    for sub, entry in sorted(below.items(), key=lambda found: not hasattr(found[1], "commands")):
        yield from _commands(f"{name} {sub}", entry, options, known)


def _option(entry: Any) -> _Row:
    value = "" if entry.is_flag else f" {entry.metavar or _TYPES[entry.bare_type()]}"
    names = ", ".join(f"`{name}{value}`" for name in (*entry.opts, *entry.secondary_opts))
    meaning = _plain(entry.help or "")
    in_help = _DEFAULT.search(meaning)
    default = in_help[1] if in_help else ""
    if entry.required:
        default = "required"
    elif entry.default is not None and not entry.is_flag:
        default = str(entry.default)
    return names, _DEFAULT.sub("", meaning), default


def _models() -> str:
    rows = (
        ("SPEC of a judge or reader", KINDS),
        ("SPEC of a captioner", [kind for kind in KINDS if kind.startswith(("tgi", "triton"))]),
        ("tagger", TAGGERS),
        ("embedder", EMBEDDERS),
    )
    known = ((role, ", ".join(f"`{kind}`" for kind in kinds)) for role, kinds in rows)
    return "## Names of models\n\n" + _table(("what", "known"), known)


def _keys() -> str:
    told = ((RunConfig, "of the run"), (BenchmarkConfig, "of each benchmark"))
    rows = (
        (f"`{name}`", where, "required" if field.is_required() else _value(field.default))
        for model, where in told
        for name, field in model.model_fields.items()
    )
    return _table(("key", "where", "default"), rows)


def _value(default: Any) -> str:
    return str(default) if isinstance(default, str | int | float) else ""


def _settings() -> Iterator[str]:
    for name in NAMES:
        chosen = benchmark(name)
        yield f"### {chosen.title}"
        rows = (
            (
                f"`{setting.name}`",
                ", ".join(f"`{choice}`" for choice in setting.choices)
                or " to ".join(f"{bound:.10g}" for bound in setting.range or ()),
                f"`{setting.default}`",
                setting.help,
            )
            for setting in chosen.settings
        )
        yield _table(("setting", "values", "default", "meaning"), rows)


def _environment() -> str:
    told = f"{CallSettings.__doc__} {MediaSettings.__doc__}"
    said = dict(re.findall(r"(?:CALIPER_)?([A-Z_]+): ([^;.]+)", told))
    rows = []
    for name, field in ModelSettings.model_fields.items():
        variable = f"CALIPER_{name.upper()}"
        rows.append((f"`{variable}`", " ".join(said[name.upper()].split()), _value(field.default)))
    return _table(("variable", "meaning", "default"), rows)


def _installations() -> Iterator[str]:
    """The variables of the command line for an installation, and those of each service."""
    kinds: tuple[type[Settings], ...] = (ClientSettings, *SERVICE_SETTINGS)
    for kind in kinds:
        name = kind.__name__.removesuffix("Settings")
        words = re.sub(r"(?<!^)(?=[A-Z])", " ", name).lower()
        yield f"### Of the {'command line, for an installation' if name == 'Client' else words}"
        yield " ".join(_plain(kind.__doc__ or "").split())
        rows = (
            (
                f"`{variable(kind, field)}`",
                "required" if info.is_required() else _value(info.default),
            )
            for field, info in kind.model_fields.items()
        )
        yield _table(("variable", "default"), rows)
    yield "### What variables of services have in common"
    parts: tuple[type[Settings], ...] = (
        ServerSettings,
        StoreSettings,
        KafkaSettings,
        StreamSettings,
        EndpointSettings,
        MediaSettings,
    )
    for part in parts:
        names = ", ".join(f"`{field.upper()}`" for field in _own(part))
        yield f"{names}: {' '.join(_plain(part.__doc__ or '').split())}"


def _own(kind: type[Settings]) -> list[str]:
    """The fields that a class of settings itself declares."""
    return [field for field in kind.model_fields if field in kind.__annotations__]


def _exit_codes(epilog: str) -> str:
    found = re.findall(r"(\d+) ([^;]+?)(?:;|\.$)", epilog)
    if {int(code) for code, _ in found} != {int(code) for code in Exit}:
        raise ValueError(f"the epilog of the command tells other exit codes than Exit: {epilog}")
    return _table(("code", "meaning"), found)


def _plain(text: str) -> str:
    """Help text without markup, its paragraphs on one line each."""
    paragraphs = Text.from_markup(text).plain.split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *(tuple(map(_cell, row)) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    """A cell in which nothing ends the table; between backticks `<` is no markup."""
    parts = text.replace("|", "\\|").split("`")
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts)


if __name__ == "__main__":
    sys.exit(written({PAGE: page()}, sys.argv[1:]))
