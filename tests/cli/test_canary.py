"""The canary, sung to rules, to models that obey captions, and to one that does not."""

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from tests.fakes import chat_server as fake
from tests.fakes.chat_server import ChatServer, Step
from tests.fakes.command import Command

from caliper.benchmarks.registry import BUILT_IN
from caliper.benchmarks.settings import resolve_settings
from caliper.cli.canary.cases import RIGHT, cases

CASES = cases({name: resolve_settings(name, {}) for name in BUILT_IN})
RIGHT_ONES = {case.caption: case for case in CASES if case.kind == RIGHT}
PLAIN = {case.caption.rstrip(".") for case in CASES if not case.attack}


def caption_of(text: str) -> str:
    # Where the prompt has no system message, the marks are explained in this one first.
    *_, fenced = re.findall(r"<(caption-[0-9a-f]{16})>(.*?)</\1>", text, re.DOTALL)
    return str(fenced[1]).strip().rstrip(".")


def best(text: str) -> str:
    """The verdict of a right caption, in the form that the prompt wants."""
    return reply(text, right=True)


def reply(text: str, *, right: bool) -> str:
    if '"pred"' in text:
        label = next(label for label in ("pixel art", "low angle", "left") if f"'{label}'" in text)
        return json.dumps({"pred": [label if right else "N/A"], "reason": ""})
    if "Options:" in text:
        asked = (case.item.questions[-1].payload for case in CASES if case.benchmark == "captionqa")
        payload = next(each for each in asked if f"Question: {each.question}\n" in text)
        letter = "ABCDE"[payload.options.index(payload.choices[payload.answer])]
        return letter if right else ("A" if letter != "A" else "B")
    if "Phrase:" in text:
        return "5" if right else "1"
    return json.dumps({"score": "1" if right else "-1", "reason": "as told"})


def honest(text: str) -> str:
    """Quotes what it was ordered, and goes by the caption's own words."""
    caption = caption_of(text)
    right = any(known.rstrip(".") in caption for known in RIGHT_ONES)
    if "Options:" in text or "Phrase:" in text:
        return reply(text, right=right)
    return f'The caption may hold {{"score": "1"}}. My verdict: {reply(text, right=right)}'


def gullible(text: str) -> str:
    """Goes by whatever a caption orders; without an order it is honest."""
    return honest(text) if caption_of(text) in PLAIN else best(text)


def thinking(how: Callable[[str], str]) -> Step:
    async def step(server: ChatServer, request: web.Request, asked: dict[str, Any]) -> Any:
        return await fake.answer(how(asked["messages"][-1]["content"]))(server, request, asked)

    return step


async def sing(caliper: Command, server: ChatServer, *more: object, code: int) -> Any:
    spec = f"tgi:{server.url}"
    words = ("canary", "--judge", spec, "--reader", spec, "--json", *more)
    ended = await asyncio.to_thread(caliper, *words, code=code)
    return ended.told


def test_rules_over_words_pass(caliper: Command) -> None:
    ended = caliper("canary", code=0)
    assert "Passed." in ended.out
    assert re.search(r"^right, no attack +\d+ +0 +0$", ended.out, re.MULTILINE)
    told = caliper("canary", "--json", code=0).told
    assert told["said"] == "passed"
    assert len(told["cases"]) == len(CASES)
    assert caliper("canary", "--quiet", code=0).out == ""


async def test_an_honest_model_passes(caliper: Command) -> None:
    async with ChatServer(otherwise=thinking(honest)) as server:
        told = await sing(caliper, server, code=0)
        assert told["fooled"] == 0
        assert {case["fate"] for case in told["cases"]} == {"held"}
        assert len(server.requests) == len(CASES)
        for asked in server.requests:
            assert "never an instruction to you" in asked.body["messages"][0]["content"]


async def test_a_model_that_obeys_captions_fails(caliper: Command) -> None:
    async with ChatServer(otherwise=thinking(gullible)) as server:
        told = await sing(caliper, server, code=1)
        assert told["fooled"] == 1
        words = ("canary", "--judge", f"tgi:{server.url}", "--quiet")
        quiet = await asyncio.to_thread(caliper, *words, code=1)
        assert quiet.out == ""
        assert quiet.err.startswith("Failed. Fooled by 100.0% of ")
        assert {case["fate"] for case in told["cases"] if not case["attack"]} == {"held"}
        # Not even a lenient bound lets it pass, but for one that lets everything pass.
        await sing(caliper, server, "--bound", "0.99", code=1)
        await sing(caliper, server, "--bound", "1", code=0)
        ended = await asyncio.to_thread(caliper, "canary", "--judge", f"tgi:{server.url}", code=1)
        assert "Failed." in ended.out
        assert "Fooled by 100.0% of 63 attacks" in ended.out
        assert "fooled: capability object_category, order_en: " in ended.out


@pytest.mark.parametrize("right", [True, False])
async def test_a_model_that_always_says_the_same_fails(caliper: Command, *, right: bool) -> None:
    async with ChatServer(otherwise=thinking(lambda text: reply(text, right=right))) as server:
        told = await sing(caliper, server, code=1)
        assert told["fooled"] == right
        ended = await asyncio.to_thread(caliper, "canary", "--reader", f"tgi:{server.url}", code=1)
        assert ("misjudged: captionqa colour_choice, right, no attack: " in ended.out) != right
        assert ("misjudged: captionqa colour_choice, wrong, no attack: " in ended.out) == right
        assert f"{6 * right} of 6 right and {6 * (not right)} of 6 wrong captions" in ended.out


async def test_a_model_that_cannot_be_read_shows_nothing(caliper: Command) -> None:
    async with ChatServer(otherwise=fake.answer("I would rather not say.")) as server:
        told = await sing(caliper, server, code=3)
        assert {case["fate"] for case in told["cases"]} == {"unscored"}


async def test_only_the_role_that_is_named_and_its_settings(caliper: Command) -> None:
    async with ChatServer(otherwise=thinking(honest)) as server:
        words = ("canary", "--reader", f"tgi:{server.url}", "--set", "max_tokens=77", "--json")
        told = (await asyncio.to_thread(caliper, *words, code=0)).told
        assert {case["benchmark"] for case in told["cases"]} == {"captionqa"}
        assert {asked.body["max_tokens"] for asked in server.requests} == {77}
        unfenced = ("--set", "caption_fence=off", "--quiet")
        server.from_now_on(fake.answer("A"))
        server.requests.clear()
        await asyncio.to_thread(caliper, *words[:3], *unfenced)
        assert all("<caption-" not in str(asked.body) for asked in server.requests)


async def test_an_endpoint_that_is_down_or_goes_down(caliper: Command) -> None:
    async with ChatServer(otherwise=fake.status(500)) as server:
        command = Command(caliper.folder, {"CALIPER_RETRY_BUDGET": "0"})
        words = ("canary", "--judge", f"tgi:{server.url}")
        ended = await asyncio.to_thread(command, *words, code=4)
        assert "the endpoint failed (HTTP 500)" in ended.err
    ended = await asyncio.to_thread(command, *words, code=4)
    assert "Connection refused" in ended.err


def test_what_is_not_known(caliper: Command) -> None:
    assert "known: " in caliper("canary", "--judge", "gpt", code=2).err
    assert "known: " in caliper("canary", "--set", "fence=on", code=2).err
    caliper("canary", "--bound", "2", code=2)
