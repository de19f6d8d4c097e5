"""A judge behind an endpoint: what is asked, what is asked again, and what never scores."""

import asyncio
import json
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.fakes import chat_server as fake
from tests.fakes import chat_trouble, tiny
from tests.fakes.chat_server import ChatServer, Step
from tests.fakes.command import Command, Ended, end
from tests.fakes.numbered_judge import number_asked

# For runs that end because the endpoint stays away: the others have the ten minutes of users.
IMPATIENT = {"CALIPER_RETRY_BUDGET": "0.6"}
RIGHT = fake.answer('{"score": 1, "reason": "so says the server"}')
IN_FLIGHT = 8


def words(server: ChatServer, out: str = "run") -> tuple[str, ...]:
    return (
        *("evaluate", "capability", "--data", "data", "--captions", "captions"),
        *("--judge", f"tgi:{server.url}", "--concurrency", str(IN_FLIGHT), "--out", out),
        # Here calls are counted.
        "--no-anchors",
    )


async def run(
    folder: Path, server: ChatServer, *more: str, out: str = "run", code: int = 0, **setting: str
) -> Ended:
    """Run the command to its end while the server goes on serving."""
    caliper = Command(folder, setting)
    return await asyncio.to_thread(caliper, *words(server, out), *more, code=code)


def part(folder: Path, out: str = "run") -> Any:
    report = json.loads((folder / out / "report.json").read_text())
    return {"state": report["state"], **report["benchmarks"]["capability"]}


def by_number(steps: Mapping[int, Step]) -> Step:
    """Answers by the sample that is asked about; rightly, where no other step is given."""

    async def step(
        server: ChatServer, request: web.Request, asked: dict[str, Any]
    ) -> web.StreamResponse:
        return await steps.get(number_asked(asked), RIGHT)(server, request, asked)

    return step


async def test_every_question_is_asked_once_and_never_again(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, 30)
    async with ChatServer(otherwise=RIGHT) as server:
        plan = ("plan", *words(server)[1:], "--json")
        told = (await asyncio.to_thread(Command(tmp_path), *plan, code=0)).told
        assert server.requests == []
        assert told["benchmarks"][0]["calls"] == 30
        await run(tmp_path, server)
        assert sorted(number_asked(asked.body) for asked in server.requests) == list(range(30))
        assert part(tmp_path)["tasks"]["scene"]["recall"] == 100
        assert "tgi" in part(tmp_path)["models"]["judge"]
        spent = tiny.execution(tmp_path / "run")["models"]
        assert [told["calls"] for told in spent.values()] == [30]

        server.requests.clear()
        assert "nothing was asked" in (await run(tmp_path, server)).out
        # Another reading of the same replies, and the same run in another directory.
        await run(tmp_path, server, "--set", "reply_reading=strict", out="strict")
        await run(tmp_path, server, out="again")
        assert server.requests == []
        assert (tmp_path / "again" / "report.json").read_bytes() == (
            tmp_path / "run" / "report.json"
        ).read_bytes()
        await run(tmp_path, server, "--replicate", "1", out="anew")
        assert len(server.requests) == 30


