"""`caliper report` beside a process that works on the run: it would write a report of the past over
that of the end.
"""

from pathlib import Path

import pytest
from tests.fakes.command import Command

from caliper.local.directory import RunDirectory

FIGURES = ("report.json", "report.html", "verdicts.jsonl")


@pytest.fixture
def run(caliper: Command, config: Path) -> RunDirectory:
    caliper("evaluate", "--config", config, "--quiet", "--out", "run", code=0)
    return RunDirectory(caliper.folder / "run")


@pytest.mark.parametrize("flag", ["--json", "--quiet", None])
def test_a_run_in_use_is_shown_and_none_of_its_files_is_written(
    caliper: Command, run: RunDirectory, flag: str | None
) -> None:
    words = ("report", "run", *filter(None, [flag]))
    shown = caliper(*words, code=0).out
    for name in FIGURES:
        (run.path / name).unlink()
    with run.claim(run.read_spec()):
        ended = caliper(*words, code=0)
    assert not [name for name in FIGURES if (run.path / name).exists()]
    assert ended.err == "Another process is working on this run: its files stay as they are.\n"
    # The page that was not written is not pointed at.
    assert ended.out == shown.replace("\nrun/report.html\n", "")
    assert caliper(*words, code=0).out == shown
    assert all((run.path / name).exists() for name in FIGURES)
