"""Comparing, gating, ranking and planning from Python, as the command does."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes import tiny
from tests.fakes.command import Command

import caliper
from caliper.core.errors import InvalidInput, NotComparable, UnknownName

CHECK = {"benchmark": "capability", "figure": "average.f1", "max_drop": 100.0}


@pytest.fixture
def runs(here: Path) -> tuple[caliper.Run, caliper.Run]:
    one = caliper.evaluate(benchmarks="all.yaml", name="one", progress=False)
    captions = {"nat_1": "A <script>alert(1)</script> car.", "doc_1": "A letter."}
    data = {"captionqa": {"data": "captionqa.json", "reader": "replay:read"}}
    two = caliper.evaluate(captions, {**data}, name="two", coverage_floor=0.5, progress=False)
    return one, two


def test_comparisons_gates_and_leaderboards_are_those_of_the_command(
    runs: tuple[caliper.Run, caliper.Run], here: Path
) -> None:
    one, two = runs
    told = Command(here)("compare", one.id, two.id, "--json", "--flips", "20").told
    comparison = caliper.compare(one, two)
    assert comparison.to_dict() == told
    assert comparison.names == ("one", "two")
    figures = comparison.differences["two"]["captionqa"]
    assert figures.keys() == told["candidates"][0]["figures"]["captionqa"].keys()
    assert '<iframe sandbox="allow-scripts"' in comparison._repr_html_()

    board = caliper.leaderboard(one.id, two, benchmark="captionqa")
    told = Command(here)("leaderboard", one.id, two.id, "--benchmark", "captionqa", "--json").told
    assert board.to_list() == told
    assert [row.name for each in board for row in each.standings]
    assert board.markdown.startswith("### CaptionQA")
    assert board.csv.startswith("place,checkpoint")
    assert board._repr_html_().count("<") == 2

    policy = {"checks": [{**CHECK, "benchmark": "captionqa", "figure": "overall.score"}]}
    Path("policy.yaml").write_text(json.dumps(policy))
    told = Command(here)("gate", one.id, two.id, "--policy", "policy.yaml", "--json").told
    for given in (policy, "policy.yaml"):
        gated = caliper.gate(one, two, given)
        assert (gated.decision, gated.names) == (told["decision"], ("one", "two"))
    assert gated.findings[0].figure == "overall.score"
    assert gated.passed == (gated.decision == "passed")
    assert "### two against one" in gated.markdown
    assert gated._repr_html_().startswith(f"<p>two against one: {gated.decision}</p>")
    assert "<td>CaptionQA: Overall, score</td>" in gated._repr_html_()
    assert str(gated) == f"two against one: {gated.decision}"


def test_a_trend_is_by_the_step_in_names(runs: tuple[caliper.Run, caliper.Run]) -> None:
    def names(*given: caliper.Run) -> list[tuple[str, int | None]]:
        entries = caliper.trend(*given, anyway=True).entries
        return [(entry.checkpoint.name, entry.checkpoint.step) for entry in entries]

    one, two = runs
    late, early = (replace(one, text=one.text.replace('"one"', f'"one-{n}"')) for n in (20, 3))
    assert names(two, late, early, one) == [
        ("one-3", 3),
        ("one-20", 20),
        ("two", None),
        ("one", None),
    ]
    (entry,) = caliper.trend(one).entries
    headlines = {each.benchmark: each.value for each in entry.figures if each.is_headline}
    assert headlines == {name: value for name, value in one.headlines.items() if value is not None}


def test_of_a_page_too_large_for_a_notebook_the_place_is_shown(
    runs: tuple[caliper.Run, caliper.Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("caliper.library.inline.MOST_CHARACTERS", 100)
    run = runs[1]
    shown = run._repr_html_()
    assert "iframe" not in shown
    assert str(run) in shown
    assert f"report.html of {run.path}" in shown


def test_what_is_not_comparable_is_refused_or_named(here: Path) -> None:
    captions = {"nat_1": "A red car.", "doc_1": "A letter."}
    data = {"captionqa": "captionqa.json"}
    one = caliper.evaluate(captions, data, coverage_floor=0.5, progress=False)
    other = {"captionqa": {"data": "captionqa.json", "reader": "replay:read"}}
    two = caliper.evaluate(captions, other, coverage_floor=0.5, progress=False)
    for verb in (caliper.compare, caliper.leaderboard, caliper.trend):
        with pytest.raises(NotComparable, match="reader"):
            verb(one, two)
    with pytest.raises(NotComparable):
        caliper.gate(one, two, {"checks": [CHECK]})
    assert len(caliper.trend(one, two, anyway=True).entries) == 2
    compared = caliper.compare(one, two, anyway=True)
    gated = caliper.gate(one, two, {"checks": [CHECK]}, anyway=True)
    for result in (compared, gated):
        assert any("reader" in text for text in result.warnings)
        assert "reader" in result._repr_html_().partition("<iframe")[0]
    with pytest.raises(UnknownName, match="unknown benchmark 'coco'"):
        caliper.leaderboard(one, benchmark="coco")
    with pytest.raises(InvalidInput, match=r"policy: checks: missing"):
        caliper.gate(one, two, {})
    with pytest.raises(InvalidInput, match="policy: expected a path"):
        caliper.gate(one, two, 7)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="run: expected a path, found 7"):
        caliper.load(7)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="nobody: no run directory"):
        caliper.load("nobody")


def test_a_plan_is_that_of_the_command_and_leaves_nothing(here: Path) -> None:
    tiny.write_pictures(here, 3)
    told = Command(here)(
        "plan",
        "captionqa",
        "--data",
        "captionqa.json",
        "--captions",
        "captions/captionqa.json",
        "--json",
    ).told
    captions = json.loads(Path("captions/captionqa.json").read_text())
    plan = caliper.plan(captions, {"captionqa": "captionqa.json"}, name="captionqa")
    assert (plan.run, plan.questions, plan.calls) == (told["run"], 5, 0)
    assert "<td>captionqa</td>" in plan._repr_html_()

    def never(_: object) -> None:
        raise AssertionError

    asked = caliper.plan(never, {"capability": "data"}, never)
    assert (asked.benchmarks[0].captions_to_write, asked.calls > 3) == (3, True)
    for judge in ("qwen", None):
        there = caliper.connect("localhost:1").plan(
            captions, {"captionqa": "captionqa.json"}, judge
        )
        assert (there.run, there.calls > 0) == ("", True)
    assert not Path("runs").exists()
