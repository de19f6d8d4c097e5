"""Servers that people have, as captioner, judge and reader. Their model knows nothing: replies are
scored, and the scores are those of chance.
"""

import json
import shutil
import sys
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
from caliper.adapters.phrases import headline
from caliper.core.preparation import Preparation
from caliper.core.question import Decoding
from caliper.local.config import check_config
from caliper.local.run import evaluate
from caliper.local.setup import prepare
from caliper.local.watchers import SilentWatcher
from caliper.ports.models import ChatMessage
from caliper.wiring.clock import SystemClock
from caliper.wiring.models import Access

EXAMPLES = ROOT / "examples"
ACCESS = Access(timeout=600.0, in_flight=4)
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


async def coverage(
    url: str, folder: Path, preparation: dict[str, Any], tokens: int = 4
) -> dict[str, tuple[int, dict[str, int]]]:
    """By benchmark, how many verdicts of a run have a score, and how many have none, by reason.

    The run asks the server for everything; the reader may write `tokens`.
    """
    shared = {
        "media": str(EXAMPLES / "media"),
        "captioner": f"chat:{url}",
        "caption_tokens": 32,
        "preparation": {"longest": 128, **preparation},
    }
    data = folder / "data"
    data.mkdir()
    for task in ("scene", "action"):
        shutil.copy(EXAMPLES / "capability" / f"{task}.jsonl", data)
    parts = {
        "capability": {"data": str(data), "judge": f"chat:{url}", **shared},
        "captionqa": {
            "data": str(EXAMPLES / "captionqa" / "questions.json"),
            "reader": f"chat:{url}",
            "set": {"max_tokens": str(tokens)},
            **shared,
        },
    }
    places = {"out": str(folder / "out"), "store": str(folder / "store")}
    config = check_config({"benchmarks": parts, "name": "chance", "anchors": False, **places})
    clock = SystemClock()
    async with prepare(config, ACCESS, clock) as prepared:
        finished = await evaluate(prepared, SilentWatcher(), clock)
    ((label, spent),) = json.loads((folder / "out/execution.json").read_text())["models"].items()
    assert label.startswith(f"{MODEL} (chat, ")
    assert spent["failed"] == 0
    found = {}
    for part in finished.report.benchmarks:
        found[part.name] = part.coverage.scored, dict(part.coverage.unscored)
        # `make test-models` shows what was written.
        sys.stdout.write(f"{part.name}: {found[part.name]}, {headline(part).value}\n")
    return found


@pytest.mark.parametrize(
    ("server", "preparation"),
    [("transformers", {"frames": 2}), ("vllm", {"frames": 2}), ("vllm", {"clips": "whole"})],
    ids=["transformers", "vLLM", "vLLM takes the frames"],
)
async def test_one_server_captions_judges_and_reads(
    request: pytest.FixtureRequest, server: str, preparation: dict[str, Any], tmp_path: Path
) -> None:
    found = await coverage(request.getfixturevalue(server), tmp_path, preparation)
    assert found == {"capability": (16, {}), "captionqa": (128, {})}
    captions = tiny.read_lines(tmp_path / "out" / "captions.jsonl")
    assert not any("truncated" in caption for caption in captions)
    rows = tiny.read_lines(tmp_path / "out" / "verdicts.jsonl")
    assert {Path(path).suffix for row in rows for path in row["media"]} >= {".jpg", ".mp4"}


@pytest.mark.parametrize("server", ["transformers", "vllm"])
async def test_a_reply_that_the_server_cut_off_has_no_score(
    request: pytest.FixtureRequest, server: str, tmp_path: Path
) -> None:
    found = await coverage(request.getfixturevalue(server), tmp_path, {"frames": 2}, tokens=1)
    assert found == {"capability": (16, {}), "captionqa": (0, {"truncated": 128})}


@pytest.mark.parametrize(("server", "obeyed"), [("transformers", False), ("vllm", True)])
async def test_who_keeps_to_a_schema(
    request: pytest.FixtureRequest, server: str, obeyed: bool
) -> None:
    async with connected(request.getfixturevalue(server)) as model:
        messages = (ChatMessage("user", ("Describe the picture.",)),)
        reply = await model.complete(messages, Decoding(max_tokens=64), SCORE)
    assert reply.finish == "stop"
    assert reply.text.startswith("{") == obeyed
    assert not obeyed or json.loads(reply.text)["score"] in {-1, 0, 1}


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
