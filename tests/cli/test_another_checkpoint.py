"""Two servers that say the same of their models, and have other weights: neither is scored on what
the other said.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command, Ended
from tests.fakes.verdict_lines import forget_lines

PICTURES = 3
RIGHT, WRONG = (fake.answer(json.dumps({"score": score, "reason": "so"})) for score in ("1", "-1"))
REUSED = "of 3 verdicts reuse replies of earlier runs; use --replicate to ask again."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tiny.write_scenes(tmp_path, PICTURES)
    tiny.write_pictures(tmp_path, PICTURES)
    return tmp_path


@asynccontextmanager
async def two_servers(*says: fake.Step, kind: str = "openai") -> AsyncIterator[list[ChatServer]]:
    first, second = (ChatServer(otherwise=step, kind=kind) for step in says)
    async with first, second:
        yield [first, second]


async def evaluate(folder: Path, *more: str, code: int = 0) -> Ended:
    words = ("evaluate", "capability", "--data", "data", "--no-anchors", *more)
    return await asyncio.to_thread(Command(folder), *words, code=code)


def captioner(server: ChatServer, rest: str = "") -> tuple[str, str]:
    return "--captioner", f"tgi:{server.url}{rest}"


def judged(server: ChatServer, name: str) -> tuple[str, ...]:
    return "--captions", "captions", "--judge", f"tgi:{server.url}", "--name", name, "--out", name


async def test_a_checkpoint_that_nothing_tells_apart_needs_a_name(folder: Path) -> None:
    async with two_servers(fake.answer("A park."), fake.answer("A road.")) as servers:
        ended = await evaluate(folder, *captioner(servers[0], f"#{fake.MODEL}"), code=2)
        assert f"name: the server reports no revision of {fake.MODEL}" in ended.err
        assert "--name" in ended.err
        for server, revision in zip(servers, ("step-1", "step-2"), strict=True):
            flags = captioner(server, f"#{fake.MODEL}@{revision}")
            await evaluate(folder, *flags, "--out", revision)
            again = ("--name", "again", "--out", f"{revision}-again")
            shared = await evaluate(folder, *flags, *again)
            assert "3 of 3 captions reuse replies of earlier runs" in shared.out
        assert [len(server.requests) for server in servers] == [PICTURES] * 2
        ended = await evaluate(folder, *captioner(servers[0], "#@"), "--name", "x", code=2)
        assert "no revision after the @" in ended.err
    report = json.loads((folder / "step-1" / "report.json").read_text())
    assert report["name"] == "judge-8b@step-1"
    assert (
        report["benchmarks"]["capability"]["models"]["captioner"] == f"{fake.MODEL} (tgi, step-1)"
    )


async def test_a_server_that_reports_another_revision_is_refused(folder: Path) -> None:
    async with ChatServer() as server:
        ended = await evaluate(folder, *captioner(server, f"#{fake.MODEL}@step-1"), code=2)
        assert f"revision {fake.REVISION} of {fake.MODEL}, not step-1" in ended.err
        assert server.requests == []


async def test_reused_verdicts_are_counted_and_shown(folder: Path) -> None:
    async with two_servers(RIGHT, RIGHT, kind="tgi") as servers:
        first = await evaluate(folder, *judged(servers[0], "first"))
        assert "reuse" not in first.out
        rows = tiny.read_lines(folder / "captions" / "scene.jsonl")
        rows[-1]["caption"] = "A road."
        tiny.lines(folder / "captions" / "scene.jsonl", rows)
        second = await evaluate(folder, *judged(servers[1], "second"))
        assert len(servers[1].requests) == 1
        assert f"2 {REUSED}" in second.out
        wanted = {"captions": 0, "of_captions": 0, "verdicts": 2, "of_verdicts": 3}
        assert tiny.execution(folder / "second")["reuse"] == wanted
        assert "reuse" not in tiny.execution(folder / "first")
        for file in ("report.md", "report.html"):
            assert f"2 {REUSED}" in (folder / "second" / file).read_text(), file
        assert "reuse" not in (folder / "second" / "report.json").read_text()
        # From the directory alone, and once more: what this run asked itself is not reused.
        await asyncio.to_thread(Command(folder), "report", "second", code=0)
        assert f"2 {REUSED}" in (folder / "second" / "report.md").read_text()
        forget_lines(folder / "second")
        again = await evaluate(folder, *judged(servers[1], "second"))
        assert len(servers[1].requests) == 1
        assert f"2 {REUSED}" in again.out


async def test_a_finished_run_says_since_when(folder: Path) -> None:
    flags = ("--captions", "captions", "--out", "run")
    await evaluate(folder, *flags)
    since = tiny.execution(folder / "run")["finished"]
    again = await evaluate(folder, *flags)
    told = f"Already complete since {since[:10]} {since[11:16]} UTC; nothing was asked."
    assert told in again.out
    assert (await evaluate(folder, *flags, "--quiet")).out == ""
    printed = (await evaluate(folder, *flags, "--json")).told
    assert printed.pop("already_ended") == since
    assert printed == json.loads((folder / "run" / "report.json").read_text())
