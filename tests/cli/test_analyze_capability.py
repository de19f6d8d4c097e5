"""`caliper analyze capability` on runs over the tiny data."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command, Ended

_DATA = ("--data", "capability", "--captions", "captions/capability", "--coverage-floor", "0.5")
_QA = ("--qa", "capability_qa", "--qa-replies", "capability_answers")
_ANOTHER_JUDGE = {
    **tiny.JUDGED,
    "object_color": [
        {"file_id": "c1", "score": 1},
        {"file_id": "c2", "score": 1},
        {"file_id": "c3", "score": 0},
    ],
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Runs of two models with one judge, one of them twice and once with another judge."""
    caliper = Command(tmp_path_factory.mktemp("analyze"))
    tiny.write_all(caliper.folder)
    for task, rows in _ANOTHER_JUDGE.items():
        tiny.lines(caliper.folder / "judged_again" / f"{task}.jsonl", rows)
    first, other = ("--judge", "replay:judged#judge"), ("--judge", "replay:judged_again#other")
    for out, name, *flags in (
        ("one", "one", *first, *_QA),
        ("again", "one", *first, "--replicate", "1"),
        ("two", "two", "--judge", "replay:judged_again#judge"),
        ("other", "one", *other),
    ):
        named = ("--name", name, "--out", f"runs/{out}", "--quiet")
        caliper("evaluate", "capability", *_DATA, *flags, *named, code=0)
    return caliper


def test_every_analysis_of_stored_runs(ran: Command) -> None:
    found = ran("analyze", "capability", "one", "two", "again", "other", "--json", code=0).told
    assert found["runs"] == ["one", "two", "one, replicate 1"]
    assert found["other_runs"] == ["one"]
    (repeated,) = found["judging"]["repeated"]
    assert (repeated["name"], repeated["repeats"]) == ("one", 2)
    (pair,) = found["judging"]["judges"]
    assert pair["differing"] == ["capability model judge: judge (replay) / other (replay)"]
    agreements = {each["task"]: each["agreement"] for each in found["judging"]["agreements"]}
    # Of c1, c2 and c3 both judged; c4 has no verdict.
    assert agreements["object_color"]["questions"] == 3
    assert agreements["object_color"]["accuracy"]["value"] == pytest.approx(2 / 3, abs=1e-6)
    assert [run["name"] for run in found["kt_bar"]["runs"]] == ["one"]
    assert [run["words"] for run in found["length"]["runs"]] == [3, 3, 3]
    assert "--preparation" in found["sweeps"]["remark"]


def test_figures_are_those_of_the_report(ran: Command) -> None:
    written = json.loads((ran.folder / "runs/one/report.json").read_text())
    report = written["benchmarks"]["capability"]
    names = ("--only", "hits", "--only", "kt_bar")
    found = ran("analyze", "capability", "one", *names, "--json", code=0).told
    assert found["judging"] is None
    (run,) = found["hits"]["runs"]
    for name in ("precision", "recall", "f1", "hit_rate"):
        for task, figures in report["tasks"].items():
            assert run["tasks"][task][name]["value"] == pytest.approx(figures[name], abs=1e-6)
        assert run["tasks"]["average"][name]["value"] == pytest.approx(
            report["average"][name], abs=1e-6
        )
    assert run["unscored"] == 1
    (known,) = found["kt_bar"]["runs"]
    *tasks, average = known["tasks"]
    color = next(each for each in tasks if each["task"] == "object_color")
    assert (color["told"], color["wrong"], color["silent"], color["unscored"]) == (1, 0, 1, 0)
    assert average["kt_bar"]["value"] == report["average"]["kt_bar"] == 50


def test_tables_and_a_page(ran: Command) -> None:
    words = ("analyze", "capability", "one", "two", "other", "--html", "page.html")
    ended = ran(*words, code=0)
    page = (ran.folder / "page.html").read_text()
    for title in ("Averages over tasks", "KT-bar", "Averages by judge", "Length and score"):
        assert title in ended.out
        assert title in page
    assert page.count("<svg") > 10
    assert "CAPability analyses" in page
    # Fig. 3: an outline for each run.
    assert page.count('aria-label="F1 by task, as a radar"') == 1
    assert page.count("<g fill") == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("one", "--only", "beauty"), "unknown analysis 'beauty'"),
        (("one", "one"), "have the same label, one, preparation and replicate"),
        (("nowhere",), "no run directory"),
    ],
)
def test_bad_input_is_one_error(ran: Command, words: tuple[str, ...], told: str) -> None:
    ended = ran("analyze", "capability", *words, code=2)
    assert told in ended.err
    assert ended.err.count("Error:") == 1


