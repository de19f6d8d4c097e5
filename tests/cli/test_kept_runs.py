"""Run directories that an earlier commit wrote (tests/kept): shown, compared and taken up again."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command
from tests.fakes.kept_runs import FIGURES, KEPT, by_words, evaluate, replies, write_config

from caliper.cli.exits import Exit

CALLS = json.loads((KEPT / "calls.json").read_text())


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The kept runs and their data, in the test's own folder."""
    return Path(shutil.copytree(KEPT, tmp_path / "kept"))


def assert_figures(run: Path, expected: str) -> None:
    for name in FIGURES:
        assert (run / name).read_bytes() == (KEPT / expected / name).read_bytes(), name


async def taken_up(kept: Path, run: str) -> int:
    """Run the judged configuration into a kept run's directory; gives the calls that it made."""
    async with ChatServer(otherwise=by_words) as chat:
        model = f"tgi:{chat.url}"
        config = write_config(kept / "data", "judged", model, model)
        await asyncio.to_thread(Command(kept), *evaluate(kept, config, run), code=Exit.DONE)
        return len(chat.requests)


@pytest.mark.parametrize("run", ["first", "judged"])
def test_the_report_is_written_anew_to_the_byte(kept: Path, run: str) -> None:
    for name in FIGURES:
        (kept / run / name).unlink()
    Command(kept)("report", run, "--quiet", code=Exit.DONE)
    assert_figures(kept / run, run)


@pytest.mark.parametrize("command", ["compare", "leaderboard"])
def test_kept_runs_are_compared_as_before(kept: Path, command: str) -> None:
    found = Command(kept)(command, "first", "second", "--json").told
    assert found == json.loads((KEPT / f"{command}.json").read_text())


def test_an_interrupted_run_has_a_partial_report(kept: Path) -> None:
    told = Command(kept)("report", "interrupted", "--json", code=Exit.NO).told
    assert told["state"] != "complete"
    coverage = [part["coverage"] for part in told["benchmarks"].values()]
    assert 0 < sum(part["scored"] for part in coverage) < sum(part["planned"] for part in coverage)


async def test_an_interrupted_run_ends_like_one_that_was_not_and_asks_nothing_again(
    kept: Path,
) -> None:
    known = replies(kept / "interrupted.store")
    assert 0 < known < CALLS
    assert await taken_up(kept, "interrupted") == CALLS - known
    assert_figures(kept / "interrupted", "judged")


async def test_without_its_replies_the_journal_tells_what_had_ended(kept: Path) -> None:
    shutil.rmtree(kept / "interrupted.store")
    run = kept / "interrupted"
    replied = (run / "state" / "journal.jsonl").read_text().count('"reply":')
    written = (run / "captions.jsonl").read_text().count('"benchmark": "captionqa"')
    assert replied > 0 < written
    assert await taken_up(kept, "interrupted") == CALLS - replied - written
    assert_figures(kept / "interrupted", "judged")


async def test_an_ended_run_asks_nothing(kept: Path) -> None:
    assert await taken_up(kept, "judged") == 0
    assert_figures(kept / "judged", "judged")
