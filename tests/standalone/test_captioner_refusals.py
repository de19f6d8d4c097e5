"""Whole runs whose checkpoint writes no caption of some samples: these are Unscored for what it
did, and nothing that it said instead is ever taken for a caption.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from PIL import Image
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer, Step

from caliper.runtime.clock import SystemClock
from caliper.runtime.models import Access
from caliper.standalone.config import checked
from caliper.standalone.prepare import prepare
from caliper.standalone.run import Finished, evaluate
from caliper.standalone.watching import SilentWatcher

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


async def run(server: ChatServer, folder: Path) -> Finished:
    rows = [tiny.element("scene", f"s{number:05}", "a park") for number in range(SAMPLES)]
    tiny.lines(folder / "data" / "scene.jsonl", rows)
    for number, row in enumerate(rows):
        Image.new("RGB", (40, 30), (20 * number, 99, 0)).save(folder / "data" / row["file_path"])
    part = {"data": str(folder / "data"), "captioner": f"tgi:{server.url}"}
    places = {"out": str(folder / "out"), "store": str(folder / "store")}
    config = checked({"benchmarks": {"capability": part}, "concurrency": 2, **places})
    prepared = await prepare(config, Access(timeout=5.0, retry_budget=5.0), SystemClock())
    try:
        return await evaluate(prepared, SilentWatcher(), SystemClock())
    finally:
        await prepared.room.close()


UNWRITTEN: dict[str, tuple[Step, str]] = {
    "refusal": (fake.answer(None, refusal="I cannot help with that"), "refused"),
    "content filter": (fake.answer("The image shows", "content_filter"), "refused"),
    "tool calls": (fake.answer("The image shows", "tool_calls"), "no_caption"),
    "empty": (fake.answer(""), "no_caption"),
    "null": (fake.answer(None), "no_caption"),
    "only thoughts": (fake.answer("", "length"), "truncated"),
}


@pytest.mark.parametrize("name", UNWRITTEN)
async def test_what_is_no_caption_scores_nothing(tmp_path: Path, name: str) -> None:
    trouble, reason = UNWRITTEN[name]
    async with ChatServer(otherwise=captioning(trouble)) as server:
        found = await run(server, tmp_path)
        assert len(server.requests) == SAMPLES
    assert found.report.state == "finished"
    verdicts = tiny.read_lines(tmp_path / "out" / "verdicts.jsonl")
    unscored = [row for row in verdicts if row["score"] is None]
    assert [row["reason"] for row in unscored] == [reason]
    captions = tiny.read_lines(tmp_path / "out" / "captions.jsonl")
    assert [row["caption"] for row in captions] == ["A park with trees."] * (SAMPLES - BROKEN)
    stored = list((tmp_path / "store" / "captions").rglob("*.json"))
    assert {json.loads(path.read_text())["text"] for path in stored} == {"A park with trees."}