def test_runs_that_allow_no_analysis(ran: Command) -> None:
    ended = ran("analyze", "capability", "two", "--only", "kt_bar", "--only", "judging", code=3)
    assert "Know but cannot tell: no run was asked about the media" in ended.out
    assert "--repeats 5" in ended.out


def test_other_data_other_questions_and_other_benchmarks(ran: Command) -> None:
    judge = ("--judge", "replay:judged#judge", "--quiet")
    rows = [tiny.element("object_color", "c1", {"apple": "green"})]
    tiny.lines(ran.folder / "less" / "object_color.jsonl", rows)
    captions = ("--captions", "captions/capability")
    ran("evaluate", "capability", "--data", "less", *captions, *judge, "--out", "less_run")
    ended = ran("analyze", "capability", "one", "less_run", "--partial", code=2)
    assert "have different data of CAPability" in ended.err
    rows = tiny.read_lines(ran.folder / "capability_qa" / "object_color.jsonl")
    tiny.lines(ran.folder / "few_qa" / "object_color.jsonl", rows[:1])
    asked = ("--qa", "few_qa", "--qa-replies", "capability_answers", "--name", "few")
    ran("evaluate", "capability", *_DATA, *asked, *judge, "--out", "few_run", code=0)
    ended = ran("analyze", "capability", "one", "few_run", code=2)
    assert "have different questions about the media" in ended.err
    flags = ("--data", "anno.json", "--captions", "captions/comprecap.json", "--quiet")
    ran("evaluate", "comprecap", *flags, "--out", "scenes", code=0)
    ended = ran("analyze", "capability", "scenes", code=2)
    assert "has no CAPability" in ended.err


def test_incomplete_runs(caliper: Command, config: Path) -> None:
    flags = (*_DATA[:4], "--judge", "replay:judged", "--quiet", "--out", "part")
    caliper("evaluate", "capability", *flags, code=1)
    assert "not complete" in caliper("analyze", "capability", "part", code=2).err
    told = caliper("analyze", "capability", "part", "--partial", "--json", code=0).told
    assert told["hits"]["runs"][0]["unscored"] == 1


async def test_a_sweep_over_resolution_judged_again(tmp_path: Path) -> None:
    caliper = Command(tmp_path)
    (tmp_path / "data").mkdir()
    tiny.write_pictures(tmp_path, 3)

    async def run(*words: str) -> Ended:
        return await asyncio.to_thread(caliper, *words, code=0)

    for pixels, caption, *more in (
        (32, "A dog."),
        (16, "A road."),
        (64, "A", "--caption-tokens", 1),
    ):
        async with ChatServer(otherwise=fake.answer(caption)) as server:
            flags = ("--captioner", f"tgi:{server.url}", "--preparation", f"longest={pixels}")
            named = ("--name", "m", "--out", str(pixels), "--no-anchors", "--quiet")
            await run("evaluate", "capability", "--data", "data", *flags, *more, *named)
    names = [f"s{number:05}" for number in range(3)]
    tiny.lines(
        tmp_path / "captions" / "scene.jsonl",
        [{"file_id": name, "caption": "A dog."} for name in names],
    )
    tiny.lines(
        tmp_path / "judged" / "scene.jsonl", [{"file_id": name, "score": 1} for name in names]
    )
    flags = ("--captions", "captions", "--judge", "replay:judged", "--name", "m", "--out", "other")
    await run("evaluate", "capability", "--data", "data", *flags, "--quiet")
    told = (await run("analyze", "capability", "32", "16", "64", "other", "--json")).told
    (sweep,) = told["sweeps"]["sweeps"]
    assert (sweep["model"], sweep["field"]) == ("m", "longest")
    assert [(each["value"], each["name"]) for each in sweep["points"]] == [
        (16, "m, longest 16"),
        (32, "m, longest 32"),
    ]
    assert sweep["points"][1]["change"] is not None
    # Supplied to another judge, the captions of the first run are still its own.
    (pair,) = told["judging"]["judges"]
    assert [each["name"] for each in pair["rankings"]["f1"]["changes"]] == ["m, longest 32"]
    assert told["judging"]["agreements"][-1]["agreement"]["questions"] == 3
