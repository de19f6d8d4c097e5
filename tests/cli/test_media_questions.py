import asyncio
import json
from pathlib import Path
from typing import Any

import yaml
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command
from tests.fakes.seeing import asks_letter, seeing
from tests.fakes.sources import EXAMPLES


def config(folder: Path, server: ChatServer) -> Path:
    checkpoint = {"captioner": f"tgi:{server.url}"}
    media = str(EXAMPLES / "media")
    written = {
        "name": "seeing",
        "limit": 1,
        "coverage_floor": 0.5,
        "benchmarks": {
            "capability": {
                **checkpoint,
                "data": str(EXAMPLES / "capability"),
                "qa": str(EXAMPLES / "capability_qa"),
                "media": media,
            },
            "captionqa": {
                **checkpoint,
                "data": str(EXAMPLES / "captionqa" / "questions.json"),
                "qa": True,
                "media": media,
            },
            "comprecap": {
                **checkpoint,
                "data": str(EXAMPLES / "comprecap" / "anno.json"),
                "qa": str(EXAMPLES / "comprecap"),
                "media": str(EXAMPLES / "media" / "images"),
            },
        },
    }
    path = folder / "run.yaml"
    path.write_text(yaml.safe_dump(written))
    return path


async def run(folder: Path, *words: str, code: int) -> Any:
    return await asyncio.to_thread(Command(folder), *words, code=code)


async def test_captions_and_answers_of_one_checkpoint(tmp_path: Path) -> None:
    async with ChatServer(otherwise=seeing) as server:
        flags = ("evaluate", "--config", str(config(tmp_path, server)))
        told = await run(tmp_path, "plan", *flags[1:], "--json", code=0)
        await run(tmp_path, *flags, "--quiet", "--out", "run", code=0)
        questions = [asked.body for asked in server.requests if asks_letter(asked.body)]
        planned = sum(part["calls"] for part in told.told["benchmarks"])
        rows = tiny.read_lines(tmp_path / "run" / "verdicts.jsonl")
        from_media = [row for row in rows if row["item"].startswith("qa/")]
        assert planned >= len(from_media) >= len(questions) > 20
        assert {row["judge"] for row in from_media} == {"fake/judge-8b (tgi, 0123456789ab)"}
        assert not {row["reason"] for row in from_media} - {""}
        server.requests.clear()
        assert "nothing was asked" in (await run(tmp_path, *flags, "--out", "run", code=0)).out
        await run(tmp_path, *flags, "--quiet", "--out", "again", code=0)
        assert server.requests == []
    report = (tmp_path / "run" / "report.json").read_bytes()
    assert (tmp_path / "again" / "report.json").read_bytes() == report
    found = json.loads(report)["benchmarks"]
    assert 0 <= found["capability"]["average"]["kt_bar"] <= 100
    assert set(found["captionqa"]["utility_gap"]) > {"overall"}
    assert set(found["comprecap"]["compreqa"]) == {"p", "cap"}
