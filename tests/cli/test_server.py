"""An installation in one process, served and called by the command line."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.fakes.command import Command, without_media
from tests.fakes.sources import EXAMPLES

EVALUATE = ("evaluate", "--config", "careful.yaml", "--limit", 2)
QUESTIONS = EXAMPLES / "captionqa" / "questions.json"
CAPTIONED = ("evaluate", "captionqa", "--data", QUESTIONS, "--captioner", "step")


@pytest.fixture(autouse=True)
def _examples(tmp_path: Path) -> None:
    for name in ("careful", "careless"):
        without_media(tmp_path, name)


@pytest.fixture
def server(caliper: Command) -> Iterator[str]:
    with caliper.serving("--store", "there") as address:
        yield address


def test_a_run_over_there_has_the_report_of_one_here(
    server: str, caliper: Command, tmp_path: Path
) -> None:
    wanted = (*EVALUATE, "--recipe", "published")
    here = caliper(*wanted, "--out", "here", "--json")
    there = caliper(*wanted, "--server", server, "--out", "elsewhere", "--json")
    assert there.out == here.out, there.err
    assert "published figures were judged by GPT-4-Turbo" in there.err
    assert there.told["benchmarks"]["comprecap"]["settings"]["weights"] == "table2"
    assert there.code == here.code
    written = (tmp_path / "elsewhere" / "report.json").read_text("utf-8")
    assert written == here.out
    (listed,) = caliper("runs", "--server", server, "--json", code=0).told
    told = json.loads(here.out)
    assert listed["state"] == told["state"]
    watched = caliper("watch", listed["run"], "--server", server)
    assert watched.code == there.code
    assert listed["run"] in watched.out
    assert caliper("cancel", listed["run"], "--server", server, code=0).out.count(told["state"])
    report = ("report", listed["run"], "--server", server)
    assert caliper(*report, "--json").out == here.out
    shown = caliper(*report, "--out", "files")
    assert shown.code == there.code
    assert "CaptionQA" in shown.out
    names = {file.name for file in (tmp_path / "elsewhere").iterdir()}
    assert {file.name for file in (tmp_path / "files").iterdir()} == names
    assert (tmp_path / "files" / "report.json").read_text("utf-8") == here.out


def test_a_run_judged_in_part_over_there_has_the_report_of_one_here(
    server: str, caliper: Command
) -> None:
    part = ("evaluate", "--config", "careful.yaml", "--judge-share", "0.3", "--json")
    here = caliper(*part, "--out", "here", code=0)
    there = caliper(*part, "--server", server, code=0)
    assert there.out == here.out, there.err
    assert there.told["benchmarks"]["captionqa"]["coverage"]["unscored"]["not_drawn"] > 0
    assert "complete, judged in part" in caliper("runs", "--server", server, code=0).out


def test_a_complete_run_over_there_says_since_when(server: str, caliper: Command) -> None:
    asked = (*EVALUATE, "--coverage-floor", 0, "--server", server)
    first = caliper(*asked, "--json", code=0).told
    again = caliper(*asked, "--json", code=0).told
    since = again.pop("already_ended")
    assert again == first
    told = f"Already complete since {since[:10]} {since[11:16]} UTC; nothing was asked."
    assert told in caliper(*asked, code=0).out
    assert caliper(*asked, "--quiet", code=0).out == ""


def test_runs_over_there_are_compared_and_gated_as_they_are_here(
    server: str, caliper: Command, tmp_path: Path
) -> None:
    strict = (*EVALUATE, "--set", "reply_reading=strict")
    careless = ("evaluate", "--config", "careless.yaml", "--limit", 2)
    there = []
    for number, command in enumerate((careless, EVALUATE, strict)):
        caliper(*command, "--out", f"here-{number}", "--quiet")
        caliper(*command, "--server", server, "--quiet")
        known = [run["run"] for run in caliper("runs", "--server", server, "--json").told]
        there += [run for run in known if run not in there]
    here = [f"here-{number}" for number in range(3)]
    over_there = ("--server", server)
    told = caliper("compare", *there, *over_there, "--anyway", "--json", code=0)
    assert told.out == caliper("compare", *here, "--anyway", "--json", code=0).out
    assert "capability setting reply_reading: lenient / strict" in told.err
    assert caliper("compare", *there[:2], *over_there, code=0).out.count("CaptionQA") == 2
    refused = caliper("compare", *there, *over_there, code=2)
    assert refused.err == caliper("compare", *here, code=2).err
    assert "setting reply_reading: lenient / strict" in refused.err
    ranked = ("leaderboard", "--anyway", "--json")
    board = caliper(*ranked, *there, *over_there, code=0)
    assert board == caliper(*ranked, *here, code=0)
    assert {row["name"] for row in board.told[0]["rows"]} >= {f"careful ({there[1]})"}
    assert "named" in caliper("leaderboard", *over_there, code=2).err
    assert "no run" in caliper("leaderboard", "0" * 16, *over_there, code=2).err
    page = ("compare", *there[:2], *over_there, "--html", "there.html", "--quiet")
    caliper(*page, code=0)
    assert "verdicts got better" in (tmp_path / "there.html").read_text()
    check = {"benchmark": "captionqa", "figure": "overall.score", "max_drop": 1.0}
    (tmp_path / "policy.yaml").write_text(json.dumps({"checks": [check]}))
    gate = ("gate", "--policy", "policy.yaml", "--json")
    decided = caliper(*gate, *there[:2], *over_there)
    assert decided == caliper(*gate, *here[:2])
    assert decided.told["decision"] in ("passed", "inconclusive")


def test_a_run_that_nobody_started_is_bad_input(server: str, caliper: Command) -> None:
    for command in ("watch", "report"):
        ended = caliper(command, "0" * 16, "--server", server, code=2)
        assert "no run" in ended.err


def test_data_that_cannot_be_planned_are_refused_here(
    server: str, caliper: Command, tmp_path: Path
) -> None:
    rows = json.loads((EXAMPLES / "captionqa" / "questions.json").read_text("utf-8"))
    del rows[3]["id"]
    (tmp_path / "broken.json").write_text(json.dumps(rows, indent=0))
    captions = EXAMPLES / "captions" / "careful" / "captionqa.json"
    command = ("evaluate", "captionqa", "--data", "broken.json", "--captions", captions, "--json")
    here = caliper(*command, code=2)
    there = caliper(*command, "--server", server, code=2)
    assert there.err == here.err
    assert "broken.json:282: id: missing" in there.err
    assert not (tmp_path / "there" / "datasets").exists()
    assert caliper("runs", "--server", server, "--json").told == []


def test_why_a_run_failed_is_told_however_little_is_shown(
    server: str, caliper: Command, tmp_path: Path
) -> None:
    caliper("data", "push", "captionqa", QUESTIONS, "--server", server, code=0)
    (kept,) = (tmp_path / "there" / "datasets").rglob("questions.json")
    kept.write_text("[{}]")
    captions = EXAMPLES / "captions" / "careful" / "captionqa.json"
    data = ("--data", QUESTIONS, "--captions", captions)
    for flag in ("--json", "--quiet"):
        ended = caliper("evaluate", "captionqa", *data, "--server", server, flag, code=1)
        assert "The run failed: " in ended.err
        assert "not the files that were pushed" in ended.err
        assert ended.out == ""
    (listed,) = caliper("runs", "--server", server, "--json").told
    for command in ("watch", "report"):
        ended = caliper(command, listed["run"], "--server", server, "--quiet", code=1)
        assert listed["error"] in ended.err


def test_a_run_over_there_that_is_not_complete_says_so_when_quiet(
    server: str, caliper: Command, tmp_path: Path
) -> None:
    captions = json.loads((EXAMPLES / "captions" / "careful" / "captionqa.json").read_text("utf-8"))
    (tmp_path / "some.json").write_text(json.dumps(dict(list(captions.items())[1:])), "utf-8")
    data = ("captionqa", "--data", QUESTIONS, "--captions", "some.json", "--coverage-floor", 1)
    here = caliper("evaluate", *data, "--out", "here", code=1).out
    there = ("--server", server)
    ended = caliper("evaluate", *data, *there, "--quiet", code=1)
    assert ended.out == ""
    (reason,) = ended.err.splitlines()
    assert reason in here
    assert reason.startswith("Incomplete: CaptionQA: 122 of 128 questions scored (")
    assert "6 no_caption" in reason
    (listed,) = caliper("runs", *there, "--json").told
    watched = ("watch", listed["run"], *there)
    for words in (("evaluate", *data, *there), watched, (*watched, "--quiet")):
        assert caliper(*words, code=1).err == ended.err
    report = ("report", listed["run"], *there)
    assert caliper(*report, "--quiet", code=1).err == ended.err
    for words in (("evaluate", *data, *there), watched, report):
        assert "Incomplete" not in caliper(*words, "--json", code=1).err


def test_files_of_others_are_not_replaced_by_a_report_from_over_there(
    server: str, caliper: Command, tmp_path: Path
) -> None:
    theirs = tmp_path / "docs" / "report.md"
    theirs.parent.mkdir()
    theirs.write_text("mine")
    there = ("--server", server, "--quiet")
    refused = caliper(*EVALUATE, *there, "--out", "docs", code=2)
    assert "Error: docs: contains report.md, not part of a served run's report; " in refused.err
    assert caliper("runs", "--server", server, "--json").told == []

    # The same command again works.
    same = (*EVALUATE, "--coverage-floor", 0, *there, "--out", "served")
    caliper(*same, code=0)
    first = (tmp_path / "served" / "report.json").read_bytes()
    (tmp_path / "served" / "report.md").unlink()
    caliper(*same, code=0)
    assert (tmp_path / "served" / "report.md").exists()
    another = "Error: served: holds the report of another run (careful); "
    assert another in caliper(*same, "--seed", 2, code=2).err
    (listed,) = caliper("runs", "--server", server, "--json").told

    strict = (*EVALUATE, "--set", "reply_reading=strict", *there)
    assert another in caliper(*strict, "--coverage-floor", 0, "--out", "served", code=2).err
    assert caliper("runs", "--server", server, "--json").told == [listed]
    caliper(*strict)
    runs = caliper("runs", "--server", server, "--json").told
    (other,) = (run["run"] for run in runs if run != listed)
    for folder, said in (("served", another), ("docs", "contains report.md")):
        assert said in caliper("report", other, *there, "--out", folder, code=2).err
    caliper("report", listed["run"], *there, "--out", "served", code=0)
    assert (tmp_path / "served" / "report.json").read_bytes() == first
    assert theirs.read_text() == "mine"


def test_what_an_installation_decides_by_itself_is_refused(caliper: Command) -> None:
    for flag in ("--store", "--pack"):
        ended = caliper(*EVALUATE, "--server", "127.0.0.1:1", flag, "mine", code=2)
        assert f"Error: {flag[2:]}: an installation " in ended.err


def test_a_checkpoint_over_there_needs_a_name(caliper: Command) -> None:
    told = caliper(*CAPTIONED, "--server", "127.0.0.1:1", code=2).err
    assert "Error: name: an installation's captioner stands for any checkpoint" in told
    assert "--name" in told
    # As in one process, the name of other captions is none of the checkpoint's.
    config = yaml.safe_load((EXAMPLES / "careful.yaml").read_text("utf-8"))
    del config["name"]
    for part in config["benchmarks"].values():
        part.update({key: str(EXAMPLES / part[key]) for key in ("data", "media", "captions")})
    del config["benchmarks"]["captionqa"]["captions"]
    config["benchmarks"]["captionqa"]["captioner"] = "step"
    (caliper.folder / "mixed.yaml").write_text(yaml.safe_dump(config))
    mixed = caliper("evaluate", "--config", "mixed.yaml", "--server", "127.0.0.1:1", code=2)
    assert "Error: name: an installation's captioner" in mixed.err


def test_a_gateway_that_is_not_there_is_trouble_outside(caliper: Command) -> None:
    caliper(*EVALUATE, "--server", "127.0.0.1:1", code=4)


def test_the_doctor_finds_no_problem(server: str, caliper: Command) -> None:
    told = caliper("doctor", "--server", server, code=0).out
    assert f"{server} answers, and has no runs yet" in told
