"""Whole runs whose checkpoint writes no caption of some samples: blank captions, unless somebody
else kept it from writing. Nothing that it said instead is ever taken for a caption.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer, Step

from caliper.local.config import check_config
from caliper.local.run import RunResult, evaluate
from caliper.local.setup import prepare
from caliper.local.silent_watcher import SilentWatcher
from caliper.wiring.clock import SystemClock
from caliper.wiring.models import Access

SAMPLES = 4
BROKEN = 1


def captioning(trouble: Step) -> Step:
    """Caption every sample; the first picture that is asked about meets trouble."""
    asked_first: list[Any] = []

    async def step(
        server: ChatServer, request: web.Request, asked: dict[str, Any]
    ) -> web.StreamResponse:
        if not asked_first:
            asked_first.append(asked["messages"])
        if asked["messages"] == asked_first[0]:
            return await trouble(server, request, asked)
        return await fake.answer("A park with trees.")(server, request, asked)

    return step


async def run(server: ChatServer, folder: Path, blank: str) -> RunResult:
    tiny.write_pictures(folder, SAMPLES)
    chosen = {"blank_caption": blank}
    part = {"data": str(folder / "data"), "captioner": f"tgi:{server.url}", "set": chosen}
    places = {"out": str(folder / "out"), "store": str(folder / "store")}
    config = check_config({"benchmarks": {"capability": part}, "concurrency": 2, **places})
    access = Access(timeout=5.0, retry_budget=5.0)
    async with prepare(config, access, SystemClock()) as prepared:
        return await evaluate(prepared, SilentWatcher(), SystemClock())


UNWRITTEN: dict[str, tuple[Step, str]] = {
    "refusal": (fake.answer(None, refusal="I cannot help with that"), "refused"),
    "tool calls": (fake.answer("The image shows", "tool_calls"), "no_caption"),
    "empty": (fake.answer(""), "no_caption"),
    "null": (fake.answer(None), "no_caption"),
    "only thoughts": (fake.answer("", "length"), "truncated"),
}
WITHHELD: dict[str, tuple[Step, str]] = {
    "content filter": (fake.answer("The image shows", "content_filter"), "refused"),
    "filter that says so": (fake.answer(None, "content_filter", refusal="Blocked"), "refused"),
    "no choices": (fake.raw(b'{"choices": []}'), "no_caption"),
}


WRITTEN = ["A park with trees."] * (SAMPLES - BROKEN)


def scores(folder: Path) -> list[tuple[float | None, str]]:
    rows = tiny.read_lines(folder / "out" / "verdicts.jsonl")
    return sorted((row["score"], row["reason"]) for row in rows if row["score"] != 1)


def captions(folder: Path) -> list[str]:
    found = [row["caption"] for row in tiny.read_lines(folder / "out" / "captions.jsonl")]
    stored = (folder / "store" / "captions").rglob("*.json")
    assert {json.loads(path.read_text())["text"] for path in stored} == set(found)
    return sorted(found)


@pytest.mark.parametrize("name", UNWRITTEN | WITHHELD)
async def test_an_unscored_blank_caption(tmp_path: Path, name: str) -> None:
    trouble, reason = (UNWRITTEN | WITHHELD)[name]
    async with ChatServer(otherwise=captioning(trouble)) as server:
        found = await run(server, tmp_path, "unscored")
        assert len(server.requests) == SAMPLES
    assert found.report.state == "finished"
    assert scores(tmp_path) == [(None, reason)]
    assert captions(tmp_path) == WRITTEN


@pytest.mark.parametrize("name", UNWRITTEN)
async def test_a_blank_caption_is_an_answer(tmp_path: Path, name: str) -> None:
    async with ChatServer(otherwise=captioning(UNWRITTEN[name][0])) as server:
        found = await run(server, tmp_path, "answer")
        assert len(server.requests) == SAMPLES
        assert (await run(server, tmp_path, "answer")).ended_at is not None
        assert len(server.requests) == SAMPLES
    assert found.report.state == "complete"
    assert scores(tmp_path) == [(0, "")]
    assert captions(tmp_path) == ["", *WRITTEN]
    (part,) = found.report.benchmarks
    assert part.estimates[("blank_captions",)].value == BROKEN
    assert part.notes[0].startswith(f"{BROKEN} of {SAMPLES} captions are blank: they count as")


@pytest.mark.parametrize("name", WITHHELD)
async def test_what_is_withheld_from_us_is_no_answer(tmp_path: Path, name: str) -> None:
    trouble, reason = WITHHELD[name]
    async with ChatServer(otherwise=captioning(trouble)) as server:
        found = await run(server, tmp_path, "answer")
    assert found.report.state == "finished"
    assert scores(tmp_path) == [(None, reason)]
    assert captions(tmp_path) == WRITTEN
    assert ("blank_captions",) not in found.report.benchmarks[0].estimates
