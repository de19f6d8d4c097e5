"""Lone surrogates, which strangers' JSON may hold and UTF-8 has no form for, in what is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from tests.fakes import tiny
from tests.fakes.command import Command

from caliper.cli.console import plain, write_json, write_out

NAME = "half \ud83d of a sign"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    tiny.write_scenes(tmp_path, 4)
    part = {"data": "data", "captions": "captions"}
    told = {"name": NAME, "out": "run", "benchmarks": {"capability": part}}
    path = tmp_path / "run.yaml"
    path.write_text(yaml.safe_dump(told))
    return path


def test_a_report_is_printed_as_its_file_has_it(
    caliper: Command, tmp_path: Path, config: Path
) -> None:
    evaluated = caliper("evaluate", "--config", config, "--json", code=0)
    assert evaluated.out == (tmp_path / "run" / "report.json").read_text()
    assert evaluated.told["name"] == NAME
    assert caliper("report", "run", "--json", code=0).out == evaluated.out


def test_people_are_shown_its_escape(caliper: Command, config: Path) -> None:
    caliper("evaluate", "--config", config, "--quiet", code=0)
    assert r"(half \ud83d of a sign)" in caliper("validate", "run", code=0).out


def test_what_others_wrote_stays_on_its_line() -> None:
    # As releases before took for a name: what the store holds of theirs is still listed.
    assert plain("a\nb \x1b[31mred\u202e [é]") == r"a\nb \x1b[31mred\u202e [é]"
    assert plain("[bold]") == r"\[bold]"
    assert plain(NAME) == r"half \ud83d of a sign"


def test_json_is_utf8_whatever_the_terminal_takes(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    write_json({"b": "\ud83d\xe9", "a": [1]})
    write_out('"\udcff"\n')
    written, _ = capsysbinary.readouterr()
    assert written == b'{\n  "b": "\\ud83d\xc3\xa9",\n  "a": [\n    1\n  ]\n}\n"\\udcff"\n'
    write_json({"b": 1, "a": 2}, sort_keys=True)
    written, _ = capsysbinary.readouterr()
    assert list(json.loads(written)) == ["a", "b"]
