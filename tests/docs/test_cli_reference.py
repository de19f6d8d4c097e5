"""docs/cli.md is what the code says, whatever the terminal is like."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fakes.sources import python_path

ROOT = Path(__file__).parents[2]
SCRIPT = Path("tools/cli_reference.py")


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
    for file in (SCRIPT, SCRIPT.with_name("generated.py"), Path("docs/cli.md")):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


@pytest.mark.parametrize(
    "surroundings",
    [{"COLUMNS": "40"}, {"COLUMNS": "200", "FORCE_COLOR": "1"}, {"NO_COLOR": "1", "TERM": "dumb"}],
)
def test_the_committed_page_is_up_to_date_on_every_terminal(surroundings: dict[str, str]) -> None:
    done = run(ROOT, "--check", **surroundings)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_stale_page_is_told_and_written_anew(copy: Path) -> None:
    page = copy / "docs" / "cli.md"
    right = page.read_text("utf-8")
    page.write_text(right.replace("--judge", "--arbiter"), encoding="utf-8")
    stale = run(copy, "--check")
    assert stale.returncode == 1
    assert stale.stderr == "docs/cli.md is not up to date: run `make docs`\n"
    assert run(copy).returncode == 0
    assert page.read_text("utf-8") == right


def test_an_unknown_option_is_bad_usage(copy: Path) -> None:
    assert run(copy, "--chek").returncode == 2
