"""`caliper explain` on kept runs: the story of one sample, whatever became of it."""

import json
import shutil
import tarfile
from pathlib import Path

import pytest
from tests.fakes.command import Command
from tests.fakes.kept_runs import KEPT

from caliper.cli.exits import Exit


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return Path(shutil.copytree(KEPT, tmp_path / "kept"))


@pytest.mark.parametrize(
    ("sample", "benchmark", "questions"),
    [
        ("object_color/c1", "capability", 1),
        ("nat_1", "captionqa", None),
        ("park.jpg", "comprecap", None),
    ],
)
def test_a_sample_of_each_benchmark_has_caption_judge_and_scores(
    kept: Path, sample: str, benchmark: str, questions: int | None
) -> None:
    told = Command(kept)("explain", "first", sample, "--json", code=Exit.DONE).told
    job = told["jobs"][0]
    assert job["benchmark"] == benchmark
    assert job["caption"]["text"]
    assert job["answerer"]
    assert job["planned"] == len(job["verdicts"]) == (questions or job["planned"])
    shown = Command(kept)("explain", "first", sample, code=Exit.DONE).out
    assert f"Caption (supplied): {job['caption']['text']}" in shown
    assert all(verdict["outcome"] in shown for verdict in job["verdicts"])


def test_an_unscored_question_tells_its_reason(kept: Path) -> None:
    shown = Command(kept)("explain", "judged", "doc_1", code=Exit.DONE).out
    assert "unscored: bad_ground_truth" in shown
    assert "questions[1].answer: '3' is none of the choices" in shown


def test_stored_replies_are_counted(kept: Path) -> None:
    where = ("interrupted", "object_color/c1", "--store", "interrupted.store", "--json")
    (job,) = Command(kept)("explain", *where, code=Exit.DONE).told["jobs"]
    run = Command(kept)("explain", *where, code=Exit.DONE).told["run"]
    assert job["replies"] == {run: 1}


def test_a_question_without_a_verdict_yet_is_counted(kept: Path) -> None:
    (kept / "judged" / "state" / "journal.jsonl").unlink()
    shown = Command(kept)("explain", "judged", "object_color/c1", code=Exit.DONE).out
    assert "Without a verdict yet: 1 of 1" in shown


def test_a_caption_cannot_control_the_terminal(kept: Path) -> None:
    file = kept / "first" / "captions.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        row["caption"] = "red \x1b[2J[bold]apple\nRun ended: complete"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    shown = Command(kept)("explain", "first", "object_color/c1", code=Exit.DONE).out
    assert "\x1b" not in shown
    assert r"red \x1b[2J[bold]apple\nRun ended: complete" in shown


def test_an_unknown_sample_names_similar_ones(kept: Path) -> None:
    said = Command(kept)("explain", "first", "object_color/c9", code=Exit.BAD_INPUT).err
    assert "no sample 'object_color/c9'" in said
    assert "'object_color/c1'" in said


@pytest.mark.parametrize("store", [(), ("--store", "empty")])
def test_an_unknown_run_is_one_clear_error(kept: Path, store: tuple[str, ...]) -> None:
    (kept / "empty").mkdir()
    said = Command(kept)("explain", "0123456789abcdef", "x", *store, code=Exit.BAD_INPUT).err
    assert said.startswith("Error: ")
    assert "0123456789abcdef" in said


def test_a_run_of_an_installation_is_read_from_its_store(kept: Path) -> None:
    with tarfile.open(kept / "store.tar.gz") as packed:
        packed.extractall(kept / "unpacked")  # noqa: S202 - our own
    (spec,) = (kept / "unpacked").glob("runs/*/spec.json")
    run, store = spec.parent.name, spec.parents[2]
    where = (run, "object_color/c1", "--store", store)
    told = Command(kept)("explain", *where, "--json", code=Exit.DONE).told
    assert (told["run"], told["state"]) == (run, "complete")
    assert told["jobs"][0]["replies"] == {run: 1}
    # By the event of the plan, which end.json has; the run was started before.
    assert told["planned_at"] == "2026-11-22T16:14:38.070000+00:00"
    assert told["started"] < told["planned_at"]
    shown = Command(kept)("explain", *where, code=Exit.DONE).out
    assert "Run ended: complete" in shown
    assert "Planned: 2026-11-22T16:14:38+00:00" in shown
    assert "Attempts: not stored; caliper dead-letters has those of failed jobs" in shown


def test_what_is_not_stored_is_not_claimed(kept: Path) -> None:
    told = Command(kept)("explain", "judged", "object_color/c1", "--json", code=Exit.DONE).told
    assert told["planned_at"] is None
    assert told["calls"] == {"fake/judge-8b (tgi, 0123456789ab)": {"calls": 27, "failed": 0}}
    shown = Command(kept)("explain", "judged", "object_color/c1", code=Exit.DONE).out
    assert "Planned: time not stored" in shown
    line = "Attempts: stored for the last command as a whole: 27 calls of fake/judge-8b (tgi, "
    assert f"{line}0123456789ab), 0 of them failed" in shown


def test_the_end_of_an_earlier_start_does_not_tell_when_the_last_was_planned(kept: Path) -> None:
    with tarfile.open(kept / "store.tar.gz") as packed:
        packed.extractall(kept / "unpacked")  # noqa: S202 - our own
    (started,) = (kept / "unpacked").glob("runs/*/started.json")
    started.write_text(json.dumps({**json.loads(started.read_text()), "starts": 2}))
    where = (started.parent.name, "object_color/c1", "--store", started.parents[2])
    told = Command(kept)("explain", *where, "--json", code=Exit.DONE).told
    assert told["planned_at"] is None
