"""Suites that ask only until the comparison with the baseline is sure."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command, Ended
from tests.fakes.decided_runs import WRONG, judge

SAMPLES = 400
RUN = ("suite", "run", "suite.yaml", "--watch", "checkpoints", "--once")


def deliver(folder: Path, step: int, mistakes: int, kept: int = 0) -> None:
    """A checkpoint of which so many captions in a hundred are a mistake, and the last `kept` are
    those of the first checkpoint.
    """
    rows = (
        {
            "file_id": f"s{number:05}",
            "caption": f"{'a mistake' if number % 100 < mistakes else 'a park'} "
            f"{100 if number % 100 >= 100 - kept else step} {number}",
        }
        for number in range(SAMPLES)
    )
    tiny.lines(folder / "checkpoints" / f"step-{step}" / "scene.jsonl", rows)


def suite(folder: Path, url: str, **more: Any) -> None:
    part = {"data": "data", "judge": f"tgi:{url}"}
    values = {"name": "nightly", "benchmarks": {"capability": part}, "margin": 5.0, **more}
    tiny.text(folder / "suite.yaml", yaml.safe_dump({"judging": "sequential", **values}))


async def run(folder: Path, *words: str, code: int) -> Ended:
    command = Command(folder, {"CALIPER_PRICES": f"{fake.MODEL}=1/2"})
    return await asyncio.to_thread(command, *words, code=code)


async def entries(folder: Path) -> list[Any]:
    told = (await run(folder, "trend", "nightly", "--json", code=0)).out
    found: list[Any] = json.loads(told)
    return found


def f1(entry: Any) -> Any:
    (found,) = (each for each in entry["figures"] if each["is_headline"])
    return found


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


async def test_after_a_gain_a_loss_against_the_better_checkpoint_is_found(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    for step, mistakes in ((100, 60), (200, 10), (300, 30), (400, 11)):
        deliver(tmp_path, step, mistakes)
    async with ChatServer(otherwise=judge) as server:
        suite(tmp_path, server.url, anchors=False, budget={"month": {"calls": 10_000}})
        await run(tmp_path, *RUN, code=1)
        first, better, worse, slight = await entries(tmp_path)
        asked = len(server.requests)
        (status,) = json.loads((await run(tmp_path, "suite", "status", "--json", code=0)).out)
        # It is there for others, too: whoever comes later finds it judged in full.
        deliver(tmp_path, 250, 60)
        await run(tmp_path, *RUN, code=1)
        late = (await entries(tmp_path))[2]
        again = SAMPLES // 20
        assert len(server.requests) == asked + again + late["asked"]
    revisions = [each["checkpoint"]["revision"] for each in (first, better, better, better)]
    assert [each["baseline"] for each in (better, worse, slight, late)] == revisions
    states = [each["state"] for each in (first, better, worse, slight, late)]
    assert states == ["evaluated", "passed", "regressed", "passed", "regressed"]
    # A loss, although the first checkpoint was worse still.
    assert worse["figures"][0]["value"] > first["figures"][0]["value"]
    assert better["is_improved"]
    assert better["saved"] > 0
    assert better["is_complete"]
    (headline,) = (each for each in better["figures"] if each["is_headline"])
    assert headline["value"] == pytest.approx(90.0)
    # Whoever is compared with it pays for the questions that it had not been asked.
    costs = [each["calls"] - each["asked"] for each in (first, better, worse, slight)]
    assert costs == [0, again, better["saved"] + again, again]
    assert (
        status["month"]["used"]["calls"]
        == asked
        == sum(each["calls"] for each in (first, better, worse, slight))
    )


async def test_a_baseline_is_judged_in_full_once_whatever_is_killed(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    deliver(tmp_path, 100, 60)
    deliver(tmp_path, 200, 10)
    async with ChatServer(otherwise=judge) as server:
        suite(tmp_path, server.url, anchors=False, concurrency=4)
        await run(tmp_path, *RUN, code=0)
        _, better = await entries(tmp_path)
        deliver(tmp_path, 300, 10)
        asked, answered = len(server.requests), 0
        half = better["saved"] // 2

        async def some(*request: Any) -> Any:
            nonlocal answered
            answered += 1
            if answered > half:
                await asyncio.Event().wait()
            return await judge(*request)

        server.from_now_on(some)
        process = Command(tmp_path, {"CALIPER_PRICES": f"{fake.MODEL}=1/2"}).start(*RUN)
        try:
            await asyncio.wait_for(server.until_received(asked + half + 4), 60)
        finally:
            process.kill()
            process.communicate()
        server.from_now_on(judge)
        await run(tmp_path, *RUN, code=0)
        _, better, same = await entries(tmp_path)
        asked_since = len(server.requests) - asked
    assert (better["is_complete"], same["state"]) == (True, "passed")
    assert same["baseline"] == better["checkpoint"]["revision"]
    # What was in flight is asked again, and nothing else.
    assert asked_since <= better["saved"] + SAMPLES // 20 + same["asked"] + 4


async def test_a_judge_that_drifts_later_is_seen(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    for step in (100, 200):
        deliver(tmp_path, step, 10)
    async with ChatServer(otherwise=judge) as server:
        suite(tmp_path, server.url, anchors=False)
        await run(tmp_path, *RUN, code=0)
        # The same revision judges more strictly from now on.
        server.from_now_on(WRONG)
        deliver(tmp_path, 300, 10)
        await run(tmp_path, *RUN, code=3)
    _, second, third = await entries(tmp_path)
    assert (second["state"], third["state"]) == ("passed", "inconclusive")
    assert "the judge has drifted (p = 0.0000)" in third["reason"]
    # So the next one is compared with verdicts of today's judge.
    assert third["is_complete"]


async def test_captions_of_a_baseline_are_judged_without_their_captioner(tmp_path: Path) -> None:
    pictures = 120
    tiny.write_pictures(tmp_path, pictures, shade=2)
    mistakes = {"step-100": 60, "step-200": 10, "step-300": 50}
    written: Counter[str] = Counter()

    async def captioner(server: ChatServer, request: Any, body: Any) -> Any:
        name = body["model"]
        number = written[name]
        written[name] += 1
        text = "a mistake" if number % 100 < mistakes[name] else "a park"
        return await fake.answer(f"{text} {name} {number}", model=name)(server, request, body)

    async with (
        ChatServer(otherwise=judge) as server,
        ChatServer(otherwise=captioner, kind="openai", models=tuple(mistakes)) as writer,
    ):
        spec = f"chat:{writer.url}#{{name}}@{{revision}}"
        part = {"data": "data", "judge": f"tgi:{server.url}", "captioner": spec}
        suite(tmp_path, "", anchors=False, benchmarks={"capability": part}, margin=20.0)
        for name in mistakes:
            tiny.text(tmp_path / "checkpoints" / name / "weights", name)
        await run(tmp_path, *RUN, code=1)
        first, better, worse = await entries(tmp_path)
        calls = sum(each["calls"] for each in (first, better, worse))
        assert len(server.requests) + written.total() == calls
    assert written["step-200"] == pictures
    assert [each["state"] for each in (first, better, worse)] == [
        "evaluated",
        "passed",
        "regressed",
    ]
    assert worse["baseline"] == better["checkpoint"]["revision"]
    assert better["saved"] > 0
    assert better["is_complete"]


async def test_without_a_baseline_in_full_a_checkpoint_is_judged_in_full(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    deliver(tmp_path, 100, 60)
    deliver(tmp_path, 200, 10)
    async with ChatServer(otherwise=judge) as server:
        suite(tmp_path, server.url, anchors=False)
        await run(tmp_path, *RUN, code=0)

        async def partly(server: ChatServer, request: Any, body: Any) -> Any:
            step = fake.status(400) if "park 200" in json.dumps(body) else judge
            return await step(server, request, body)

        server.from_now_on(partly)
        deliver(tmp_path, 300, 10)
        await run(tmp_path, *RUN, code=3)
        _, better, third = await entries(tmp_path)
        assert third["reason"].startswith("the baseline step-200 (")
        assert "could not be judged in full: Incomplete: CAPability: " in third["reason"]
        assert (third["state"], third["is_complete"]) == ("inconclusive", True)
        assert not better["is_complete"]
        # So the next one has a baseline.
        deliver(tmp_path, 400, 60)
        await run(tmp_path, *RUN, code=1)
        fourth = (await entries(tmp_path))[3]
    assert (fourth["state"], fourth["baseline"]) == ("regressed", third["checkpoint"]["revision"])


async def test_what_no_number_of_these_questions_decides_is_inconclusive(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    for step, mistakes in ((100, 10), (200, 12)):
        deliver(tmp_path, step, mistakes)
    async with ChatServer(otherwise=judge) as server:
        suite(tmp_path, server.url, anchors=False, margin=2.0)
        await run(tmp_path, *RUN, code=3)
    _, second = await entries(tmp_path)
    assert (second["state"], second["saved"], second["is_complete"]) == ("inconclusive", 0, True)


async def test_a_suite_may_be_about_questions_like_these(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    for step, mistakes in ((100, 10), (200, 10), (300, 60)):
        deliver(tmp_path, step, mistakes)
    async with ChatServer(otherwise=judge) as server:
        suite(tmp_path, server.url, anchors=False, target="similar")
        await run(tmp_path, *RUN, code=1)
        first, same, worse = await entries(tmp_path)
        check = {"benchmark": "capability", "figure": "average.f1", "max_drop": 5.0}
        tiny.text(tmp_path / "policy.yaml", yaml.safe_dump({"checks": [check]}))
        words = ("gate", "--policy", "policy.yaml", first["run"], worse["run"], "--json")
        gated = await run(tmp_path, *words, code=1)
    # Others may differ where these do not: nothing is sure with fewer than 20 changes.
    assert (same["state"], worse["state"]) == ("inconclusive", "regressed")
    assert (same["saved"], worse["saved"] > 0.5 * SAMPLES) == (0, True)
    for each in (same, worse):
        assert each["findings"][0]["target"] == "questions like these"
    assert "for questions like these" in worse["reason"]
    (finding,) = json.loads(gated.out)["findings"]
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


async def test_a_gate_on_a_decided_run_answers_from_its_look(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    for step, mistakes in ((100, 10), (200, 10), (300, 60)):
        deliver(tmp_path, step, mistakes)
    async with ChatServer(otherwise=judge) as server:
        suite(tmp_path, server.url, anchors=False)
        await run(tmp_path, *RUN, code=1)
        asked = len(server.requests)
        first, same, worse = (each["run"] for each in await entries(tmp_path))
        for drop, candidate, code in ((5.0, same, 0), (1.0, same, 3), (5.0, worse, 1)):
            check = {"benchmark": "capability", "figure": "average.f1", "max_drop": drop}
            tiny.text(tmp_path / "policy.yaml", yaml.safe_dump({"checks": [check]}))
            ended = await run(
                tmp_path, "gate", "--policy", "policy.yaml", first, candidate, "--json", code=code
            )
            (finding,) = json.loads(ended.out)["findings"]
            assert finding["figure"] == "average.f1"
            assert ("more would decide" in finding["reason"]) == (code == 3)
        refused = await run(tmp_path, "leaderboard", first, same, code=2)
        assert "it is never ranked" in refused.err
        assert len(server.requests) == asked
