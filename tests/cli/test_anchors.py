"""Anchors beside runs: asked each time, told on the terminal, in no figure, compared."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

from aiohttp import web
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command, Ended
from tests.fakes.sources import ROOT

from caliper.benchmarks.registry import BUILT_IN
from caliper.benchmarks.settings import resolve_settings
from caliper.cli import flags
from caliper.wiring.anchors import anchors_of

ANCHORS = len(anchors_of("capability", {}))
SCENES = 5
RIGHT = '{"score": 1, "pred": ["up"], "reason": "as told"}'
WRONG = '{"score": -1, "pred": ["up"], "reason": "as told"}'


async def run(folder: Path, server: ChatServer, out: str, *more: str, code: int = 0) -> Ended:
    words = (
        *("evaluate", "capability", "--data", "data", "--captions", "captions"),
        *("--judge", f"tgi:{server.url}", "--out", out, *more),
    )
    return await asyncio.to_thread(Command(folder), *words, code=code)


async def test_they_are_asked_in_every_run_and_change_no_figure(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SCENES)
    async with ChatServer(otherwise=fake.answer(RIGHT)) as server:
        await run(tmp_path, server, "plain", "--no-anchors")
        assert len(server.requests) == SCENES
        for out in ("first", "second"):
            server.requests.clear()
            ended = await run(tmp_path, server, out)
            # The run's own replies come from the store; the anchors' never do.
            assert len(server.requests) == ANCHORS
            assert f"of {ANCHORS} known answers judged correctly (" in ended.out
        server.requests.clear()
        ended = await run(tmp_path, server, "second")
        assert server.requests == []
        assert "Judge check: " in ended.out
    for file in ("report.json", "verdicts.jsonl"):
        plain = (tmp_path / "plain" / file).read_bytes()
        assert (tmp_path / "second" / file).read_bytes() == plain
    assert tiny.execution(tmp_path / "plain")["anchors"] == {}
    told = tiny.execution(tmp_path / "second")["anchors"]["capability"]
    assert told["scored"] == ANCHORS
    assert told["agreed"] < ANCHORS
    compared = await asyncio.to_thread(Command(tmp_path), "compare", "first", "second", code=0)
    assert "drift" not in compared.err


async def test_a_plan_counts_their_calls_and_a_run_with_a_cap_has_none(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SCENES)
    async with ChatServer(otherwise=fake.answer(RIGHT)) as server:
        words = ("--data", "data", "--captions", "captions", "--judge", f"tgi:{server.url}")
        for more, anchors in (
            ((), ANCHORS),
            (("--no-anchors",), 0),
            (("--max-calls", "3"), 0),
            (("--max-tokens", "3"), 0),
            (("--max-calls", "3", "--anchors"), ANCHORS),
        ):
            plan = ("plan", "capability", *words, "--json", *more)
            (told,) = (await asyncio.to_thread(Command(tmp_path), *plan, code=0)).told["benchmarks"]
            assert (told["anchors"], told["calls"]) == (anchors, SCENES + anchors), more
        assert server.requests == []
        await run(tmp_path, server, "run")
        assert len(server.requests) == SCENES + ANCHORS


def test_their_number_is_told_rightly() -> None:
    sizes = {name: len(anchors_of(name, resolve_settings(name, {}))) for name in BUILT_IN}
    written = (ROOT / "docs" / "comparing.md").read_text("utf-8"), flags.ANCHORS_COST
    for told in written:
        numbers = re.findall(r"(\d+)(?: calls)? for (CAPability|CaptionQA|CompreCap)", told)
        assert {name.lower(): int(number) for number, name in numbers} == sizes


async def test_compare_warns_of_a_judge_that_changed(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SCENES)
    async with ChatServer(otherwise=fake.answer(RIGHT)) as server:
        await run(tmp_path, server, "before")
        server.from_now_on(fake.answer(WRONG))
        await run(tmp_path, server, "after", "--replicate", "1")
        await run(tmp_path, server, "without", "--no-anchors")
    caliper = Command(tmp_path)
    warned = caliper("compare", "before", "after", "--quiet", code=0).err
    before, after = (
        tiny.execution(tmp_path / out)["anchors"]["capability"] for out in ("before", "after")
    )
    assert "Judge drift: capability" in warned
    assert f"{before['agreed']} of {ANCHORS}" in warned
    assert f"{after['agreed']} of {ANCHORS}" in warned
    assert before["agreed"] != after["agreed"]
    assert "drift" not in caliper("compare", "before", "without", "--quiet", code=0).err


async def test_an_endpoint_in_trouble_leaves_them_without_a_verdict(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SCENES)

    async def busy_about_anchors(
        server: ChatServer, request: web.Request, asked: dict[str, Any]
    ) -> web.StreamResponse:
        ours = "A dog runs through a park" in json.dumps(asked["messages"])
        step = fake.answer(RIGHT) if ours else fake.answer("I cannot say")
        return await step(server, request, asked)

    async with ChatServer(otherwise=busy_about_anchors) as server:
        ended = await run(tmp_path, server, "run")
    assert f"0 of 0 known answers judged correctly, {ANCHORS} without a verdict" in ended.out
    assert tiny.execution(tmp_path / "run")["anchors"]["capability"]["agreement"] is None


def test_recorded_replies_hold_none(tmp_path: Path, config: Path) -> None:
    caliper = Command(tmp_path)
    evaluate = ("evaluate", "--config", config, "--out")
    told = "capability: no judge check: recorded replies do not answer anchors"
    assert told in caliper(*evaluate, "asked", "--anchors").err
    assert told not in caliper(*evaluate, "plain").err


def test_an_installation_has_its_own_setting(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SCENES)
    words = ("evaluate", "capability", "--data", "data", "--captions", "captions")
    caliper = Command(tmp_path)
    for flag in ("--anchors", "--no-anchors"):
        assert "own settings decide" in caliper(*words, flag, "--server", "127.0.0.1:1", code=2).err
