import csv
import json
import shutil
from pathlib import Path

import pytest
from tests.fakes.command import Command, with_runs
from tests.fakes.sources import EXAMPLES


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Command:
    folder = tmp_path_factory.mktemp("leaderboard")
    return with_runs(folder, careless=["careless"], careful=["careful"])


def test_all_runs_that_there_are(ran: Command) -> None:
    boards = json.loads(ran("leaderboard", "--json", code=0).out)
    assert [board["title"] for board in boards] == [
        "Headline figures",
        "CAPability",
        "CaptionQA",
        "CompreCap",
    ]
    for board in boards:
        assert [row["name"] for row in board["rows"]] == ["careful", "careless"]
        best, second = board["rows"]
        assert best["behind"] is None
        assert second["behind"]["value"] == pytest.approx(
            second["behind"]["second"] - second["behind"]["first"]
        )
    assert boards[2]["ranked_by"] == "Overall, mean of the domains"
    report = json.loads((ran.folder / "runs" / "careful" / "report.json").read_text())
    told = boards[1]["rows"][0]["estimates"][-1]["value"]
    assert told == report["benchmarks"]["capability"]["average"]["f1"]


def test_the_table_of_one_metric_in_every_format(ran: Command) -> None:
    flags = ("--benchmark", "capability", "--metric", "precision")
    files = ("--csv", "board.csv", "--markdown", "board.md", "--html", "board.html")
    shown = ran("leaderboard", "careless", "careful", *flags, *files, code=0)
    assert "CAPability, precision" in shown.out
    with (ran.folder / "board.csv").open() as text:
        rows = list(csv.DictReader(text))
    report = json.loads((ran.folder / "runs" / "careful" / "report.json").read_text())
    precision = report["benchmarks"]["capability"]["average"]["precision"]
    assert rows[0]["checkpoint"] == "careful"
    assert float(rows[0]["average"]) == precision
    assert len([name for name in rows[0] if not name.endswith(("low", "high"))]) == 20
    assert "| 1. careful |" in (ran.folder / "board.md").read_text()
    page = (ran.folder / "board.html").read_text()
    assert "<title>Leaderboard · Caliper</title>" in page
    assert '<th scope="row">1. careful' in page


def test_served_reports_and_damaged_runs_are_left_out(ran: Command, tmp_path: Path) -> None:
    shutil.copytree(ran.folder / "runs", tmp_path / "runs")
    report = tmp_path / "runs" / "careful" / "report.json"
    for name, text in (
        ("served", None),
        ("broken", "a: ["),
        ("emptied", ""),
        ("newer", "schema: 2"),
    ):
        folder = tmp_path / "runs" / name
        folder.mkdir()
        shutil.copy(report, folder)
        if text is not None:
            (folder / "run.yaml").write_text(text)
    ended = Command(tmp_path)("leaderboard", "--json", code=0)
    assert {row["name"] for row in ended.told[0]["rows"]} == {"careful", "careless"}
    broken, emptied, newer = ended.err.splitlines()
    assert broken.startswith("Warning: left out: runs/broken/run.yaml:1: not YAML: ")
    assert emptied == "Warning: left out: runs/emptied/run.yaml: not a run.yaml"
    assert newer.startswith("Warning: left out: runs/newer/run.yaml: schema: written with schema 2")


def test_what_cannot_be_ranked(ran: Command, tmp_path: Path) -> None:
    ended = ran("leaderboard", "--metric", "f1", code=2)
    assert "--metric: needs --benchmark" in ended.err
    ended = ran("leaderboard", "--benchmark", "captionqa", "--metric", "f1", code=2)
    assert "--metric: no metric f1; there are: " in ended.err
    assert "capability" in ran("leaderboard", "--benchmark", "smell", code=2).err
    assert "no run with a report below runs/" in Command(tmp_path)("leaderboard", code=2).err


