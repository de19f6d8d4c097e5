import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import yaml
from aiohttp import web
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command
from tests.fakes.sources import EXAMPLES


def parts(body: dict[str, Any]) -> tuple[str, int]:
    """The words of a request, and how many pictures come with them."""
    content = [part for message in body["messages"] for part in _listed(message["content"])]
    text = "\n".join(part["text"] for part in content if part["type"] == "text")
    return text, sum(part["type"] == "image_url" for part in content)


def _listed(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def asks_letter(body: dict[str, Any]) -> bool:
    return "letter" in parts(body)[0]


async def seeing(
    server: ChatServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    """Captions whatever it is shown, and takes the first option of every question."""
    assert parts(body)[1] > 0
    text = "A" if asks_letter(body) else "A man in an orange suit in front of a flag."
    return await fake.answer(text)(server, request, body)


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


async def test_a_picture_that_is_not_there_costs_its_questions_only(tmp_path: Path) -> None:
    async with ChatServer(otherwise=seeing) as server:
        path = config(tmp_path, server)
        written = yaml.safe_load(path.read_text())
        part = written["benchmarks"]["captionqa"]
        part["media"] = str(tmp_path)
        path.write_text(yaml.safe_dump({**written, "benchmarks": {"captionqa": part}}))
        await run(tmp_path, "evaluate", "--config", str(path), "--quiet", "--out", "run", code=1)
        assert server.requests == []
    rows = tiny.read_lines(tmp_path / "run" / "verdicts.jsonl")
    reasons = Counter((row["item"].startswith("qa/"), row["reason"]) for row in rows)
    assert set(reasons) == {(True, "media_missing"), (False, "media_missing")}


async def test_trouble_of_the_checkpoint_is_no_wrong_answer(tmp_path: Path) -> None:
    async def failing(
        server: ChatServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        step = fake.status(500) if asks_letter(body) else seeing
        return await step(server, request, body)

    async with ChatServer(otherwise=failing) as server:
        path = config(tmp_path, server)
        flags = ("evaluate", "--config", str(path), "--quiet", "--out", "run")
        caliper = Command(tmp_path, {"CALIPER_RETRY_BUDGET": "0.2"})
        await asyncio.to_thread(caliper, *flags)
        first = json.loads((tmp_path / "run" / "report.json").read_text())["benchmarks"]
        assert "backend" in json.dumps(first["captionqa"])
        server.from_now_on(seeing)
        await run(tmp_path, *flags, code=0)
        captioned = [asked for asked in server.requests if not asks_letter(asked.body)]
        await run(tmp_path, *flags[:-1], "undisturbed", "--store", "another", code=0)
    samples = {row["sample"] for row in tiny.read_lines(tmp_path / "run" / "captions.jsonl")}
    assert len(captioned) >= len(samples)
    for name in ("report.json", "verdicts.parquet"):
        found = (tmp_path / "run" / name).read_bytes()
        assert found == (tmp_path / "undisturbed" / name).read_bytes(), name


async def test_where_the_questions_come_from(tmp_path: Path) -> None:
    async with ChatServer(otherwise=seeing) as server:
        path = config(tmp_path, server)
        written = yaml.safe_load(path.read_text())
        written["benchmarks"]["capability"]["qa"] = True
        path.write_text(yaml.safe_dump(written))
        ended = await run(tmp_path, "plan", "--config", str(path), code=2)
        assert "capability: questions from the media need their own data" in ended.err
        del written["benchmarks"]["capability"]
        written["benchmarks"]["captionqa"]["qa"] = str(EXAMPLES / "captionqa")
        path.write_text(yaml.safe_dump(written))
        ended = await run(tmp_path, "plan", "--config", str(path), code=2)
        assert "its own questions are asked from the media" in ended.err
