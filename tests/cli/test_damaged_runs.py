"""Run directories of which a file is damaged or lost."""

import shutil
from pathlib import Path

import pytest
from tests.fakes import tiny
from tests.fakes.command import Command

ADVICE = "; rerun the command that made the run to compute it again\n"


EVALUATE = ("evaluate", "--config", "all.yaml", "--quiet", "--out", "runs/one")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run, to be copied."""
    folder = tmp_path_factory.mktemp("whole")
    tiny.write_all(folder)
    Command(folder)(*EVALUATE, code=0)
    return folder


@pytest.fixture
def caliper(whole: Path, tmp_path: Path) -> Command:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    return Command(tmp_path)


@pytest.mark.parametrize(
    "words",
    [("report", "one"), ("compare", "one", "one"), ("explain", "one", "doc_0"), ("leaderboard",)],
    ids=lambda words: words[0],
)
def test_damaged_verdicts_are_named_and_mended(caliper: Command, words: tuple[str, ...]) -> None:
    (segment,) = caliper.folder.glob("runs/one/state/verdicts/*/00000000.jsonl.gz")
    segment.write_bytes(segment.read_bytes()[:40])
    said = caliper(*words, code=2).err
    place = segment.relative_to(caliper.folder)
    assert said.startswith(f"Error: {place}: broken segment: ")
    assert said.endswith(ADVICE)
    caliper(*EVALUATE, code=0)
    caliper("report", "one", code=0)


def test_lost_verdicts_are_named(caliper: Command) -> None:
    (segment,) = caliper.folder.glob("runs/one/state/verdicts/*/00000000.jsonl.gz")
    segment.unlink()
    place = segment.relative_to(caliper.folder)
    assert caliper("report", "one", code=2).err == f"Error: {place}: missing from the store{ADVICE}"
