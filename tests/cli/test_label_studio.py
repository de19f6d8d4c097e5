"""Tasks for people in Label Studio, and what becomes of their labels."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from tests.fakes import tiny
from tests.fakes.command import Command, with_runs
from tests.fakes.label_studio import export
from tests.fakes.sources import EXAMPLES

from caliper.cli.labels import read_studio_labels
from caliper.core.errors import InvalidInput, NotReady
from caliper.core.report import Coverage
from caliper.core.run import RunState
from caliper.local.directory import RunDirectory
from caliper.pipeline.comparing import question_verdicts as module
from caliper.pipeline.comparing.question_verdicts import Questions, judged_questions

Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """A folder with the runs careless and strict: the same captions read strictly."""
    folder, strict = tmp_path_factory.mktemp("label-studio"), ("--set", "reply_reading=strict")
    return with_runs(folder, with_media=True, careless=["careless"], strict=["careless", *strict])


@pytest.fixture(scope="module")
def drawn(ran: Command) -> Path:
    """Tasks of a random sample of thirty per task or domain."""
    ran("labels", "export", "careless", "--random", 30, "--out", "drawn", code=0)
    return ran.folder / "drawn"


@pytest.fixture(scope="module")
def questions(ran: Command) -> dict[str, Questions]:
    """The questions of the run careless by its id."""

    async def read() -> dict[str, Questions]:
        run = await RunDirectory(ran.folder / "runs/careless").stored_run.open()
        return {run.run: await judged_questions(run)}

    return asyncio.run(read())


def tasks_in(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text())
    return found


def test_tasks_hold_references_captions_and_verdicts(ran: Command, drawn: Path) -> None:
    rows = tiny.read_lines(ran.folder / "runs/careless/verdicts.jsonl")
    row_by_id = {row["question_id"]: row for row in rows}
    for path in drawn.glob("*.json"):
        root = path.with_suffix(".xml").read_text()
        interface = ET.fromstring(root)  # noqa: S314 - written here
        words = [tag.get("value") for tag in interface.iter("Choice")]
        shown = [tag.get("value") or tag.get("valueList") for tag in interface.iter()]
        for task in tasks_in(path):
            data, (prediction,) = task["data"], task["predictions"]
            row = row_by_id[data["question_id"]]
            urls = data.get("images") or [data["video"]]
            assert urls == [f"/data/local-files/?d={name}" for name in row["media"]]
            assert {f"${name}" for name in data} >= {one for one in shown if one and one[0] == "$"}
            assert (data["question"], data["expected"]) == (row["question"], row["expected"])
            assert prediction["model_version"] == row["judge"]
            assert prediction["result"][0]["value"]["choices"] == [data["verdict"]]
            assert data["verdict"] in words
            assert 0 < data["probability"] <= 1
    names = {path.name for path in drawn.iterdir()}
    assert "capability-video.xml" in names
    assert "captionqa-image.json" in names


def test_the_same_run_gives_the_same_bytes(ran: Command, drawn: Path) -> None:
    ran("labels", "export", "careless", "--random", 30, "--out", "again", code=0)
    for path in drawn.iterdir():
        assert (ran.folder / "again" / path.name).read_bytes() == path.read_bytes()


def test_doubtful_verdicts_come_first(ran: Command) -> None:
    rows = tiny.read_lines(ran.folder / "runs/careless/verdicts.jsonl")
    other = {
        (row["question_id"], row["repeat"]): row["score"]
        for row in tiny.read_lines(ran.folder / "runs/strict/verdicts.jsonl")
    }
    differ = {
        row["question_id"]
        for row in rows
        if other[row["question_id"], row["repeat"]] != row["score"]
    }
    told = ran("labels", "export", "careless", "strict", "--most", 20, "--out", "most", code=0)
    assert f"{min(20, len(differ))} of them doubtful" in told.out
    found = [task for path in (ran.folder / "most").glob("*.json") for task in tasks_in(path)]
    assert len(found) == 20
    assert all(task["data"]["probability"] is None for task in found)
    ended = ran(
        "labels", "export", "careless", "--most", 3, "--out", "x", "--media-prefix", "s3://b/"
    )
    assert ended.code == 0
    (path, *_) = (ran.folder / "x").glob("*.json")
    assert "s3://b/" in path.read_text()


def test_media_are_embedded_only_when_asked_for(ran: Command) -> None:
    flags = ("--most", 400, "--out", "embedded", "--embed-media")
    ran("labels", "export", "careless", *flags, code=0)
    assert not list((ran.folder / "embedded").glob("*video*"))
    task = tasks_in(ran.folder / "embedded/capability-image.json")[0]
    kind, _, data = task["data"]["images"][0].partition(",")
    assert kind == "data:image/jpeg;base64"
    assert base64.b64decode(data).startswith(b"\xff\xd8")


def test_agreement_with_people_in_label_studio(ran: Command, drawn: Path) -> None:
    tasks = [drawn / "captionqa-image.json"]
    first = json.loads(tasks[0].read_text())[0]["data"]["question_id"]
    people = {
        1: lambda data: data["verdict"],
        "ben@example.org": lambda data: None if data["question_id"] == first else data["verdict"],
    }
    count = len(export(tasks, people, ran.folder / "labels.json"))
    ended = ran("agreement", "careless", "--labels", "labels.json", "--json", code=0)
    assert f"people: 2; labels: {2 * count - 1}; skipped: 1; doubtful questions: 0\n" in ended.err
    found = ended.told["captionqa"]["all"]
    assert (found["questions"], found["accuracy"]["value"]) == (count, 1.0)
    assert set(ended.told["captionqa"]) >= {"natural", "document"}


def test_figures_as_people_see_them(ran: Command, drawn: Path) -> None:
    tasks = [drawn / "captionqa-image.json", drawn / "comprecap-image.json"]
    export(tasks, {1: lambda data: data["verdict"]}, ran.folder / "agreed.json")
    flags = ("--labels", "agreed.json", "--width", 5)
    told = ran("labels", "estimate", "careless", *flags, "--json", code=0).told
    report = json.loads((ran.folder / "runs/careless/report.json").read_text())["benchmarks"]
    natural = told["benchmarks"]["captionqa"]["domains.natural.score"]
    score = report["captionqa"]["domains"]["natural"]["score"]
    assert natural["judge"] == pytest.approx(score)
    assert natural["these"][0] < natural["value"] < natural["these"][1]
    assert natural["value"] == pytest.approx(score, abs=5)
    assert natural["labels_needed"] > 0
    # All of the smaller domains is labelled, so all of them are known.
    overall = told["benchmarks"]["captionqa"]["overall.score"]
    assert overall["these"][0] < overall["value"] < overall["these"][1]
    assert 0 <= told["benchmarks"]["comprecap"]["attribute.mean_score"]["value"] <= 5
    shown = ran("labels", "estimate", "careless", *flags, code=0).out
    assert "these questions" in shown


def test_labels_of_everything_are_the_figure(ran: Command) -> None:
    ran("labels", "export", "careless", "--random", 1000, "--out", "every", code=0)
    wrong = {1: lambda _: "wrong"}
    export([ran.folder / "every/captionqa-image.json"], wrong, ran.folder / "wrong.json")
    told = ran("labels", "estimate", "careless", "--labels", "wrong.json", "--json", code=0).told
    natural = told["benchmarks"]["captionqa"]["domains.natural.score"]
    assert (natural["value"], natural["these"]) == (0, [0, 0])


def test_labels_of_a_sample_and_of_the_rest_of_a_larger_one_are_those_of_the_larger(
    ran: Command, drawn: Path
) -> None:
    ran("labels", "export", "careless", "--random", 45, "--out", "larger", code=0)
    name, people = "captionqa-image.json", {1: lambda data: data["verdict"]}
    known = {task["data"]["question_id"] for task in tasks_in(drawn / name)}
    rest = [
        one
        for one in tasks_in(ran.folder / "larger" / name)
        if one["data"]["question_id"] not in known
    ]
    assert rest
    (ran.folder / "rest.json").write_text(json.dumps(rest))
    export([drawn / name], people, ran.folder / "first.json")
    export([ran.folder / "rest.json"], people, ran.folder / "second.json")
    export([ran.folder / "larger" / name], people, ran.folder / "all.json")
    command = ("labels", "estimate", "careless", "--json", "--labels")
    both, larger = (
        ran(*command, *files, code=0).told["benchmarks"]["captionqa"]["overall.score"]
        for files in (("first.json", "--labels", "second.json"), ("all.json",))
    )
    for field in ("value", "these", "labels"):
        assert both[field] == pytest.approx(larger[field])


def test_estimates_need_a_random_sample(ran: Command) -> None:
    ran("labels", "export", "careless", "--out", "doubtful", code=0)
    tasks = [ran.folder / "doubtful/captionqa-image.json"]
    export(tasks, {1: lambda data: data["verdict"]}, ran.folder / "doubtful.json")
    ended = ran("labels", "estimate", "careless", "--labels", "doubtful.json", code=2)
    assert "export with --random" in ended.err
    ended = ran("labels", "estimate", "careless", "--labels", "labels.jsonl", code=2)
    assert "labels.jsonl" in ended.err


def test_an_estimate_says_what_was_judged_in_part(ran: Command) -> None:
    flags = ("--config", EXAMPLES / "careless.yaml", "--quiet", "--out", "runs/part")
    ran("evaluate", *flags, "--judge-share", "0.5", code=0)
    ran("labels", "export", "part", "--random", 1000, "--out", "part", code=0)
    people = {1: lambda data: data["verdict"]}
    export([ran.folder / "part/captionqa-image.json"], people, ran.folder / "part.json")
    command = ("labels", "estimate", "part", "--labels", "part.json")
    report = json.loads((ran.folder / "runs/part/report.json").read_text())["benchmarks"]
    undrawn = report["captionqa"]["coverage"]["unscored"]["not_drawn"]
    assert ran(*command, "--json", code=0).told["undrawn"] == {"captionqa": undrawn}
    assert "captionqa: judged in part: 50" in ran(*command, code=0).out


@pytest.mark.parametrize(
    ("judging", "state", "told"),
    [("until sure", RunState.DECIDED, "not at random"), ("", RunState.RUNNING, "is running, not")],
)
def test_what_was_not_judged_at_random_is_no_sample(
    monkeypatch: pytest.MonkeyPatch, judging: str, state: RunState, told: str
) -> None:
    coverage = {"captionqa": Coverage(10, 4, {"not_drawn": 6})}
    monkeypatch.setattr(module, "run_status", lambda *_: (state, coverage))
    run = SimpleNamespace(run="r", spec=SimpleNamespace(judging=judging), summary=None, ledger=None)
    with pytest.raises(NotReady, match=told):
        module.sampled_coverages(run)


@pytest.mark.parametrize(
    ("change", "field", "told"),
    [
        (lambda task: task["data"].update(run="x"), "run", "a verdict of run x, not of "),
        (lambda task: task["data"].update(question="Why?"), "question", "no such question"),
        (lambda task: task["data"].update(question_id="q"), "question", "no such question"),
        (lambda task: task["data"].update(verdict="odd"), "verdict", "has changed since to"),
        (lambda task: task["data"].update(probability=2), "probability", "at most 1"),
        (lambda task: task["data"].pop("run"), "run", "expected text"),
        (lambda task: task.update(data=[]), "data", "expected an object"),
        (lambda task: task.update(annotations=3), "annotations", "expected a list"),
        (lambda task: task.pop("annotations"), "annotations", "JSON or JSON-MIN"),
        (lambda task: task["annotations"][0].pop("result"), "result", "expected a list"),
        (lambda task: task["annotations"][0]["result"].clear(), "label", "expected one choice"),
        (
            lambda task: task["annotations"][0]["result"][0]["value"].update(choices=["odd"]),
            "label",
            "the question has no 'odd'; it can have: wrong, cannot answer, correct",
        ),
        (lambda task: task["annotations"][0].update(completed_by={}), "completed_by", "a person"),
        (
            lambda task: task["annotations"].append(task["annotations"][0]),
            "label",
            "1 labelled the question twice",
        ),
    ],
)
def test_what_does_not_fit_is_named(
    tmp_path: Path,
    drawn: Path,
    questions: dict[str, Questions],
    change: Change,
    field: str,
    told: str,
) -> None:
    path = tmp_path / "odd.json"
    tasks = export([drawn / "captionqa-image.json"], {1: lambda data: data["verdict"]}, path)
    change(tasks[2])
    path.write_text(json.dumps(tasks))
    with pytest.raises(InvalidInput) as caught:
        read_studio_labels([path], questions)
    assert str(caught.value).startswith(f"{path}:1: entry 3: {field}: task 3: ")
    assert told in str(caught.value)
