"""Run directories of which a file is damaged or lost."""

from pathlib import Path

import pytest
from tests.fakes.command import Command

ADVICE = "; rerun the command that made the run to compute it again\n"


@pytest.fixture
def run(caliper: Command, config: Path) -> tuple[object, ...]:
    words = ("evaluate", "--config", config, "--quiet", "--out", "runs/one")
    caliper(*words, code=0)
    return words


@pytest.mark.parametrize(
    "words",
    [("report", "one"), ("compare", "one", "one"), ("explain", "one", "doc_0"), ("leaderboard",)],
    ids=lambda words: words[0],
)
def test_damaged_verdicts_are_named_and_mended(
    caliper: Command, run: tuple[object, ...], words: tuple[str, ...]
) -> None:
    (segment,) = caliper.folder.glob("runs/one/state/verdicts/*/00000000.jsonl.gz")
    segment.write_bytes(segment.read_bytes()[:40])
    said = caliper(*words, code=2).err
    place = segment.relative_to(caliper.folder)
    assert said.startswith(f"Error: {place}: broken segment: ")
    assert said.endswith(ADVICE)
    caliper(*run, code=0)
    caliper("report", "one", code=0)


def test_lost_verdicts_are_named(caliper: Command, run: tuple[object, ...]) -> None:
    (segment,) = caliper.folder.glob("runs/one/state/verdicts/*/00000000.jsonl.gz")
    segment.unlink()
    place = segment.relative_to(caliper.folder)
    assert caliper("report", "one", code=2).err == f"Error: {place}: missing from the store{ADVICE}"
