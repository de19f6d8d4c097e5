"""`caliper analyze captionqa` on runs over the tiny data."""

import json
from pathlib import Path

import pytest
from tests.fakes import tiny
from tests.fakes.command import Command

CANNOT = "Cannot answer from the caption"
_DATA = ("--data", "captionqa.json", "--coverage-floor", "0.5")
_WHAT_THE_SHORT_CAPTIONS_TELL = {
    "nat_1": [tiny.answered(tiny.CAR, CANNOT), tiny.answered(tiny.CAR, CANNOT)],
    "doc_1": [tiny.answered("Is it signed?", "Yes"), tiny.answered("Who wrote it?", "Bob")],
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Runs of two models; one has short captions, too, and one another reader."""
    caliper = Command(tmp_path_factory.mktemp("analyze"))
    root = caliper.folder
    tiny.write_all(root)
    tiny.value(root / "short" / "replies.json", _WHAT_THE_SHORT_CAPTIONS_TELL)
    tiny.value(root / "few.json", {"nat_1": "A car.", "doc_1": "Paper."})
    detailed = ("--captions", "captions/captionqa.json")
    on_image = ("--qa-replies", "on_image")
    for name, *flags in (
        ("one", *detailed, "--reader", "replay:read#reader", *on_image, "--name", "one"),
        ("two", "--captions", "few.json", "--reader", "replay:short#reader", "--name", "two"),
        ("few", "--captions", "few.json", "--reader", "replay:short#reader", "--name", "one",
         "--prompt", "short"),
        ("other", *detailed, "--reader", "lexical", "--name", "one"),
    ):  # fmt: skip
        caliper("evaluate", "captionqa", *_DATA, *flags, "--quiet", "--out", f"runs/{name}", code=0)
    return caliper


def test_every_analysis_of_stored_runs(ran: Command) -> None:
    found = ran("analyze", "captionqa", "one", "two", "few", "other", "--json", code=0).told
    assert found["runs"] == ["one", "two", "one, short"]
    assert found["other_runs"] == ["one"]
    assert found["difficulty"]["models"] == 2
    (setup,) = found["stability"]["setups"]
    assert "reader" in setup["differing"][0]
    (change,) = found["prompts"]["changes"]
    assert (change["before"], change["after"], change["models"]) == ("simple", "short", ["one"])
    assert sum(map(sum, change["transitions"])) == 4
    assert [run["name"] for run in found["gap"]["runs"]] == ["one"]
    assert found["errors"]["errors"][1]["omitted"] == 2


def test_figures_are_those_of_the_report(ran: Command) -> None:
    report = json.loads((ran.folder / "runs/one/report.json").read_text())["benchmarks"][
        "captionqa"
    ]
    names = ("--only", "gap", "--only", "errors")
    found = ran("analyze", "captionqa", "one", *names, "--json", code=0).told
    assert found["difficulty"] is None
    assert found["errors"]["coverage"][0]["accuracy"] == report["overall"]["accuracy"] == 25
    (run,) = found["gap"]["runs"]
    gaps = {part["domain"]: part["score_gap"] for part in run["domains"]}
    assert gaps["natural"] == report["utility_gap"]["natural"] == 37.5
    # The report counts a question on the image that has no score on the caption, too.
    assert (gaps["document"], report["utility_gap"]["document"]) == (100, 50)


def test_tables_and_a_page(ran: Command) -> None:
    ended = ran("analyze", "captionqa", "one", "two", "few", "--html", "page.html", code=0)
    page = (ran.folder / "page.html").read_text()
    for title in ("By domain", "With fewer questions", "Gaps", "From simple to short", "Kinds of"):
        assert title in ended.out
        assert title in page
    assert "nat_1 #1: What colour is the car?" in page
    # Charts are drawn as for the other benchmarks.
    assert page.count('class="charted"') >= 5
    assert 'aria-label="score against words"' in page


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("one", "--only", "beauty"), "unknown analysis 'beauty'"),
        (("one", "one"), "have the same label, one, and caption prompt, simple"),
        (("nowhere",), "no run directory"),
    ],
)
def test_bad_input_is_one_error(ran: Command, words: tuple[str, ...], told: str) -> None:
    ended = ran("analyze", "captionqa", *words, code=2)
    assert told in ended.err
    assert ended.err.count("Error:") == 1


def test_runs_that_allow_no_analysis(ran: Command) -> None:
    ended = ran("analyze", "captionqa", "two", "--only", "gap", "--only", "prompts", code=0)
    assert "Utility gap: no run was asked about the pictures" in ended.out
    ended = ran("analyze", "captionqa", "two", "--only", "gap", code=3)
    assert "--qa" in ended.out


def test_other_benchmarks_and_incomplete_runs(caliper: Command, config: Path) -> None:
    flags = ("--data", "anno.json", "--captions", "captions/comprecap.json", "--quiet")
    caliper("evaluate", "comprecap", *flags, "--out", "scenes", code=0)
    assert "has no CaptionQA" in caliper("analyze", "captionqa", "scenes", code=2).err
    flags = ("--data", "captionqa.json", "--captions", "captions/captionqa.json", "--quiet")
    caliper("evaluate", "captionqa", *flags, "--reader", "replay:read", "--out", "part", code=1)
    assert "not complete" in caliper("analyze", "captionqa", "part", code=2).err
    told = caliper("analyze", "captionqa", "part", "--partial", "--json", code=0).told
    assert told["errors"]["errors"][0]["unscored"] == 1
    bad = [{**tiny.QUESTIONS[1], "questions": [tiny.QUESTIONS[1]["questions"][1]]}]
    tiny.value(caliper.folder / "bad.json", bad)
    flags = ("--data", "bad.json", "--captions", "captions/captionqa.json", "--quiet")
    caliper("evaluate", "captionqa", *flags, "--out", "bad")
    ended = caliper("analyze", "captionqa", "bad", "--partial", code=2)
    assert "has no question that can be scored" in ended.err
