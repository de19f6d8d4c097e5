"""Standard streams that the shell closes, and what a command then does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fakes import tiny
from tests.fakes.process_forks import PLAIN

EVALUATE = (
    *("evaluate", "captionqa", "--data", "captionqa.json"),
    *("--captions", "captions/captionqa.json", "--coverage-floor", "0", "--out", "run"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tiny.write_all(tmp_path)
    return tmp_path


def ended(folder: Path, closed: str, *words: str) -> tuple[int, str, str]:
    """The exit code and output of a command whose streams `closed` are closed."""
    script = f'exec "$0" -m caliper.cli "$@" {closed}'
    command = ("sh", "-c", script, sys.executable, *words)
    told = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": PLAIN["PYTHONPATH"]},
        input="",
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    return told.returncode, told.stdout, told.stderr


def test_a_run_without_streams_is_one_with_them(folder: Path) -> None:
    # It warns of a row that cannot be used.
    assert ended(folder, "<&- >&- 2>&-", *EVALUATE)[:2] == (0, "")
    assert (folder / "run" / "report.html").is_file()
    assert ended(folder, "<&- >&- 2>&-", "report", "run", "--json") == (0, "", "")
    for words in (("report", "run"), ("validate", "run")):
        assert ended(folder, ">&-", *words) == (0, "", "")


def test_errors_are_told_without_standard_output(folder: Path) -> None:
    code, _, err = ended(folder, ">&-", "validate", "nowhere", "--quiet")
    assert (code, err) == (2, "Error: nowhere: no such file or folder\n")
    assert ended(folder, "2>&-", "validate", "nowhere") == (2, "", "")
