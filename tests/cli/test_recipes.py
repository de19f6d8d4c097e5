from pathlib import Path

import yaml
from tests.fakes import tiny
from tests.fakes.command import Command

NOTE = "CAPability: published figures were judged by GPT-4-Turbo; this run is judged by lexical"


def settings(run: Path) -> dict[str, dict[str, str]]:
    spec = yaml.safe_load((run / "run.yaml").read_text())["spec"]
    return {part["name"]: part["settings"] for part in spec["benchmarks"]}


def test_a_run_keeps_the_settings_and_its_report_names_them(
    caliper: Command, tmp_path: Path
) -> None:
    tiny.write_scenes(tmp_path, 2)
    words = (
        *("evaluate", "capability", "--data", "data", "--captions", "captions", "--no-anchors"),
        *("--recipe", "published", "--set", "reply_reading=lenient", "--out", "run"),
    )
    ended = caliper(*words)
    assert NOTE in ended.err
    found = settings(tmp_path / "run")["capability"]
    assert (found["caption_fence"], found["reply_reading"]) == ("off", "lenient")
    assert "recipe" not in (tmp_path / "run" / "run.yaml").read_text()
    text = (tmp_path / "run" / "report.md").read_text()
    assert "caption\\_fence=off, category\\_labels=any, reply\\_reading=lenient" in text
    # The kept file is a run of its own, the same one.
    again = caliper("evaluate", "--config", "run/run.yaml", "--out", "run")
    assert "nothing was asked" in again.out
    assert caliper(*words, "--quiet").err == ""


def test_plan_tells_the_same_and_help_lists_the_recipes(caliper: Command, tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, 2)
    words = ("plan", "capability", "--data", "data", "--captions", "captions", "--recipe")
    assert NOTE in caliper(*words, "published", code=0).err
    assert "unknown recipe 'best'; known: published" in caliper(*words, "best", code=2).err
    shown = " ".join(caliper("evaluate", "capability", "--help", code=0).out.split())
    assert "--recipe" in shown
    assert "not set otherwise: published." in shown
