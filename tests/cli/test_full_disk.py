"""A disk with no room: simulated by a bound on the size of files, which ends in the same."""

import shutil
from pathlib import Path

import pytest
from tests.fakes import tiny
from tests.fakes.command import Command
from tests.fakes.verdict_lines import verdict_lines

SAMPLES = 1_500
FLAGS = ("evaluate", "capability", "--data", "data", "--captions", "captions", "--quiet", "--out")
WRITTEN = ("report.json", "report.md", "report.html", "verdicts.jsonl", "verdicts.parquet")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run that had room for everything in `whole`."""
    folder = tmp_path_factory.mktemp("disk")
    tiny.write_scenes(folder, SAMPLES)
    Command(folder)(*FLAGS, "whole", code=0)
    return folder


@pytest.fixture
def run(root: Path, request: pytest.FixtureRequest) -> Path:
    return root / request.node.name


def assert_whole(root: Path, run: Path) -> None:
    for name in WRITTEN:
        assert (run / name).read_bytes() == (root / "whole" / name).read_bytes(), name


def test_a_full_disk_loses_nothing(root: Path, run: Path) -> None:
    ended = Command(root, file_bytes=200_000)(*FLAGS, run.name, code=4)
    assert "disk full; free some space" in ended.err
    assert "Traceback" not in ended.err
    done = len(verdict_lines(run))
    assert done > 500  # Captions of 153 kB fit, and two thirds of the journal.
    Command(root)(*FLAGS, run.name, code=0)
    assert tiny.execution(run)["jobs"] <= SAMPLES - done + 1
    assert_whole(root, run)


def test_a_disk_that_is_full_when_reports_are_written(root: Path, run: Path) -> None:
    copied = Path(shutil.copytree(root / "whole", run))
    (copied / "execution.json").unlink()
    for name in WRITTEN:
        (copied / name).unlink()
    ended = Command(root, file_bytes=300_000)(*FLAGS, copied.name, code=4)
    assert "disk full; free some space" in ended.err
    Command(root)(*FLAGS, copied.name, code=0)
    assert tiny.execution(copied)["jobs"] == 0
    assert_whole(root, copied)


def test_a_disk_that_is_full_before_anything_is_planned(root: Path, run: Path) -> None:
    assert (
        "disk full; free some space" in Command(root, file_bytes=100)(*FLAGS, run.name, code=4).err
    )
    Command(root)(*FLAGS, run.name, code=0)
    assert_whole(root, run)
