import asyncio
from pathlib import Path

import pytest
from tests.fakes import runs
from tests.fakes.clock import FakeClock
from tests.fakes.command import Command
from tests.fakes.examiner_jobs import FIVE, RIGHT, a_job
from tests.fakes.stores import MemoryStore

from caliper.cli.progress import LOG_SECONDS, ProgressLog, run_watcher
from caliper.core.messages import Verdicts
from caliper.core.outcome import Verdict


@pytest.mark.parametrize(
    ("captioning", "line"),
    [
        (False, "captionqa 4 of 5 (80%), 0.1/s, 0 min left"),
        (True, "captionqa captions 0 of 1 (0%), 0.0/s; captionqa 4 of 5 (80%), 0.1/s, 0 min left"),
    ],
)
async def test_without_a_terminal_there_is_a_line_every_half_minute(
    capsys: pytest.CaptureFixture[str], captioning: bool, line: str
) -> None:
    spec, clock = runs.spec(), FakeClock()
    planned = await runs.planned(spec, FIVE, MemoryStore())
    job = await a_job(spec)
    verdicts = tuple(Verdict(index, RIGHT) for index in range(3))
    with run_watcher(spec, clock, quiet=False, captioning=captioning) as log:
        assert isinstance(log, ProgressLog)
        log.on_plan(planned.summary)
        log.on_resume("captionqa", 1)
        await asyncio.sleep(0)
        log.on_verdicts(job, Verdicts(spec.run_id, "captionqa", job.sample, verdicts))
        await asyncio.sleep(0)
    assert clock.slept[0] == LOG_SECONDS
    begun = clock.now().replace(second=30, minute=0)
    assert capsys.readouterr().err.splitlines()[0] == f"{begun:%H:%M:%S} UTC  {line}"


async def test_nothing_is_said_of_a_run_that_is_over(capsys: pytest.CaptureFixture[str]) -> None:
    clock = FakeClock()
    with ProgressLog(clock, captioning=False):
        pass
    await asyncio.sleep(0)
    assert (clock.slept, capsys.readouterr().err) == ([], "")


def test_the_headline_figures_end_a_run(caliper: Command, config: Path) -> None:
    printed = caliper("evaluate", "--config", config, "--out", "run").out.splitlines()
    *headlines, _, place = printed[-5:]
    assert [line.split(":")[0] for line in headlines] == ["CAPability", "CaptionQA", "CompreCap"]
    assert all(any(character.isdigit() for character in line) for line in headlines)
    labels = ("average, F1", "Overall, mean of the domains", "S-unified")
    for line, label in zip(headlines, labels, strict=True):
        assert label in line
    assert place == "run/report.html"