@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, 130)])
async def test_after_a_kill_only_what_was_in_flight_is_asked_again(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    tiny.write_scenes(tmp_path, 40)
    async with ChatServer([RIGHT] * 12, otherwise=chat_trouble.never()) as server:
        process = Command(tmp_path, {"CALIPER_TIMEOUT": "60"}).start(*words(server))
        await server.until_received(12 + IN_FLIGHT)
        assert (await asyncio.to_thread(end, process, number)).code == code
        server.from_now_on(RIGHT)
        await run(tmp_path, server)
        assert len(server.requests) == 40 + IN_FLIGHT
        assert part(tmp_path)["coverage"]["scored"] == 40
        await run(tmp_path, server, "--store", "another", out="undisturbed")
    disturbed, undisturbed = part(tmp_path), part(tmp_path, "undisturbed")
    assert disturbed == undisturbed


async def test_an_endpoint_that_is_down(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, 6)
    async with ChatServer([RIGHT] * 2, otherwise=chat_trouble.never()) as server:
        process = Command(tmp_path).start(*words(server, "cut"))
        await server.until_received(6)
        await asyncio.to_thread(end, process, signal.SIGKILL)
        server.from_now_on(RIGHT)
        await run(tmp_path, server)
        before = (tmp_path / "run" / "report.json").read_text()
        server.from_now_on(by_number({1: fake.status(500)}))
        await run(tmp_path, server, "--replicate", "1", out="finished", code=1, **IMPATIENT)
    # A complete run is found by its run.yaml, one that is not has to be asked on.
    found = (await run(tmp_path, server, "--json")).told
    assert found.pop("already_ended")
    assert found == json.loads(before)
    for out, more in (("cut", ()), ("finished", ("--replicate", "1")), ("new", ())):
        ended = await run(tmp_path, server, *more, out=out, code=4, **IMPATIENT)
        assert ended.err.startswith("Error: 127.0.0.1:")
        assert ": cannot connect to the endpoint: " in ended.err
        assert "Traceback" not in ended.err
    # The captions are others: it is not that run.
    captions = tmp_path / "captions" / "scene.jsonl"
    captions.write_text(captions.read_text().replace("dog", "cat"))
    await run(tmp_path, server, code=4, **IMPATIENT)


async def test_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, 3)
    async with ChatServer(otherwise=RIGHT) as server:
        ended = await run(tmp_path, server, "--store", "data/scene.jsonl/store", code=4)
        assert "data/scene.jsonl/store" in ended.err
        await run(tmp_path, server)


async def test_another_model_than_the_one_resolved_stops_the_run(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, 4)
    other = fake.answer('{"score": 1, "reason": ""}', model="fake/another")
    async with ChatServer([RIGHT], otherwise=other) as server:
        ended = await run(tmp_path, server, code=4)
        assert "'fake/another'; the run was resolved with 'fake/judge-8b'" in ended.err
        assert not (tmp_path / "run" / "report.json").exists()


async def test_a_token_is_sent_and_never_told(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, 2)
    secret = "hush-4711"
    (tmp_path / "token").write_text(secret + "\n")
    async with ChatServer(otherwise=RIGHT, token=secret) as server:
        ended = await run(tmp_path, server, code=4)
        assert "it rejected the token" in ended.err
        ended = await run(tmp_path, server, code=4, CALIPER_TOKEN="wrong-0815")
        assert "wrong-0815" not in ended.err + ended.out
        await run(tmp_path, server, CALIPER_TOKEN_FILE=str(tmp_path / "token"))
    for path in (path for path in (tmp_path / "run").rglob("*") if path.is_file()):
        assert secret.encode() not in path.read_bytes(), path
        # Where the model was is told to whoever repeats the run, and to nobody else.
        assert (server.url.encode() in path.read_bytes()) == (path.name == "run.yaml"), path


async def test_a_model_that_the_endpoint_does_not_serve(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, 2)
    async with ChatServer(kind="openai", models=("a/one", "b/two")) as server:
        flags = [*words(server)]
        flags[flags.index("--judge") + 1] += "#c/three"
        ended = await asyncio.to_thread(Command(tmp_path), *flags, code=2)
        assert "unknown model of the endpoint 'c/three'; known: a/one, b/two" in ended.err


async def test_repeats_of_comprecap_are_different_draws(tmp_path: Path) -> None:
    tiny.write_all(tmp_path)
    async with ChatServer(otherwise=fake.answer("4")) as server:
        caliper = Command(tmp_path)
        ended = await asyncio.to_thread(
            caliper,
            *("evaluate", "comprecap", "--data", "anno.json", "--judge", f"tgi:{server.url}"),
            *("--captions", "captions/comprecap.json", "--json", "--no-anchors"),
            code=0,
        )
        assert ended.told["benchmarks"]["comprecap"]["s_attribute"] == 4
        assert len(server.requests) == 9
        assert {asked.body["temperature"] for asked in server.requests} == {0.6}
        assert len({asked.body["seed"] for asked in server.requests}) == 3