def test_of_what_is_better_when_lower_the_lowest_is_first(ran: Command) -> None:
    flags = ("--benchmark", "captionqa", "--metric", "cannot_%", "--json")
    (board,) = json.loads(ran("leaderboard", *flags, code=0).out)
    place = [column["label"] for column in board["columns"]].index(board["ranked_by"])
    values = [row["estimates"][place]["value"] for row in board["rows"]]
    assert values == sorted(values)
    assert values[0] < values[1]


def test_two_runs_of_one_label_are_told_apart(ran: Command) -> None:
    report = json.loads(ran("compare", "careful", "careless", "--json", code=0).out)
    run = report["base"]["run"]
    boards = json.loads(ran("leaderboard", "careful", "careful", "careless", "--json", code=0).out)
    names = [row["name"] for row in boards[0]["rows"]]
    assert names == [f"careful ({run})", f"careful ({run})", "careless"]


def test_unlike_runs_are_refused_or_labelled(ran: Command) -> None:
    config = ("--config", EXAMPLES / "careful.yaml", "--quiet", "--out", "other")
    ran("evaluate", *config, "--set", "reply_reading=strict", code=0)
    assert "reply_reading" in ran("leaderboard", "careless", "other", code=2).err
    flags = ("--anyway", "--markdown", "unlike.md", "--html", "unlike.html", "--quiet")
    ran("leaderboard", "careless", "other", *flags, code=0)
    differs = "differs: capability setting reply\\_reading: lenient / strict"
    assert differs in (ran.folder / "unlike.md").read_text()
    assert "reply_reading: lenient / strict" in (ran.folder / "unlike.html").read_text()


def test_a_run_without_captions_of_two_tasks_is_refused_or_ranked_apart(ran: Command) -> None:
    """The better checkpoint, whose average is over the eleven other tasks."""
    captions = ran.folder / "eleven"
    shutil.copytree(EXAMPLES / "captions" / "careful" / "capability", captions)
    for task in ("action", "event"):
        (captions / f"{task}.jsonl").unlink()
    files = ("--data", EXAMPLES / "capability", "--captions", captions)
    flags = ("--name", "eleven", "--out", "runs/eleven", "--quiet")
    ran("evaluate", "capability", *files, *flags, code=1)

    ended = ran("leaderboard", "careless", "eleven", code=2)
    told = " ".join(ended.err.split())
    assert "(eleven) is finished, not complete (coverage " in told
    assert "add --partial" in told
    flags = ("--partial", "--benchmark", "capability")
    files = ("--markdown", "apart.md", "--csv", "apart.csv", "--html", "apart.html")
    (board,) = ran("leaderboard", "careless", "eleven", *flags, "--json", *files, code=0).told
    first, second = board["rows"]
    assert (first["name"], second["name"]) == ("careless", "eleven")
    assert second["estimates"][-1]["value"] > first["estimates"][-1]["value"]
    assert second["lacking"] == ["Action", "Event"]
    assert second["behind"]["without"] == ["action", "event"]
    assert len(second["behind"]["over"]) == 11
    for name in ("apart.md", "apart.csv", "apart.html"):
        assert "Action, Event" in (ran.folder / name).read_text()

    assert "not complete" in ran("compare", "careless", "eleven", code=2).err
    shown = ran("compare", "careless", "eleven", "--partial", "--html", "both.html", code=0)
    out = " ".join(shown.out.split())
    assert "eleven is finished, not complete: coverage " in out
    assert "over the 11 that both have; without Action, Event." in out
    page = (ran.folder / "both.html").read_text()
    assert "over the 11 that both have; without Action, Event" in page
    report = json.loads((ran.folder / "runs" / "careless" / "report.json").read_text())
    tasks = report["benchmarks"]["capability"]["tasks"]
    shared = [found["f1"] for task, found in tasks.items() if task not in ("action", "event")]
    figures = ran("compare", "careless", "eleven", "--partial", "--json", code=0).told
    average = figures["candidates"][0]["figures"]["capability"]["average.f1"]
    assert average["first"] == pytest.approx(sum(shared) / 11)
