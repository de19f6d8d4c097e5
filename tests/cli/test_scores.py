"""All three benchmarks in one run over recorded replies: every figure worked out by hand."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import tiny
from tests.fakes.command import Command, Ended

FILES = {
    *("run.yaml", "captions.jsonl", "verdicts.jsonl", "verdicts.parquet"),
    *("report.json", "report.md", "report.html", "execution.json"),
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    root = tmp_path_factory.mktemp("scores")
    tiny.write_all(root)
    ended = Command(root)("evaluate", "--config", "all.yaml", "--out", "run", "--json", code=0)
    return root, ended


@pytest.fixture(scope="module")
def report(ran: tuple[Path, Ended]) -> Any:
    return json.loads((ran[0] / "run" / "report.json").read_text())


def rows(root: Path) -> list[dict[str, Any]]:
    return tiny.read_lines(root / "run" / "verdicts.jsonl")


def test_the_report_is_the_only_thing_on_standard_output(ran: tuple[Path, Ended]) -> None:
    root, ended = ran
    assert ended.out == (root / "run" / "report.json").read_text()
    assert ended.err.startswith("Warning: captionqa: 2 questions cannot be used")


def test_every_file_of_a_run_directory_is_there(ran: tuple[Path, Ended]) -> None:
    kept = {path.name for path in (ran[0] / "run").iterdir()}
    assert kept == FILES | {"state"}


def test_capability(report: Any) -> None:
    found = report["benchmarks"]["capability"]
    # Scores 1, -1 and 0, and no reply for c4; the QA knows c1 and c3, of which c3 went untold.
    assert found["tasks"]["object_color"] == pytest.approx(
        {
            "precision": 50,
            "recall": 100 / 3,
            "f1": 40,
            "hit_rate": 200 / 3,
            "n_scored": 3,
            "n_unscored": 1,
            "qa_accuracy": 200 / 3,
            "kt_bar": 50,
            "qa_n_scored": 3,
            "qa_n_unscored": 0,
        }
    )
    halves = {"precision": 50, "recall": 50, "f1": 50, "hit_rate": 100}
    counts = {"n_scored": 2, "n_unscored": 0}
    # How many labels the judge lists is a matter of category tasks.
    for task, labels in (
        ("camera_angle", {"labels": 1, "f1_one": 50}),
        ("dynamic_object_number", {}),
    ):
        assert found["tasks"][task] == {**halves, **counts, **labels}
    assert found["average"] == pytest.approx(
        {
            "precision": 50,
            "recall": 400 / 9,
            "f1": 140 / 3,
            "hit_rate": 800 / 9,
            "qa_accuracy": 200 / 3,
            "kt_bar": 50,
        }
    )
    assert found["coverage"]["unscored"] == {"no_reply": 1}


def test_captionqa(report: Any) -> None:
    found = report["benchmarks"]["captionqa"]
    # Of nat_1 one is right and one of five choices is "cannot": .25. Of doc_1 one is wrong.
    natural = {
        "score": 62.5,
        "accuracy": 50,
        "cannot": 50,
        "cannot_of_all": 50,
        "n_scored": 2,
        "n_unscored": 0,
    }
    document = {
        "score": 0,
        "accuracy": 0,
        "cannot": None,
        "cannot_of_all": 0,
        "n_scored": 1,
        "n_unscored": 2,
    }
    assert found["domains"] == {"natural": natural, "document": document}
    assert found["categories"]["natural"] == {"Attribute": natural}
    assert found["categories"]["document"]["Layout"]["score"] == 0
    assert found["subcategories"]["natural"] == {"Attribute - Color": natural}
    by_domains, by_questions = (found["overall_by"][name] for name in ("domains", "questions"))
    assert found["overall"] == by_domains
    assert by_domains["score"] == 31.25
    assert by_questions["score"] == pytest.approx(125 / 3)
    assert (by_questions["cannot"], by_questions["cannot_of_all"]) == pytest.approx((50, 100 / 3))
    assert found["coverage"] == {
        "planned": 10,
        "askable": 8,
        "scored": 7,
        "share": 7 / 8,
        "unscored": {"bad_ground_truth": 2, "no_reply": 1},
    }
    assert found["utility_gap"] == {"natural": 37.5, "document": 50, "overall": 43.75}


def test_comprecap(report: Any) -> None:
    found = report["benchmarks"]["comprecap"]
    # S-Cov: three pixels at .8, the shared one at 1, one at .4, over five. Unified: .25 x 100
    # + .35 x 20 x 3 + .40 x 20 x 5.
    scores = {name: found[name] for name in found if name.startswith("s_")}
    assert scores == pytest.approx(
        {"s_object": 100, "s_attribute": 3, "s_relation": 5, "s_cov": 76, "s_unified": 86}
    )
    assert found["compreqa"] == {"p": 100}


def paths(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(tree, dict) and tree.keys() != {"low", "high", "method"}:
        for name, below in tree.items():
            yield from paths(below, (*path, name))
    else:
        yield path


def test_intervals_stand_beside_the_figures_that_they_are_of(report: Any) -> None:
    for part in report["benchmarks"].values():
        for path in paths(part["intervals"]):
            figure, interval = part, part["intervals"]
            for name in path:
                figure, interval = figure[name], interval[name]
            assert interval["low"] <= figure <= interval["high"], path


def test_what_the_report_rests_on_is_told(report: Any) -> None:
    assert (report["schema"], report["state"], report["partial"]) == (1, "complete", False)
    assert report["benchmarks"]["captionqa"]["settings"]["overall"] == "domains"
    assert report["benchmarks"]["comprecap"]["models"]["judge"].startswith("replay (replay, ")
    assert set(report["spec"]["data"]) == {"capability", "captionqa", "comprecap"}


def test_verdicts_tell_outcome_reply_and_reason(ran: tuple[Path, Ended]) -> None:
    told = rows(ran[0])
    assert [row["index"] for row in told] == list(range(26))
    by_item = {(row["benchmark"], row["item"], row["question"]): row for row in told}
    missing = next(row for row in told if row["item"] == "object_color/c4")
    assert (missing["outcome"], missing["score"], missing["reason"]) == (
        "unscored",
        None,
        "no_reply",
    )
    right = by_item["captionqa", "qa/doc_1", "Is it signed?"]
    assert (right["outcome"], right["score"], right["reply"]) == ("correct", 1, "Yes")
    first = next(row for row in told if row["item"] == "object_color/c1")
    assert (first["task"], first["sample_id"], first["explanation"]) == (
        "object_color",
        "object_color/c1",
        "it says red",
    )
    assert json.loads(first["reply"])["score"] == 1


def test_captions_that_were_examined_are_kept(ran: tuple[Path, Ended]) -> None:
    kept = tiny.read_lines(ran[0] / "run" / "captions.jsonl")
    assert len(kept) == 10
    assert kept[-1] == {
        "benchmark": "comprecap",
        "sample": "park.jpg",
        "caption": "A dog catches a frisbee.",
    }


def test_execution_tells_how_it_went(ran: tuple[Path, Ended]) -> None:
    told = tiny.execution(ran[0] / "run")
    assert (told["state"], told["jobs"], told["models"]) == ("complete", 16, {})
    assert told["started"].endswith("+00:00")


def test_questions_about_the_media_of_every_task(tmp_path: Path) -> None:
    """CAPability-QA of the examples, by flags, every answer right: KT-bar is what went untold."""
    examples = Path(__file__).parents[2] / "examples"
    for file in (examples / "capability_qa").glob("*.jsonl"):
        told = [
            {"question_id": row["question_id"], "response": row["answer"]}
            for row in tiny.read_lines(file)
        ]
        tiny.lines(tmp_path / "answers" / file.name, told)
    ended = Command(tmp_path)(
        *("evaluate", "capability", "--data", examples / "capability", "--json"),
        *("--captions", examples / "captions" / "careless" / "capability"),
        *("--qa", examples / "capability_qa", "--qa-replies", "answers"),
        code=0,
    )
    found = ended.told["benchmarks"]["capability"]
    assert len(found["tasks"]) == 13
    for task, figures in found["tasks"].items():
        assert figures["qa_accuracy"] == 100, task
        # Bounds that hold for any data (protocols.md); with all known they meet.
        assert figures["kt_bar"] == pytest.approx(100 - figures["recall"]), task
    bars = [figures["kt_bar"] for figures in found["tasks"].values()]
    assert found["average"]["kt_bar"] == pytest.approx(sum(bars) / 13)
    assert found["models"]["media"].startswith("replay")


def test_missing_replies_under_the_floor_leave_the_run_finished(
    caliper: Command, config: Path
) -> None:
    ended = caliper("evaluate", "--config", config, "--coverage-floor", "0.99", code=1)
    assert "Incomplete: CAPability: 10 of 11 questions scored (90.91%, 99% needed)" in ended.out
    assert "10 of 11 askable questions scored; unscored: 1 no_reply" in ended.out
    (kept,) = caliper.folder.glob("runs/tiny-*/report.json")
    assert json.loads(kept.read_text())["state"] == "finished"
    # What a recording does not hold is not looked for again.
    again = caliper("evaluate", "--config", config, "--coverage-floor", ".99", code=1)
    assert "nothing was asked" in again.out
