import csv
import json
from pathlib import Path

import pytest
from tests.fakes import tiny
from tests.fakes.command import Command, with_runs
from tests.fakes.sources import EXAMPLES


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """A folder with the runs careful, careless, and strict: the careless captions read strictly."""
    strict = ("careless", "--set", "reply_reading=strict")
    folder = tmp_path_factory.mktemp("agreement")
    return with_runs(folder, careful=["careful"], careless=["careless"], strict=strict)


def test_agreement_of_two_judges(ran: Command) -> None:
    told = ran("agreement", "careless", "strict", "--json", code=0).told
    assert told["captionqa"]["all"]["accuracy"]["value"] == 1.0
    assert told["captionqa"]["all"]["cohen"]["value"] == 1.0
    assert "Cohen's kappa" in ran("agreement", "careless", "strict", code=0).out
    other = ran("agreement", "careful", "careless", code=2)
    assert "so their verdicts cannot be compared" in other.err
    assert "two or more raters" in ran("agreement", "careful", code=2).err


def test_agreement_with_people(ran: Command) -> None:
    rows = [
        row
        for row in tiny.read_lines(ran.folder / "runs/careless/verdicts.jsonl")
        if row["benchmark"] == "capability"
    ]
    labels = [{"question_id": row["question_id"], "score": row["score"]} for row in rows]
    labels[0]["score"] = 1 if labels[0]["score"] != 1 else -1
    labels[1]["score"] = None
    tiny.lines(ran.folder / "anna.jsonl", labels)
    told = ran("agreement", "careless", "--labels", "anna.jsonl", "--json", code=0).told
    found = told["capability"]["all"]
    assert found["questions"] == len(rows) - 1
    assert found["accuracy"]["value"] == pytest.approx((len(rows) - 2) / (len(rows) - 1), abs=1e-6)
    assert sum(map(sum, found["confusion"])) == len(rows) - 1
    ran("agreement", "careless", "--labels", "anna.jsonl", "--html", "people.html", code=0)
    assert "Runs: careless. Labels: anna.jsonl." in (ran.folder / "people.html").read_text()
    three = ran("agreement", "careless", *("--labels", "anna.jsonl") * 2, code=0)
    assert "Fleiss' kappa" in three.out


def test_what_the_choice_of_a_judge_does(ran: Command) -> None:
    files = (ran.folder / "judges.csv", ran.folder / "judges.md")
    words = ("agreement", "careless", "strict", "--csv", files[0], "--markdown", files[1])
    ran(*words, code=0)
    with files[0].open(encoding="utf-8", newline="") as lines:
        rows = {(row["benchmark"], row["run"], row["figure"]): row for row in csv.DictReader(lines)}
    reports = {
        name: json.loads((ran.folder / "runs" / name / "report.json").read_text())["benchmarks"]
        for name in ("careless", "strict")
    }
    for name in ("careless", "strict"):
        told = rows["captionqa", name, "overall.score"]
        assert float(told["value"]) == reports[name]["captionqa"]["overall"]["score"]
        assert "lexical-rules" in told["judge"]
    first, second = (reports[name]["capability"]["average"]["f1"] for name in reports)
    other = rows["capability", "strict", "average.f1"]
    assert float(other["difference"]) == pytest.approx(second - first)
    assert rows["capability", "careless", "average.f1"]["difference"] == ""
    agreed = ran("agreement", "careless", "strict", "--json", code=0).told["capability"]["all"]
    kappa = float(rows["capability", "strict", "Cohen's kappa"]["value"])
    assert kappa == agreed["cohen"]["value"]
    assert ("capability", "careless", "agreement") not in rows
    told = ran("agreement", "careless", "strict", "--json", "--html", "judges.html").told
    written, again = told["choice"]["capability"]
    assert written["figures"]["average.f1"]["value"] == first
    assert again["differences"]["average.f1"]["value"] == pytest.approx(second - first)
    assert again["agreement"]["cohen"]["value"] == kappa
    assert (again["run"], again["coverage"], again["throughput"]) == ("strict", 1.0, None)
    page = (ran.folder / "judges.html").read_text()
    assert "Choice of a judge or reader" in page
    assert f"{first:.2f}" in page
    assert page.count('class="charted"') == 6
    shown = files[1].read_text()
    assert "### CaptionQA" in shown
    assert "Cohen's kappa" in shown
    assert f"{first:.2f}" in shown


def of(caliper: Command, benchmark: str, dimension: str = "") -> str:
    """The id of a question of the careful run."""
    rows = tiny.read_lines(caliper.folder / "runs/careful/verdicts.jsonl")
    return next(
        row["question_id"]
        for row in rows
        if row["benchmark"] == benchmark and dimension in ("", row["task"])
    )


