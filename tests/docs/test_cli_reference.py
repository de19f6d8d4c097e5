"""docs/cli.md is what the code says, all of it, whatever the terminal is like."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.text import Text
from tests.fakes.sources import ROOT, python_path

from caliper.cli.app import app
from caliper.local.benchmark_config import BenchmarkConfig
from caliper.local.config import RunConfig
from caliper.wiring.settings import CallSettings, MediaSettings, variable

SCRIPT = Path("tools/cli_reference.py")
PAGE = (ROOT / "docs" / "cli.md").read_text("utf-8")


def run(folder: Path, *arguments: str, **surroundings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(folder / SCRIPT), *arguments],
        env={**os.environ, "PYTHONPATH": python_path(), **surroundings},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The script with the page that it writes, away from the committed one."""
    scripts = [SCRIPT.with_name(name) for name in ("command_reference.py", "generation.py")]
    for file in (SCRIPT, *scripts, Path("docs/cli.md")):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


def test_the_committed_page_is_up_to_date_on_a_narrow_terminal_with_colors() -> None:
    done = run(ROOT, "--check", COLUMNS="40", FORCE_COLOR="1")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_stale_page_is_told_and_written_anew(copy: Path) -> None:
    page = copy / "docs" / "cli.md"
    right = page.read_text("utf-8")
    page.write_text(right.replace("--judge", "--arbiter"), encoding="utf-8")
    stale = run(copy, "--check")
    assert stale.returncode == 1
    assert stale.stderr == "docs/cli.md is not up to date: run `make docs`\n"
    assert run(copy, COLUMNS="200", NO_COLOR="1", TERM="dumb").returncode == 0
    assert page.read_text("utf-8") == right


def test_an_unknown_option_is_bad_usage(copy: Path) -> None:
    assert run(copy, "--chek").returncode == 2


def commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    for sub, below in getattr(command, "commands", {}).items():
        yield from commands(f"{name} {sub}", below)


COMMANDS = dict(commands("caliper", typer.main.get_command(app)))


def section(name: str) -> str:
    """What the page says of a command; "" where another command stands for it."""
    found = re.search(rf"^##+ {name}( [A-Z\[].*)?\n((?:.*\n)*?)(?=^##|\Z)", PAGE, re.MULTILINE)
    return found[0] if found else ""


def taken(name: str) -> set[str]:
    """The options that the page gives to a command: its own, the shared ones, its group's."""
    text, group = section(name), name.rpartition(" ")[0]
    if not text:
        other, absent = as_another(group)
        return taken(name.replace(group, other)) - absent
    if "its commands, without" in text:
        other, absent = as_another(name)
        return taken(other) - absent
    kept, _, rest = text.partition("\nAnd the options of ")
    own = flags(" ".join(re.findall(r"^(?:- (?=`-)|Shared: )(.*?)(?:: |$)", kept, re.MULTILINE)))
    return own | ((taken(group) - flags(rest)) if rest else set())


def as_another(group: str) -> tuple[str, set[str]]:
    """The group whose commands this one has, and the options that it lacks."""
    line = re.search(rf"^`{group} .*: as \[(.*?)\].*, without (.*)$", section(group), re.MULTILINE)
    assert line is not None
    return line[1], flags(line[2])


def flags(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text))


def plain(text: str) -> str:
    return " ".join(Text.from_markup(text).plain.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there_with_its_options(name: str) -> None:
    options = [one for one in COMMANDS[name].params if one.param_type_name == "option"]
    assert section(name) or f"`{name}`" in PAGE
    every = {flag for one in options for flag in (*one.opts, *one.secondary_opts)}
    assert {one.opts[0] for one in options} <= taken(name) <= every


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_text_is_there_once(name: str) -> None:
    text = PAGE.replace("&lt;", "<").replace("\\|", "|")
    for one in COMMANDS[name].params:
        assert plain(one.help or "").partition(" [default: ")[0] in text
    first, *others = map(plain, (COMMANDS[name].help or "").split("\n\n"))
    assert text.count(first) == 1
    # Commands of one kind have the same exit codes.
    section = text[text.index(first) :].partition("\n### ")[0]
    codes = re.findall("Exit code.*", " ".join(others))
    assert [section.count(part) for part in codes] == [1] * len(codes)


def test_every_key_of_a_configuration_is_there() -> None:
    lines = PAGE.partition("\n## A run over several benchmarks\n")[2].partition("\n## ")[0]
    for where, kind in (("Of the run", RunConfig), ("Of each benchmark", BenchmarkConfig)):
        (line,) = re.findall(rf"^{where}: (.*)$", lines, re.MULTILINE)
        assert set(re.findall(r"`(\w+)`", line)) == set(kind.model_fields)


def test_every_environment_variable_of_calls_is_there() -> None:
    part = PAGE.partition("\n## Environment\n")[2]
    found = re.findall(r"^- `(CALIPER_\w+)`.*: \w", part, re.MULTILINE)
    assert found == [variable(CallSettings, field) for field in CallSettings.model_fields]


def test_every_bound_of_media_is_there() -> None:
    page = (ROOT / "docs" / "media.md").read_text("utf-8")
    rows = re.findall(r"^\| `(MEDIA_\w+)` \| ([\d,]+) \| \w", page, re.MULTILINE)
    fields = MediaSettings.model_fields.items()
    assert rows == [(name.upper(), f"{field.default:,.0f}") for name, field in fields]
