"""Servers that people have, as captioner, judge and reader. Their model talks nonsense: scores mean
nothing, and runs are clean.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import tiny
from tests.fakes.footage import write_clip
from tests.fakes.sources import ROOT
from tests.model_servers.servers import MODEL

from caliper.adapters.media.bounds import MediaLimits
from caliper.adapters.media.preparation import prepare_file
from caliper.adapters.models.endpoint import parse_endpoints
from caliper.adapters.models.tgi import TgiModel
from caliper.core.preparation import Preparation
from caliper.core.question import Decoding
from caliper.local.config import check_config
from caliper.local.run import evaluate
from caliper.local.setup import prepare
from caliper.local.silent_watcher import SilentWatcher
from caliper.ports.models import ChatMessage
from caliper.wiring.clock import SystemClock
from caliper.wiring.models import Access

EXAMPLES = ROOT / "examples"
ACCESS = Access(timeout=600.0, in_flight=4)
OF_REPLIES = {"unreadable", "truncated", "no_reply", "bad_ground_truth"}
"""What may be wrong with a reply itself; everything else would be trouble with the server."""
SCORE = {
    "type": "object",
    "properties": {"score": {"type": "integer", "enum": [-1, 0, 1]}},
    "required": ["score"],
}


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[TgiModel]:
    model = TgiModel(*parse_endpoints(url, "chat"), timeout=600.0)
    try:
        await model.resolve()
        yield model
    finally:
        await model.close()


async def run(url: str, folder: Path, preparation: dict[str, Any]) -> list[dict[str, Any]]:
    """The verdicts of an evaluation that asks the server for everything."""
    shared = {
        "media": str(EXAMPLES / "media"),
        "captioner": f"chat:{url}",
        "caption_tokens": 32,
        "preparation": {"longest": 128, **preparation},
    }
    data = folder / "data"
    data.mkdir()
    for task in ("scene", "action"):
        text = (EXAMPLES / "capability" / f"{task}.jsonl").read_text("utf-8")
        (data / f"{task}.jsonl").write_text("".join(text.splitlines(keepends=True)[:2]))
    parts = {
        "capability": {"data": str(data), "judge": f"chat:{url}", **shared},
        "captionqa": {
            "data": str(EXAMPLES / "captionqa" / "questions.json"),
            "reader": f"chat:{url}",
            **shared,
        },
    }
    places = {"out": str(folder / "out"), "store": str(folder / "store")}
    config = check_config(
        {"benchmarks": parts, "name": "nonsense", "limit": 1, "anchors": False, **places}
    )
    clock = SystemClock()
    async with prepare(config, ACCESS, clock) as prepared:
        finished = await evaluate(prepared, SilentWatcher(), clock)
    assert finished.report.state in {"complete", "finished"}
    ((label, spent),) = json.loads((folder / "out/execution.json").read_text())["models"].items()
    assert label.startswith(f"{MODEL} (chat, ")
    assert spent["failed"] == 0
    assert spent["completion_tokens"] > 0
    return tiny.read_lines(folder / "out" / "verdicts.jsonl")


@pytest.mark.parametrize(
    ("server", "preparation"),
    [("transformers", {"frames": 2}), ("vllm", {"frames": 2}), ("vllm", {"clips": "whole"})],
    ids=["transformers", "vLLM", "vLLM takes the frames"],
)
async def test_one_server_captions_judges_and_reads(
    request: pytest.FixtureRequest, server: str, preparation: dict[str, Any], tmp_path: Path
) -> None:
    rows = await run(request.getfixturevalue(server), tmp_path, preparation)
    assert {row["benchmark"] for row in rows} == {"capability", "captionqa"}
    assert {row["reason"] for row in rows if row["score"] is None} <= OF_REPLIES
    assert {Path(path).suffix for row in rows for path in row["media"]} >= {".jpg", ".mp4"}


async def test_vllm_keeps_to_a_schema(vllm: str) -> None:
    async with connected(vllm) as model:
        messages = (ChatMessage("user", ("Answer with JSON.",)),)
        reply = await model.complete(messages, Decoding(max_tokens=64), SCORE)
    assert (reply.finish, json.loads(reply.text)["score"] in {-1, 0, 1}) == ("stop", True)


async def test_transformers_ignores_a_schema(transformers: str) -> None:
    async with connected(transformers) as model:
        messages = (ChatMessage("user", ("Answer with JSON.",)),)
        reply = await model.complete(messages, Decoding(max_tokens=16), SCORE)
    assert reply.text
    assert not reply.text.startswith("{")


async def test_vllm_takes_as_many_frames_as_asked(vllm: str, tmp_path: Path) -> None:
    # Small: the processor shrinks all frames together to a number of pixels.
    path = write_clip(tmp_path / "clip.mp4")
    tokens = []
    async with connected(vllm) as model:
        for frames in (2, 16):
            clip = prepare_file(path, Preparation(frames, clips="whole"), MediaLimits())
            message = ChatMessage("user", (*clip, "What happens?"))
            reply = await model.complete((message,), Decoding(max_tokens=4))
            tokens.append(reply.usage.prompt)
    assert tokens[1] > tokens[0]
