# ruff: noqa: INP001 - a script beside the package, imported by nobody
"""Write docs/cli.md from the code, or with --check say whether it is up to date.

Reads the declarations, never the help texts as a terminal shows them: the page depends on
the code only, not on the width or colours of a terminal or on the environment.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping

import typer
from command_reference import CommandReference, table
from generated import ROOT, written
from pydantic import BaseModel

from caliper.benchmarks.base import Setting
from caliper.benchmarks.registry import BUILT_IN, benchmark
from caliper.cli.app import app
from caliper.cli.exits import Exit
from caliper.runtime.endpoint_settings import EndpointSettings, ExaminingSettings
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
from caliper.runtime.settings import CallSettings, MediaSettings, ModelSettings, Settings
from caliper.standalone.config import BenchmarkConfig, RunConfig

PAGE = ROOT / "docs" / "cli.md"
_GROUPS: Mapping[str, type[Settings]] = {
    "calls": CallSettings,
    "media": MediaSettings,
    "server": ServerSettings,
    "store": StoreSettings,
    "Kafka": KafkaSettings,
    "jobs": StreamSettings,
    "model": EndpointSettings,
    "anchors": ExaminingSettings,
}
_PROCESSES: Mapping[str, type[Settings]] = {
    "command line": ModelSettings,
    "command line, for installations": ClientSettings,
    "gateway": GatewaySettings,
    "captioner": CaptionerSettings,
    "judge": JudgeSettings,
    "reader": QaReaderSettings,
    "aggregator": AggregatorSettings,
}
_INTRODUCTION = """# The command line

<!-- Written by tools/cli_reference.py from the code. Do not edit: run `make docs`. -->

`caliper COMMAND --help` prints the same on a terminal. [fidelity.md](fidelity.md) explains the
protocol settings, [report.md](report.md) the files of a run."""
_CONFIGURATION = """## A run over several benchmarks

`caliper evaluate --config FILE` reads YAML. Paths in it are relative to the file. Options on the
command line win over the file; an unknown key is an error.

```yaml
name: my-checkpoint
benchmarks:
  capability: {data: data/capability, captions: captions/capability, judge: "tgi:http://localhost:8080"}
  captionqa: {data: data/captionqa, captions: captions/captionqa.json, set: {max_tokens: 512}}
```

A key means the same as the option of its name, with `_` for `-`."""
_SETTINGS = """## Protocol settings

Pass `--set KEY=VALUE`, or write `set:` in a file. `BENCHMARK.KEY=VALUE` sets one benchmark of
several. Every setting is part of the run and printed in its report. Defaults are bold."""
_ENVIRONMENT = """## Environment

The environment says how things are reached, never what is measured. The name of a variable is the
prefix of a process and a name from one of its groups, as in `CALIPER_JUDGE_MODEL`. An unknown
variable with such a prefix is an error. [services.md](services.md#settings) explains the variables
of services and installations, [media.md](media.md#bounds) those of media."""


def page() -> str:
    """The whole page."""
    declared = typer.main.get_command(app)
    commands = CommandReference(declared)
    blocks = [
        _INTRODUCTION,
        *commands.sections(),
        "## Names of models",
        _models(),
        _CONFIGURATION,
        *_keys(commands.flags),
        _SETTINGS,
        *_settings(),
        _ENVIRONMENT,
        *_environment(),
        "## Exit codes",
        _exit_codes(declared.epilog or ""),
    ]
    return "\n\n".join(blocks) + "\n"


def _models() -> str:
    rows = (
        ("SPEC of a judge or reader", KINDS),
        ("SPEC of a captioner", [kind for kind in KINDS if kind.startswith(("tgi", "triton"))]),
        ("tagger", TAGGERS),
        ("embedder", EMBEDDERS),
    )
    known = ((role, ", ".join(f"`{kind}`" for kind in kinds)) for role, kinds in rows)
    return table(("what", "known"), known)


def _keys(flags: set[str]) -> Iterator[str]:
    for where, kind in (("Of the run", RunConfig), ("Of each benchmark", BenchmarkConfig)):
        options = {f"--{name.replace('_', '-')}" for name in kind.model_fields} - {"--benchmarks"}
        if unknown := options - flags:
            raise ValueError(f"no such options explain the keys of a file: {sorted(unknown)}")
        yield f"{where}: {', '.join(_field(kind, name, name) for name in kind.model_fields)}."


def _field(kind: type[BaseModel], field: str, name: str) -> str:
    """The name of a field with its default, or that it is required."""
    declared = kind.model_fields[field]
    default = "required" if declared.is_required() else declared.default
    match default:
        case bool() | str() if default:
            return f"`{name}` ({default})"
        case int() | float() if default is not False:
            return f"`{name}` ({default:.10g})"
        case _:
            return f"`{name}`"


def _settings() -> Iterator[str]:
    rows = {
        name: [(f"`{one.name}`", _values(one), one.help) for one in benchmark(name).settings]
        for name in BUILT_IN
    }
    common = [
        row for row in rows[next(iter(BUILT_IN))] if all(row in each for each in rows.values())
    ]
    yield "### All benchmarks"
    yield table(("setting", "values", "meaning"), common)
    for name in BUILT_IN:
        yield f"### {benchmark(name).title}"
        own = (row for row in rows[name] if row not in common)
        yield table(("setting", "values", "meaning"), own)


def _values(setting: Setting) -> str:
    if setting.choices:
        return ", ".join(
            f"**`{choice}`**" if choice == setting.default else f"`{choice}`"
            for choice in setting.choices
        )
    return (
        f"{' to '.join(f'{bound:,.10g}' for bound in setting.range or ())}, **{setting.default}**"
    )


def _environment() -> Iterator[str]:
    rows = []
    for process, kind in _PROCESSES.items():
        groups = [name for name, part in _GROUPS.items() if issubclass(kind, part)]
        shared = {field for name in groups for field in _GROUPS[name].model_fields}
        own = (field for field in kind.model_fields if field in _own(kind) or field not in shared)
        names = ", ".join(_field(kind, field, field.upper()) for field in own)
        rows.append((f"`{kind.model_config['env_prefix']}`", process, ", ".join(groups), names))
    yield table(("prefix", "process", "groups", "also"), rows)
    variables = (
        (name, ", ".join(_field(kind, field, field.upper()) for field in _own(kind)))
        for name, kind in _GROUPS.items()
    )
    yield table(("group", "variables (defaults)"), variables)
    meanings = re.findall(r"CALIPER_([A-Z_]+): ([^;.]+)", CallSettings.__doc__ or "")
    calls = (f"`{name}`: {' '.join(meaning.split())}" for name, meaning in meanings)
    yield f"For calls of models: {'; '.join(calls)}."


def _own(kind: type[Settings]) -> list[str]:
    """The fields that a class of settings itself declares."""
    return [field for field in kind.model_fields if field in kind.__annotations__]


def _exit_codes(epilog: str) -> str:
    found = re.findall(r"(\d+) ([^;]+?)(?:;|\.$)", epilog)
    if {int(code) for code, _ in found} != {int(code) for code in Exit}:
        raise ValueError(f"the epilog of the command tells other exit codes than Exit: {epilog}")
    return table(("code", "meaning"), found)


if __name__ == "__main__":
    sys.exit(written({PAGE: page()}, sys.argv[1:]))