@pytest.mark.parametrize(
    ("benchmark", "dimension", "score", "told"),
    [
        ("capability", "", 2, "the question has no score of 2; it can have: -1, 0, 1"),
        ("capability", "", 0.5, "no score of 0.5"),
        ("captionqa", "", -1, "no score of -1"),
        ("comprecap", "attribute", 6, "it can have: 0, 1, 2, 3, 4, 5"),
        ("comprecap", "objects", 1, "the question is measured, not judged"),
    ],
)
def test_a_score_that_a_question_cannot_have_is_refused(
    ran: Command, benchmark: str, dimension: str, score: float, told: str
) -> None:
    known = {"question_id": of(ran, "capability"), "score": 0, "repeat": 7}
    wrong = {"question_id": of(ran, benchmark, dimension), "score": score}
    tiny.lines(ran.folder / "wrong.jsonl", [known, wrong])
    ended = ran("agreement", "careful", "--labels", "wrong.jsonl", code=2)
    assert "wrong.jsonl:2: score: " in ended.err
    assert told in ended.err


def test_labels_of_other_questions_are_counted(ran: Command) -> None:
    rows = [{"question_id": of(ran, "capability"), "score": 1}, {"question_id": "q", "score": 9}]
    tiny.lines(ran.folder / "more.jsonl", rows)
    ended = ran("agreement", "careful", "--labels", "more.jsonl", "--json", code=0)
    assert "1 of 2 labels are of questions that no run has" in ended.err
    assert ended.told["capability"]["all"]["questions"] == 1


def test_what_is_measured_is_no_opinion(ran: Command) -> None:
    """The objects of a picture are matched by rules and embeddings, whoever judges."""
    told = ran("agreement", "careless", "strict", "--json", code=0).told["comprecap"]
    assert "objects" not in told
    assert {"attribute", "relation", "all"} <= told.keys()


def told_of(file: Path) -> dict[tuple[str, ...], dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        return {(row["benchmark"], row["run"], row["figure"]): row for row in rows}


def over_one_text(caliper: Command, text: str) -> str:
    """A run of CaptionQA's examples with the same caption for every picture."""
    known = json.loads((EXAMPLES / "captions/careful/captionqa.json").read_text())
    (caliper.folder / "same.json").write_text(json.dumps(dict.fromkeys(known, text)))
    words = (
        "--data",
        EXAMPLES / "captionqa" / "questions.json",
        "--captions",
        "same.json",
        "--out",
        "runs/same",
    )
    caliper("evaluate", "captionqa", *words, "--quiet", code=0)
    return "runs/same"


def test_how_often_a_reader_says_that_captions_do_not_tell(ran: Command) -> None:
    same = over_one_text(ran, "A picture.")
    files = ("--csv", "blank.csv", "--markdown", "blank.md")
    ran("agreement", "careless", "strict", *files, "--blank", same, code=0)
    told = told_of(ran.folder / "blank.csv")
    report = json.loads((ran.folder / same / "report.json").read_text())["benchmarks"]["captionqa"]
    found = told["captionqa", "careless", "cannot % without a caption"]
    assert float(found["value"]) == report["overall"]["cannot"]
    told_again = ran("agreement", "careless", "strict", "--json", "--blank", same, code=0).told
    (one, _) = told_again["choice"]["captionqa"]
    assert one["cannot_without_caption"]["value"] == float(found["value"])
    # Rules are asked nothing, so how fast they are is not known.
    assert told["captionqa", "careless", "replies a second"]["value"] == ""
    assert "not known" in (ran.folder / "blank.md").read_text()
    ended = ran("agreement", "careless", "strict", "--csv", "b.csv", "--blank", "careless", code=2)
    assert "a blank run has one text" in ended.err
    ended = ran("agreement", "careless", "strict", "--blank", same, code=2)
    assert "--blank: needs --csv, --markdown, --html or --json" in ended.err


def test_throughput_is_what_the_run_says(ran: Command) -> None:
    folder = ran.folder / "runs" / "strict"
    written = (folder / "execution.json").read_text()
    report = json.loads((folder / "report.json").read_text())
    who = report["benchmarks"]["capability"]["models"]["judge"]
    spent = {"calls": 30, "failed": 6, "prompt_tokens": 2000, "completion_tokens": 400}
    spending = {**json.loads(written), "seconds": 12.0, "models": {who: spent}}
    (folder / "execution.json").write_text(json.dumps(spending))
    try:
        files = ("--csv", "pace.csv", "--html", "pace.html", "--json")
        told_again = ran("agreement", "careless", "strict", *files, code=0).told
    finally:
        (folder / "execution.json").write_text(written)
    (_, second) = told_again["choice"]["capability"]
    assert second["throughput"] == {"replies": 2.0, "tokens": 100.0}
    # Throughput against accuracy is drawn as points.
    assert "F1 against Replies per second" in (ran.folder / "pace.html").read_text()
    told = told_of(ran.folder / "pace.csv")
    assert float(told["capability", "strict", "replies a second"]["value"]) == 2.0
    assert float(told["capability", "strict", "tokens a reply"]["value"]) == 100.0
    assert told["capability", "careless", "replies a second"]["value"] == ""
