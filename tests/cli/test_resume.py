import gzip
import json
import shutil
import signal
import time
from pathlib import Path

import pytest
import yaml
from bench.synthetic import write_capability
from tests.fakes import tiny
from tests.fakes.command import Background, Command, end
from tests.fakes.verdict_lines import keep_lines, verdict_lines

SAMPLES = 1_100
FLAGS = ("evaluate", "capability", "--data", "data", "--captions", "captions", "--quiet", "--out")
MADE_OF_OUTCOMES = ("report.json", "report.md", "report.html", "verdicts.jsonl", "verdicts.parquet")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 1,100 samples, and in `whole` the run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("resume")
    write_capability(folder, SAMPLES)
    Command(folder)(*FLAGS, "whole", code=0)
    return folder


@pytest.fixture
def run(root: Path, request: pytest.FixtureRequest) -> Path:
    return root / request.node.name.replace("[", "-").strip("]")


@pytest.fixture
def copied(root: Path, run: Path) -> Path:
    return Path(shutil.copytree(root / "whole", run))


def started(root: Path, run: Path, kept: int) -> Background:
    """The command, so far that so many of its verdicts are kept."""
    process = Command(root).start(*FLAGS, run.name)
    while len(verdict_lines(run)) < kept:
        assert process.poll() is None, "the run ended before it could be disturbed"
        # A file of another process that grows: nothing tells us but looking.
        time.sleep(0.005)
    return process


def assert_whole(root: Path, run: Path) -> None:
    for name in MADE_OF_OUTCOMES:
        assert (run / name).read_bytes() == (root / "whole" / name).read_bytes(), name


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, 130), (signal.SIGINT, 130)]
)
def test_a_run_that_is_ended_goes_on_where_it_was(
    root: Path, run: Path, number: signal.Signals, code: int
) -> None:
    ended = end(started(root, run, 100), number)
    assert ended.code == code
    assert "Traceback" not in ended.err
    if number != signal.SIGKILL:
        assert "Interrupted. Rerun the same command to resume." in ended.err
    done = len(verdict_lines(run))
    assert 100 <= done < SAMPLES
    if number == signal.SIGKILL:
        shown = Command(root)("report", run.name, code=1)
        assert "Incomplete: the run is running;" in shown.out
        assert json.loads((run / "report.json").read_text())["partial"] is True
        assert "the run is running, not complete" in Command(root)("validate", run.name, code=1).err
    Command(root)(*FLAGS, run.name, code=0)
    assert tiny.execution(run)["jobs"] < SAMPLES - 50
    assert_whole(root, run)


def test_a_plan_that_is_not_whole_is_made_again(root: Path, copied: Path) -> None:
    (copied / "run.yaml").unlink()
    (copied / "state" / "plan" / "summary.json").unlink()
    (copied / "state" / "plan" / "000001.jsonl.gz").unlink()
    (copied / "execution.json").unlink()
    Command(root)(*FLAGS, copied.name, code=0)
    assert tiny.execution(copied)["jobs"] == 0
    assert_whole(root, copied)


def test_a_plan_that_is_damaged_is_made_again(root: Path, copied: Path) -> None:
    (copied / "state" / "plan" / "000000.jsonl.gz").write_bytes(b"garbage")
    Command(root)(*FLAGS, copied.name, code=0)
    assert_whole(root, copied)


def test_a_run_directory_that_is_damaged_is_told(root: Path, copied: Path) -> None:
    shard = copied / "state" / "plan" / "000000.jsonl.gz"
    whole = verdict_lines(copied)
    keep_lines(copied, [whole[0].replace(b'"index":', b'"index":x', 1), *whole[1:]])
    ended = Command(root)("validate", copied.name, code=2)
    assert "00000000.jsonl.gz: the segment has no verdict at a place" in ended.err
    keep_lines(copied, whole)
    shard.write_bytes(shard.read_bytes()[:-100])
    ended = Command(root)("report", copied.name, code=2)
    assert "plan/000000.jsonl.gz: broken shard" in ended.err
    (copied / "state" / "plan" / "summary.json").unlink()
    assert "has no complete plan" in Command(root)("report", copied.name, code=2).err


def test_killed_while_writing_reports(root: Path, copied: Path) -> None:
    (copied / "report.html").unlink()
    (copied / "execution.json").unlink()
    (copied / "report.json").write_text("of an earlier, partial state")
    (copied / ".verdicts.parquet.0123abcd.part").write_bytes(b"half")
    Command(root)(*FLAGS, copied.name, code=0)
    assert tiny.execution(copied)["jobs"] == 0
    assert_whole(root, copied)


