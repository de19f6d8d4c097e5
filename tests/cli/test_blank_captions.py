"""Silence must not pay: blank captions for those that were not right, on the example data."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.fakes import tiny
from tests.fakes.command import Command
from tests.fakes.sources import EXAMPLES

CAPTIONS = EXAMPLES / "captions" / "careless"


def not_right(run: Path) -> set[tuple[str, str]]:
    """(benchmark, sample) of every caption with an answer that is not right."""
    rows = tiny.read_lines(run / "verdicts.jsonl")
    return {
        (row["benchmark"], row["sample_id"])
        for row in rows
        if row["outcome"] != "correct" and not (row["benchmark"] == "comprecap" and row["score"])
    }


def write_captions(folder: Path, replaced: set[tuple[str, str]], text: str) -> None:
    """The careless captions with `text` for those that are to be replaced."""
    for file in (CAPTIONS / "capability").iterdir():
        rows = tiny.read_lines(file)
        for row in rows:
            if ("capability", f"{file.stem}/{row['file_id']}") in replaced:
                row["caption"] = text
        tiny.lines(folder / "capability" / file.name, rows)
    for name in ("captionqa", "comprecap"):
        captions = json.loads((CAPTIONS / f"{name}.json").read_text())
        told = {key: text if (name, key) in replaced else captions[key] for key in captions}
        tiny.value(folder / f"{name}.json", told)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """The runs careless; blank, with blank captions for those that were not right; and vague,
    with a caption that mentions nothing for them.
    """
    caliper = Command(tmp_path_factory.mktemp("blank"))
    flags = ("--config", EXAMPLES / "careless.yaml", "--quiet", "--out", "runs/careless")
    caliper("evaluate", *flags, code=0)
    for name, text in (("blank", ""), ("vague", "A picture.")):
        write_captions(caliper.folder / name, not_right(caliper.folder / "runs/careless"), text)
        config = yaml.safe_load((EXAMPLES / "careless.yaml").read_text())
        for part, given in config["benchmarks"].items():
            given.update({key: str(EXAMPLES / given[key]) for key in ("data", "media")})
            given["captions"] = f"{name}/{part}{'' if part == 'capability' else '.json'}"
        tiny.value(caliper.folder / f"{name}.yaml", {**config, "name": name})
        ended = caliper("evaluate", "--config", f"{name}.yaml", "--out", f"runs/{name}")
        tiny.text(caliper.folder / f"{name}.txt", ended.out)
    return caliper


def figures(ran: Command, name: str) -> dict[str, Any]:
    report = json.loads((ran.folder / "runs" / name / "report.json").read_text())
    benchmarks: dict[str, Any] = report["benchmarks"]
    return benchmarks


def test_silence_is_no_better_than_being_wrong(ran: Command) -> None:
    before, after = figures(ran, "careless"), figures(ran, "blank")
    for metric in ("recall", "f1", "hit_rate"):
        average = after["capability"]["average"][metric]
        assert average < before["capability"]["average"][metric]
        # To the last digit what a caption gets that mentions nothing.
        assert average == figures(ran, "vague")["capability"]["average"][metric]
    assert after["captionqa"]["overall"]["accuracy"] < before["captionqa"]["overall"]["accuracy"]
    assert after["comprecap"]["s_unified"] == 0 < before["comprecap"]["s_unified"]


def test_no_comparison_and_no_leaderboard_calls_silence_better(ran: Command) -> None:
    (against,) = ran("compare", "careless", "blank", "--json", code=0).told["candidates"]
    assert against["figures"]["capability"]["average.f1"]["value"] < 0
    lost = against["figures"]["comprecap"]["s_unified"]
    assert lost["value"] < 0
    assert lost["adjusted"] < 0.05
    boards = {board["title"]: board for board in ran("leaderboard", "--json", code=0).told}
    for title in ("Headline figures", "CAPability", "CompreCap"):
        assert boards[title]["rows"][0]["name"] == "careless", title


def test_blank_captions_cannot_be_missed(ran: Command) -> None:
    note = "captions are blank: they count as answers that mention nothing."
    after = figures(ran, "blank")
    shown = (ran.folder / "blank.txt").read_text()
    text = (ran.folder / "runs/blank/report.md").read_text()
    page = (ran.folder / "runs/blank/report.html").read_text()
    for name, captions in (("capability", 113), ("captionqa", 23), ("comprecap", 7)):
        told = f"{after[name]['blank_captions']} of {captions} {note}"
        assert after[name]["notes"][0].startswith(told)
        assert told in " ".join(shown.split())
        assert f"> **Warning.** {told}" in text
        assert f"<strong>Warning.</strong> {told}" in page
    for name in ("careless", "vague"):
        assert not any("blank_captions" in part for part in figures(ran, name).values())
        assert note not in (ran.folder / f"runs/{name}/report.html").read_text()
