"""Run files draw out no tokens, and every endpoint gets its own."""

import asyncio
from pathlib import Path

import yaml
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command, Ended

from caliper.library.inputs import RunInputs

RIGHT = fake.answer('{"score": 1, "reason": "so says the server"}')
SECRET = "sesame-4711"


async def run(folder: Path, *words: str, code: int, **given: str) -> Ended:
    environment = {f"CALIPER_{name}": value for name, value in given.items()}
    return await asyncio.to_thread(Command(folder, environment), *words, code=code)


async def test_a_run_file_draws_out_no_token(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, 2)
    evaluate = ("evaluate", "--config", "theirs.yaml", "--quiet", "--no-anchors")
    async with ChatServer(otherwise=RIGHT) as server:
        part = {"data": "data", "captions": "captions", "judge": f"tgi:{server.url}"}
        values = {"name": "theirs", "benchmarks": {"capability": part}}
        tiny.text(tmp_path / "theirs.yaml", yaml.safe_dump(values))
        ended = await run(tmp_path, *evaluate, code=2, TOKEN=SECRET)
        place = server.url.removeprefix("http://")
        assert f"CALIPER_TOKEN: not sent to {place} unless CALIPER_TOKEN_HOSTS" in ended.err
        assert len(ended.err.splitlines()) == 1
        assert (server.requests, server.model_requests) == ([], 0)
        await run(tmp_path, *evaluate, code=0, TOKEN=SECRET, TOKEN_HOSTS="model.test")
        assert {each.headers.get("Authorization") for each in server.requests} == {None}
        server.token = SECRET
        (tmp_path / "runs").rename(tmp_path / "before")
        await run(tmp_path, *evaluate, code=0, TOKEN=SECRET, TOKEN_HOSTS=place)


def test_a_program_names_endpoints_and_a_file_does_not(tmp_path: Path) -> None:
    judge = "tgi:https://model.test"
    parts = {"capability": {"data": "data", "captions": "captions"}}
    inputs = RunInputs(tmp_path)
    inputs.config(None, parts, judge, "ours", {})
    assert judge in inputs.named_specs
    theirs = {"capability": {**parts["capability"], "judge": "tgi:https://evil.test"}}
    tiny.text(tmp_path / "theirs.yaml", yaml.safe_dump({"benchmarks": theirs}))
    captioner = "tgi:https://vlm.test"
    inputs.config(captioner, tmp_path / "theirs.yaml", judge, "ours", {})
    assert inputs.named_specs == (captioner, judge)


async def test_the_doctor_says_who_gets_which(tmp_path: Path) -> None:
    async with ChatServer(token="one") as first, ChatServer(token="two") as second:
        places = [each.url.removeprefix("http://") for each in (first, second)]
        file = tmp_path / "tokens"
        file.write_text(f"{places[0]} one\n{places[1]} two\n")
        file.chmod(0o600)
        models = ("--judge", f"tgi:{first.url}", "--reader", f"tgi:{second.url}")
        third = ("triton:https://127.0.0.1:1/m", "--timeout", "0.5", "--json")
        ended = await run(tmp_path, "doctor", *models, *third, code=1, TOKENS_FILE=str(file))
        found = {each["component"]: each for each in ended.told["components"]}
        lines = [f"CALIPER_TOKENS_FILE line {number}" for number in (1, 2)]
        assert "problem" not in [found[role]["state"] for role in ("judge", "reader")]
        assert found["tokens"]["facts"]["sources"] == {
            "127.0.0.1:1": [],
            places[0]: [lines[0]],
            places[1]: [lines[1]],
        }
        assert f"{places[1]} gets {lines[1]}" in found["tokens"]["message"]
        assert "127.0.0.1:1 gets none" in found["tokens"]["message"]
        file.chmod(0o644)
        ended = await run(tmp_path, "doctor", *models, code=2, TOKENS_FILE=str(file))
        assert "chmod 600" in ended.err
