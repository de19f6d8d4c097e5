"""Suites that ask only until the comparison with the baseline is sure."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.decided_runs import judge
from tests.fakes.sequential_suites import FEW, RUN, SAMPLES, deliver, entries, f1, run, suite


async def test_a_large_loss_and_a_checkpoint_as_good_need_part_of_the_questions(
    tmp_path: Path,
) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    for step, mistakes in ((100, 10), (200, 10), (300, 60), (400, 11)):
        deliver(tmp_path, step, mistakes, kept=30 if step == 200 else 0)
    async with ChatServer(otherwise=judge) as server:
        budget = {"month": {"calls": 10_000, "money": 5.0}}
        suite(tmp_path, server.url, anchors=False, alarms="suite", budget=budget)
        ended = await run(tmp_path, *RUN, code=1)
        first, same, worse, slight = await entries(tmp_path)
        asked = len(server.requests)
        await _gate_answers_from_the_look(tmp_path, first["run"], same["run"], worse["run"])
        assert len(server.requests) == asked
    assert (first["state"], first["asked"], first["saved"]) == ("evaluated", SAMPLES, 0)
    assert [each["state"] for each in (same, worse)] == ["passed", "regressed"]
    for each in (same, worse):
        assert each["baseline"] == first["checkpoint"]["revision"]
        assert each["saved"] > 0.5 * SAMPLES
        assert each["asked"] + each["saved"] + each["reused"] == SAMPLES
        assert not each["is_complete"]
        assert f"asked {each['asked']:,} of {SAMPLES:,} questions" in each["reason"]
    # 30% of the captions are the baseline's: nobody is asked about them.
    drawn = SAMPLES - same["saved"]
    assert same["reused"] == pytest.approx(0.3 * drawn, abs=15)
    assert same["findings"][0]["reused"] == 0.3 * SAMPLES
    assert f"reused {same['reused']}" in same["reason"]
    assert worse["reused"] == 0
    (status,) = json.loads((await run(tmp_path, "suite", "status", "--json", code=0)).out)
    assert status["reused"] == same["reused"]
    assert status["month"]["used"]["calls"] == asked
    assert status["month"]["used"]["money"] == pytest.approx(
        sum(each["money"] for each in (first, same, worse, slight))
    )
    assert first["money"] > 0
    assert status["alarms"] == {"compared": 3, "regressed": 1, "expected": 0.05}
    assert f"{asked} of 10,000 calls" in (await run(tmp_path, "suite", "status", code=0)).out
    # The baseline once, 5% of it again for each of the others, and what they needed.
    again, compared = SAMPLES // 20, (same, worse, slight)
    assert asked == SAMPLES + sum(again + each["asked"] for each in compared)
    assert [each["calls"] - each["asked"] for each in (first, *compared)] == [0, *3 * [again]]
    # Its figure is over all questions: the baseline's and the difference, with the check's bounds.
    before, after, change = (*map(f1, (first, worse)), worse["findings"][0])
    for name in ("value", "low", "high"):
        assert after[name] == pytest.approx(before["value"] + change[name])
    assert worse["findings"][0]["decision"] == "regression"
    assert worse["findings"][0]["value"] < -30
    assert worse["findings"][0]["target"] == "these questions"
    assert "for these questions" in worse["reason"]
    assert "regressed" in ended.out
    assert "decided" in (await run(tmp_path, "trend", "nightly", code=0)).out
    # Delivered again, nothing is asked.
    assert (await run(tmp_path, *RUN, code=0)).out == ""


async def _gate_answers_from_the_look(folder: Path, first: str, same: str, worse: str) -> None:
    for drop, candidate, code in ((5.0, same, 0), (1.0, same, 3), (5.0, worse, 1)):
        finding = await _gated(folder, first, candidate, drop=drop, code=code)
        assert finding["figure"] == "average.f1"
        assert ("more would decide" in finding["reason"]) == (code == 3)
    refused = await run(folder, "leaderboard", first, same, code=2)
    assert "it is never ranked" in refused.err


async def _gated(folder: Path, *runs: str, drop: float, code: int) -> Any:
    """The finding of a gate whose only check allows such a drop."""
    check = {"benchmark": "capability", "figure": "average.f1", "max_drop": drop}
    tiny.text(folder / "policy.yaml", yaml.safe_dump({"checks": [check]}))
    ended = await run(folder, "gate", "--policy", "policy.yaml", *runs, "--json", code=code)
    (finding,) = ended.told["findings"]
    return finding


async def test_a_suite_may_be_about_questions_like_these(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, FEW)
    for step, mistakes in ((100, 10), (200, 10), (300, 60)):
        deliver(tmp_path, step, mistakes)
    async with ChatServer(otherwise=judge) as server:
        suite(tmp_path, server.url, anchors=False, target="similar")
        await run(tmp_path, *RUN, code=1)
        first, same, worse = await entries(tmp_path)
        finding = await _gated(tmp_path, first["run"], worse["run"], drop=5.0, code=1)
    # Others may differ where these do not: nothing is sure with fewer than 20 changes.
    assert (same["state"], worse["state"]) == ("inconclusive", "regressed")
    assert (same["saved"], same["is_complete"]) == (0, True)
    assert worse["saved"] > 0.5 * FEW
    for each in (same, worse):
        assert each["findings"][0]["target"] == "questions like these"
    assert "for questions like these" in worse["reason"]
    assert (finding["target"], finding["on_these"]) == ("these questions", None)


async def test_what_cannot_be_judged_in_sequence_is_refused(tmp_path: Path) -> None:
    tiny.write_all(tmp_path)
    part = {"data": "capability"}
    for more, told in (
        ({"benchmarks": {"capability": part}}, "it needs a gate or a margin"),
        (
            {"benchmarks": {"capability": part}, "margin": 1.0, "budget": {"calls": 5}},
            "not with a budget of calls",
        ),
        ({"benchmarks": {"comprecap": part}, "margin": 1.0}, "not with comprecap"),
    ):
        values = {"name": "nightly", "judging": "sequential", **more}
        tiny.text(tmp_path / "suite.yaml", yaml.safe_dump(values))
        ended = await run(tmp_path, "suite", "apply", "suite.yaml", code=2)
        assert told in " ".join(ended.err.split())