def test_reports_older_than_the_verdicts_are_written_again(root: Path, copied: Path) -> None:
    """Killed after the last outcome of a second round, before its reports."""
    whole = verdict_lines(copied)
    keep_lines(copied, whole[:-50])
    process = started(root, copied, len(whole) - 49)
    end(process, signal.SIGKILL)
    (copied / "report.json").write_text("of before")
    Command(root)(*FLAGS, copied.name, code=0)
    assert_whole(root, copied)


def test_verdicts_that_were_changed_after_the_end_are_no_scores(root: Path, copied: Path) -> None:
    for segment in copied.glob("state/verdicts/*/*.jsonl.gz"):
        lines = gzip.decompress(segment.read_bytes())
        assert b'"score":"-1"' in lines
        segment.write_bytes(gzip.compress(lines.replace(b'"score":"-1"', b'"score":"1"')))
    Command(root)(*FLAGS, copied.name, code=0)
    assert_whole(root, copied)


def test_report_files_that_are_lost_or_changed_are_written_again(root: Path, copied: Path) -> None:
    for name in ("captions.jsonl", "report.html"):
        (copied / name).unlink()
    (copied / "report.json").write_text("{}")
    Command(root)(*FLAGS, copied.name, code=0)
    assert_whole(root, copied)


def test_an_unchanged_second_run_asks_nothing_and_writes_nothing(root: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (root / "whole").glob("*.*")}
    told = Command(root)(*(word for word in FLAGS if word != "--quiet"), "whole", code=0)
    assert "nothing was asked." in told.out
    after = {path: path.stat().st_mtime_ns for path in (root / "whole").glob("*.*")}
    assert {path.name for path in after if after[path] != before.get(path)} == {"run.yaml"}


def test_the_same_bytes_wherever_and_however_it_is_run(caliper: Command, config: Path) -> None:
    """Other folders, another concurrency, another order of the benchmarks in the file."""
    caliper("evaluate", "--config", config, "--quiet", "--out", "first", code=0)
    moved = caliper.folder / "moved"
    moved.mkdir()
    for path in list(caliper.folder.iterdir()):
        if path.name not in ("first", "moved", ".store"):
            path.rename(moved / path.name)
    written = yaml.safe_load((moved / "all.yaml").read_text())
    turned = dict(reversed(written.pop("benchmarks").items()))
    text = yaml.safe_dump({"benchmarks": turned, **written}, sort_keys=False)
    (moved / "all.yaml").write_text(text)
    (caliper.folder / "work").mkdir()
    Command(caliper.folder / "work")(
        *("evaluate", "--config", "../moved/all.yaml", "--concurrency", "1", "--quiet"), code=0
    )
    (second,) = caliper.folder.glob("work/runs/tiny-*")
    for name in MADE_OF_OUTCOMES:
        assert (second / name).read_bytes() == (caliper.folder / "first" / name).read_bytes(), name


def test_run_yaml_is_a_configuration(caliper: Command, config: Path) -> None:
    caliper("evaluate", "--config", config, "--quiet", "--out", "first", code=0)
    kept = yaml.safe_load((caliper.folder / "first" / "run.yaml").read_text())
    (caliper.folder / "work").mkdir()
    elsewhere = Command(caliper.folder / "work")
    again = ("evaluate", "--config", "../first/run.yaml")
    assert elsewhere("plan", *again[1:], "--json", code=0).told["run"] == kept["run"]
    assert "nothing was asked" in elsewhere(*again, "--out", "../first", code=0).out
    changed = elsewhere("plan", *again[1:], "--seed", "1", "--json", code=0).told
    assert changed["run"] != kept["run"]


def test_how_a_run_went_is_no_part_of_what_it_found(caliper: Command, config: Path) -> None:
    caliper("evaluate", "--config", config, "--quiet", "--out", "run", code=0)
    run = caliper.folder / "run"
    before = (run / "report.json").read_bytes()
    (run / "execution.json").write_text(json.dumps({"schema": 1, "state": "failed"}))
    assert caliper("report", "run", "--json", code=0).out.encode() == before
    for word in (str(caliper.folder), run.name + "/", "started", "seconds", "peak_memory"):
        assert word.encode() not in before, word
