import asyncio
import json
from pathlib import Path
from typing import Any

from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command, Ended

RIGHT = fake.answer('{"score": 1, "reason": "so says the server"}')
SAMPLES = 20
TOKENS_A_CALL = 10


async def run(folder: Path, server: ChatServer, *more: str, code: int) -> Ended:
    words = (
        *("evaluate", "capability", "--data", "data", "--captions", "captions"),
        *("--judge", f"tgi:{server.url}", "--concurrency", "1", "--out", "run"),
    )
    return await asyncio.to_thread(Command(folder), *words, *more, code=code)


def reasons(folder: Path) -> list[str]:
    """The reason of every verdict in the plan's order, empty for a score."""
    return [row["reason"] for row in tiny.read_lines(folder / "run" / "verdicts.jsonl")]


def written(folder: Path, name: str) -> Any:
    return json.loads((folder / "run" / name).read_text())


async def test_calls_are_cut_by_index_when_planned(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    async with ChatServer(otherwise=RIGHT) as server:
        ended = await run(tmp_path, server, "--max-calls", "7", code=1)
        assert len(server.requests) == 7
        assert reasons(tmp_path) == [""] * 7 + ["budget"] * 13
        assert "13 budget" in ended.out
        assert written(tmp_path, "report.json")["state"] == "finished"

        # The same cap cuts at the same place, and a higher one further on.
        assert "nothing was asked" in (await run(tmp_path, server, "--max-calls", "7", code=1)).out
        await run(tmp_path, server, "--max-calls", "9", code=1)
        assert reasons(tmp_path) == [""] * 9 + ["budget"] * 11
        await run(tmp_path, server, "--no-anchors", code=0)
        assert len(server.requests) == SAMPLES
    capped = written(tmp_path, "report.json")
    assert capped["state"] == "complete"
    assert set(reasons(tmp_path)) == {""}


async def test_tokens_stop_the_run_and_a_higher_cap_goes_on(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    async with ChatServer(otherwise=RIGHT) as server:
        ended = await run(tmp_path, server, "--max-tokens", str(5 * TOKENS_A_CALL), code=1)
        assert len(server.requests) == 5
        assert sorted(reasons(tmp_path)) == [""] * 5 + ["budget"] * 15
        assert "15 budget" in ended.out
        # The server says that 5 of the 7 tokens of every prompt were cached.
        told = "5 calls, 35 + 15 tokens; prefix-cache hits: 71%"
        assert told in " ".join(ended.out.split())
        assert written(tmp_path, "report.json")["state"] == "finished"
        (spent,) = written(tmp_path, "execution.json")["models"].values()
        assert spent["prompt_tokens"] + spent["completion_tokens"] == 5 * TOKENS_A_CALL
        assert spent["cached_share"] == round(5 / 7, 4)
        await run(tmp_path, server, "--no-anchors", code=0)
        assert len(server.requests) == SAMPLES
    assert written(tmp_path, "report.json")["state"] == "complete"


async def test_a_cap_on_tokens_that_nobody_counts_is_warned_of_once(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    uncounted = fake.completion('{"score": 1, "reason": "so says the server"}')
    del uncounted["usage"]
    async with ChatServer(otherwise=fake.raw(json.dumps(uncounted).encode())) as server:
        ended = await run(tmp_path, server, "--max-tokens", "1", "--quiet", code=0)
        assert len(server.requests) == SAMPLES
    assert ended.err.count("does not count tokens") == 1
    assert "the cap of 1 (--max-tokens) cannot be enforced" in ended.err
    (warning,) = written(tmp_path, "execution.json")["warnings"]
    assert "does not count tokens" in warning
