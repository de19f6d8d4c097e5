import asyncio
import json
from pathlib import Path
from typing import Any

from PIL import Image
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command

ANSWER = fake.answer('{"scene": "a park", "score": "1", "reason": "it says so"}')
SENT = ("temperature", "top_p", "max_tokens", "seed")


def is_captioning(body: Any) -> bool:
    return isinstance(body["messages"][-1]["content"], list)


async def test_decoding_is_told_as_it_was_sent(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, 2)
    for row in tiny.read_lines(tmp_path / "data" / "scene.jsonl"):
        path = tmp_path / "data" / row["file_path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (40, 30)).save(path)
    async with ChatServer(otherwise=ANSWER) as server:
        words = (
            *("evaluate", "capability", "--data", "data", "--captioner", f"tgi:{server.url}"),
            *("--judge", f"tgi:{server.url}", "--caption-tokens", "77", "--no-anchors"),
            *("--seed", "5", "--name", "mine", "--out", "run"),
        )
        ended = await asyncio.to_thread(Command(tmp_path), *words, code=0)
        bodies = [request.body for request in server.requests]
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    told = report["benchmarks"]["capability"]["generation"]
    assert set(told) == {"captioner", "judge"}
    for role, captioning in (("captioner", True), ("judge", False)):
        sent = [body for body in bodies if is_captioning(body) is captioning]
        assert sent
        # A server is sent no top_p where it is 1: it would change nothing.
        found = [{name: {"top_p": 1.0, **body}[name] for name in SENT} for body in sent]
        assert all(one == {name: told[role][name] for name in SENT} for one in found)
    assert told["captioner"]["max_tokens"] == 77
    line = "Captioner: decoding: temperature 0, top-p 1, at most 77 tokens, seed 5; each asked once"
    assert line in ended.out
    for file in ("report.md", "report.html"):
        text = (tmp_path / "run" / file).read_text()
        assert "temperature 0, top-p 1, at most 77 tokens, seed 5; each asked once" in text
        assert server.url.rpartition(":")[2] not in text
