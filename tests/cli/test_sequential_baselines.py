"""Baselines of suites that stop early: which checkpoint is one, and that it is judged in full."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command
from tests.fakes.decided_runs import WRONG, judge
from tests.fakes.sequential_suites import FEW, RUN, SAMPLES, deliver, entries, run, suite


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
    tiny.write_scenes(tmp_path, FEW)
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
    assert asked_since <= better["saved"] + FEW // 20 + same["asked"] + 4


async def test_a_judge_that_drifts_later_is_seen(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, FEW)
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
    assert "the judge has drifted (p = 0.0039)" in third["reason"]
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
    tiny.write_scenes(tmp_path, FEW)
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
