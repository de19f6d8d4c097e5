import asyncio
from fractions import Fraction
from pathlib import Path
from unittest.mock import Mock

import pytest
from tests.fakes import runs
from tests.fakes.clock import FakeClock
from tests.fakes.command import Command
from tests.fakes.examiner_jobs import FIVE, RIGHT, a_job
from tests.fakes.sources import EXAMPLES
from tests.fakes.stores import MemoryStore

from caliper.cli import progress
from caliper.cli.console import ERR
from caliper.cli.progress import LOG_SECONDS, ProgressLog, ProgressWatcher, run_watcher
from caliper.core.messages import ExamineJob, Verdicts
from caliper.core.outcome import Verdict
from caliper.core.tally import Tally
from caliper.local.config import read_config
from caliper.local.run import evaluate
from caliper.local.setup import prepare
from caliper.pipeline.ledger.averages import PlannedAverages
from caliper.wiring.clock import SystemClock
from caliper.wiring.models import Access


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
        log.on_plan(planned.summary, lambda *_: ())
        log.on_resume("captionqa", 1)
        await asyncio.sleep(0)
        log.on_verdicts(job, Verdicts(spec.run_id, "captionqa", job.sample, verdicts))
        await asyncio.sleep(0)
    assert clock.slept[0] == LOG_SECONDS
    begun = clock.now().replace(second=30, minute=0)
    assert capsys.readouterr().err.splitlines()[0] == f"{begun:%H:%M:%S} UTC  {line}"


@pytest.mark.parametrize(("count", "end"), [(1, " (lacks Document)"), (2, "")])
async def test_a_running_average_says_which_domains_it_lacks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, count: int, end: str
) -> None:
    monkeypatch.setattr(ERR, "width", 200)
    monkeypatch.setattr(progress, "_REFRESH", 0.0)
    spec, rows = runs.spec(), runs.choice_rows(2, 1, ("natural", "document"))
    planned = await runs.planned(spec, {"captionqa": runs.sources(rows, {})}, MemoryStore())
    averages = PlannedAverages(spec)
    averages.add(planned.items)
    items = sorted(planned.items, key=lambda item: item.sample)
    with ProgressWatcher(spec, captioning=False) as bars:
        bars.on_plan(planned.summary, averages.lacking)
        for item in items[:count]:
            job = ExamineJob(spec.run_id, "captionqa", item.sample, None, (item,))
            verdicts = tuple(Verdict(index, RIGHT) for index, _, _ in item.positions())
            bars.on_verdicts(job, Verdicts(spec.run_id, "captionqa", item.sample, verdicts))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.rstrip().endswith(f"Overall, score 100.0{end}")


async def test_a_run_tells_what_its_averages_lack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = read_config(EXAMPLES / "careful.yaml")
    async with prepare(config, Access(), SystemClock()) as setup:
        watcher = Mock()
        await evaluate(setup, watcher, SystemClock())
    ((_, lacking), _) = watcher.on_plan.call_args
    tally = Tally()
    tally.add("caption/natural", "a picture", scored=Fraction(1))
    absent = lacking("captionqa", ("overall", "score"), tally)
    assert {"document", "ecommerce"} <= set(absent)
    assert "natural" not in absent


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
