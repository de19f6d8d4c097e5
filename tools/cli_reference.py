# ruff: noqa: INP001 - a standalone script
"""Write docs/cli.md from the code; with --check, report whether it is up to date.

Reads the declarations, not the rendered help: so the page depends only on the code, not on the
width or colours of a terminal or on the environment.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import typer
from command_reference import CommandReference
from generation import ROOT, written
from pydantic import BaseModel

from caliper.cli.app import app
from caliper.local.benchmark_config import BenchmarkConfig
from caliper.local.config import RunConfig
from caliper.wiring.settings import CallSettings
from caliper.wiring.specs import EMBEDDERS, KINDS, TAGGERS

PAGE = ROOT / "docs" / "cli.md"
_INTRODUCTION = """# The command line

<!-- Written by tools/cli_reference.py from the code. Do not edit: run `make docs`. -->

Every command and option; `caliper COMMAND --help` says more. [report.md](report.md)
has the files of a run and the exit codes, [fidelity.md](fidelity.md) the protocol settings: pass
`--set KEY=VALUE`, or `--set BENCHMARK.KEY=VALUE` for one benchmark of several."""
_CONFIGURATION = """## A run over several benchmarks

`caliper evaluate --config FILE` reads YAML without aliases. Paths in it are relative to the
file. Options on the command line win over the file; an unknown key is an error.

```yaml
name: my-checkpoint
benchmarks:
  capability: {data: data/capability, captions: captions/capability, judge: "tgi:http://localhost:8080"}
  captionqa: {data: data/captionqa, captions: captions/captionqa.json, set: {max_tokens: 512}}
```

A key means the same as the option of its name, with `_` for `-`."""
_ENVIRONMENT = """## Environment

The environment says how things are reached, never what is measured.
[services.md](services.md#settings) has the variables of services and of `--server`, `--kafka` and
`--store`, [media.md](media.md#bounds) the bounds of media. For calls of models, with defaults:"""


def page() -> str:
    """The whole page."""
    commands = CommandReference(typer.main.get_command(app))
    blocks = [
        _INTRODUCTION,
        *commands.sections(),
        "## Names of models",
        _models(),
        _CONFIGURATION,
        *_keys(commands.flags),
        _ENVIRONMENT,
        _environment(),
    ]
    return "\n\n".join(blocks) + "\n"


def _models() -> str:
    captioners = ("chat:", "tgi:", "triton:")
    rows = (
        ("SPEC of a judge or reader", KINDS),
        ("SPEC of a captioner", [kind for kind in KINDS if kind.startswith(captioners)]),
        ("tagger", TAGGERS),
        ("embedder", EMBEDDERS),
    )
    return "\n".join(
        f"- {role}: {', '.join(f'`{kind}`' for kind in kinds)}" for role, kinds in rows
    )


def _keys(flags: set[str]) -> Iterator[str]:
    for where, kind in (("Of the run", RunConfig), ("Of each benchmark", BenchmarkConfig)):
        options = {f"--{name.replace('_', '-')}" for name in kind.model_fields} - {"--benchmarks"}
        if unknown := options - flags:
            raise ValueError(f"no such options explain the keys of a file: {sorted(unknown)}")
        yield f"{where}: {', '.join(_field(kind, name, name) for name in kind.model_fields)}."


def _field(kind: type[BaseModel], field: str, name: str) -> str:
    """The name of a field, with its default or `required`."""
    declared = kind.model_fields[field]
    default = "required" if declared.is_required() else declared.default
    match default:
        case bool() | str() if default:
            return f"`{name}` ({default})"
        case int() | float() if default is not False:
            return f"`{name}` ({default:.10g})"
        case _:
            return f"`{name}`"


def _environment() -> str:
    meanings = dict(re.findall(r"CALIPER_([A-Z_]+): ([^;.]+)", CallSettings.__doc__ or ""))
    fields = CallSettings.model_fields
    rows = (
        (_field(CallSettings, name, f"CALIPER_{name.upper()}"), _one_line(meanings[name.upper()]))
        for name in fields
    )
    return "\n".join(f"- {variable}: {meaning}" for variable, meaning in rows)


def _one_line(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    sys.exit(written({PAGE: page()}, sys.argv[1:]))
