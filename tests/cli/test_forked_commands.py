"""A command that the tests fork does what one does that people start."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes import tiny
from tests.fakes.command import Command

CAPTIONQA = ("--data", "captionqa.json", "--captions", "captions/captionqa.json")
WORDS = (
    ("evaluat",),
    ("evaluate", "captionqa", *CAPTIONQA, "--out", "run"),
    ("evaluate", "captionqa", *CAPTIONQA, "--out", "part", "--limit", "1", "--json"),
    ("validate", "run"),
    ("compare", "run", "part"),
)


@pytest.fixture
def forms(tmp_path: Path) -> tuple[Command, Command]:
    """The command forked and started, each with data of its own."""
    for name in ("forked", "started"):
        (tmp_path / name).mkdir()
        tiny.write_all(tmp_path / name)
    store = {"CALIPER_STORE": "there"}
    # The order of a set is another in every Python that is started: no result depends on it.
    seeded = {**store, "PYTHONHASHSEED": "1"}
    return Command(tmp_path / "forked", store), Command(tmp_path / "started", seeded)


def test_both_end_alike_and_write_alike(forms: tuple[Command, Command]) -> None:
    codes = set()
    for words in WORDS:
        forked, started = (caliper(*words) for caliper in forms)
        assert (words, forked) == (words, started)
        codes.add(forked.code)
    assert codes >= {0, 2}
    forked, started = (written(caliper.folder) for caliper in forms)
    assert set(forked) == set(started)
    for path in ("run/report.json", "part/report.json"):
        assert forked[path] == started[path]


def written(folder: Path) -> dict[str, bytes]:
    """The files below a folder by their names, without the time in those of the run index."""
    return {
        re.sub(r"(?<=run-index/)\d+", "", str(path.relative_to(folder))): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_variable_of_one_command_is_not_the_next_ones(tmp_path: Path) -> None:
    caliper = Command(tmp_path, {"CALIPER_TIMOUT": "3"})
    words = ("evaluate", "captionqa", *CAPTIONQA)
    before = Path.cwd()
    assert "CALIPER_TIMOUT" in caliper(*words, code=2).err
    assert "CALIPER_TIMOUT" not in replace(caliper, environment={})(*words, code=2).err
    assert Path.cwd() == before
