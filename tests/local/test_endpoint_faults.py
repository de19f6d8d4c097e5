"""Whole runs against an endpoint in every kind of trouble: the run ends, what the trouble met is
Unscored for the right reason or asked again, and every other verdict is that of a quiet run.
"""

import asyncio
import resource
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.fakes import chat_server as fake
from tests.fakes import chat_trouble, tiny
from tests.fakes.bearer import token_for_all
from tests.fakes.chat_server import ChatServer, Step
from tests.fakes.numbered_judge import BROKEN, judging
from tests.servers.process import free_ports

from caliper.core.errors import ModelChanged
from caliper.local.config import RunConfig, check_config
from caliper.local.run import RunResult, evaluate
from caliper.local.setup import prepare
from caliper.local.watchers import SilentWatcher
from caliper.wiring.clock import SystemClock
from caliper.wiring.models import Access

SAMPLES = 12
# Only for those whose trouble lasts: what is well is waited for on any machine.
IMPATIENT = Access(timeout=4.0, retry_budget=8.0)
PATIENT = Access(timeout=60.0, retry_budget=120.0)


async def run(server: ChatServer, folder: Path, out: str, access: Access = PATIENT) -> RunResult:
    """The run of all samples, in this process."""
    return await run_at(server.url, folder, out, access)


async def run_at(urls: str, folder: Path, out: str, access: Access) -> RunResult:
    clock = SystemClock()
    async with prepare(configured(urls, folder, out), access, clock) as prepared:
        return await evaluate(prepared, SilentWatcher(), clock)


def configured(url: str, folder: Path, out: str) -> RunConfig:
    part = {
        "data": str(folder / "data"),
        "captions": str(folder / "captions"),
        "judge": f"tgi:{url}",
    }
    places = {"out": str(folder / out), "store": str(folder / f"{out}-store"), "anchors": False}
    return check_config({"benchmarks": {"capability": part}, "concurrency": 8, **places})


def rows(folder: Path, out: str) -> dict[int, dict[str, Any]]:
    """The verdicts by the number of their sample."""
    told = tiny.read_lines(folder / out / "verdicts.jsonl")
    return {int(row["item"].removeprefix("scene/s")): row for row in told}


@pytest.fixture
async def quiet(tmp_path: Path) -> dict[int, dict[str, Any]]:
    """The verdicts of a run without trouble, over the data that the test uses."""
    tiny.write_scenes(tmp_path, SAMPLES)
    async with ChatServer(otherwise=judging()) as server:
        found = await run(server, tmp_path, "quiet")
        assert found.report.state == "complete"
    return rows(tmp_path, "quiet")


LASTING: dict[str, tuple[Callable[[], Step], set[str]]] = {
    "reset in mid-body": (chat_trouble.cut_body, {"backend"}),
    "cut at once": (chat_trouble.cut_at_once, {"backend"}),
    "slow headers": (chat_trouble.slow_headers, {"timeout"}),
    "no answer": (chat_trouble.never, {"timeout"}),
    "a reply that never ends, slowly": (lambda: chat_trouble.endless(b" "), {"timeout"}),
    "a reply that never ends, fast": (
        lambda: chat_trouble.endless(b" " * 2**20),
        {"backend", "timeout"},
    ),
    "429": (lambda: fake.status(429), {"backend"}),
    "429 with Retry-After": (lambda: fake.status(429, retry_after="1"), {"backend"}),
    "500": (lambda: fake.status(500), {"backend"}),
    "503": (lambda: fake.status(503, "Model is loading"), {"backend"}),
    "401": (lambda: fake.status(401), {"backend"}),
    "404": (lambda: fake.status(404, "The model does not exist"), {"backend"}),
    "413": (lambda: fake.status(413), {"backend"}),
    "context too long": (
        lambda: fake.status(400, "This model's maximum context length is 4096 tokens"),
        {"backend"},
    ),
    "html": (chat_trouble.html, {"backend"}),
    "utf-8 cut in half": (chat_trouble.half_utf8, {"backend"}),
    "gzip bomb": (lambda: chat_trouble.bomb(2**28), {"backend", "timeout"}),
    "empty content": (lambda: fake.answer(""), {"no_reply"}),
    "refusal": (lambda: fake.answer(None, refusal="I cannot help with that"), {"refused"}),
    "content filter": (lambda: fake.answer('{"score": 1}', "content_filter"), {"refused"}),
    "broken off": (lambda: fake.answer('{"score": 1}', "abort"), {"backend"}),
    "cut at the limit": (lambda: fake.answer('{"score": 1, "re', "length"), {"truncated"}),
    "schema ignored": (lambda: fake.answer("I like this caption."), {"unreadable"}),
}


@dataclass(frozen=True)
class Lasted:
    """What came of a run whose endpoint was in trouble for as long as it went on."""

    state: str
    verdicts: dict[int, dict[str, Any]]
    requests: int


@dataclass(frozen=True)
class Troubles:
    """All kinds of lasting trouble: they are waited for at the same time, not in turn."""

    quiet: dict[int, dict[str, Any]]
    by_name: dict[str, Lasted]
    grown: int
    """By how many KiB memory grew at its peak."""


@pytest.fixture(scope="module")
def troubles(tmp_path_factory: pytest.TempPathFactory) -> Troubles:
    folder = tmp_path_factory.mktemp("lasting")
    tiny.write_scenes(folder, SAMPLES)

    async def ran(place: int, trouble: Step | None) -> Lasted:
        async with ChatServer(otherwise=judging(trouble)) as server:
            access = IMPATIENT if trouble else PATIENT
            found = await run(server, folder, f"run{place}", access)
            requests = len(server.requests)
        return Lasted(found.report.state, rows(folder, f"run{place}"), requests)

    async def all_ran() -> tuple[Lasted, list[Lasted], int]:
        quiet = await ran(len(LASTING), None)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        troubled = (ran(place, make()) for place, (make, _) in enumerate(LASTING.values()))
        found = await asyncio.gather(*troubled)
        return quiet, found, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    quiet, found, grown = asyncio.run(all_ran())
    assert quiet.state == "complete"
    return Troubles(quiet.verdicts, dict(zip(LASTING, found, strict=True)), grown)


@pytest.mark.parametrize("name", LASTING)
def test_lasting_trouble_of_some_requests(troubles: Troubles, name: str) -> None:
    ran = troubles.by_name[name]
    _, reasons = LASTING[name]
    assert ran.state == "finished"
    unscored = {number for number, row in ran.verdicts.items() if row["score"] is None}
    assert unscored == BROKEN
    assert {ran.verdicts[number]["reason"] for number in BROKEN} <= reasons
    for number in set(range(SAMPLES)) - BROKEN:
        assert ran.verdicts[number] == troubles.quiet[number]
    # Trouble is asked again, and not for ever.
    assert ran.requests <= 20 * SAMPLES


def test_lasting_trouble_takes_no_memory(troubles: Troubles) -> None:
    # One bomb alone would be 256 MiB, and a reply without end has no end.
    assert troubles.grown < 200 * 1024


STORM = 12
OUTAGE = 7
PASSING: dict[str, list[Step]] = {
    "a storm of 429": [fake.status(429)] * STORM,
    "a storm of 429 with Retry-After": [fake.status(429, retry_after="1")] * STORM,
    "a storm of 503 with Retry-After": [fake.status(503, retry_after="1")] * STORM,
    "500": [fake.status(500)] * OUTAGE,
    "503 while it loads": [fake.status(503, "Model is loading")] * OUTAGE,
    "connections cut": [chat_trouble.cut_at_once()] * OUTAGE,
    "a proxy in front of nothing": [chat_trouble.html()] * OUTAGE,
}


@pytest.mark.parametrize("storm", PASSING.values(), ids=PASSING)
async def test_trouble_that_passes_leaves_no_trace(
    tmp_path: Path, quiet: dict[int, Any], storm: list[Step]
) -> None:
    async with ChatServer(storm, otherwise=judging()) as server:
        found = await run(server, tmp_path, "run")
        assert len(server.requests) == len(storm) + SAMPLES
    assert found.report.state == "complete"
    assert rows(tmp_path, "run") == quiet
    report = (tmp_path / "run" / "report.json").read_bytes()
    assert report == (tmp_path / "quiet" / "report.json").read_bytes()


async def test_a_server_that_is_started_anew(tmp_path: Path, quiet: dict[int, Any]) -> None:
    first = ChatServer([judging()] * 5, otherwise=chat_trouble.never(), port=free_ports(1)[0])
    async with first:
        running = asyncio.create_task(run(first, tmp_path, "run"))
        await first.until_received(SAMPLES)
    # Nobody listens for a while, and then the same model again, on the same port.
    async with ChatServer(port=first.port, otherwise=judging()) as second:
        found = await running
        assert len(second.requests) == SAMPLES - 5
    assert found.report.state == "complete"
    assert rows(tmp_path, "run") == quiet


async def test_another_revision_in_mid_run_stops_it(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    first = ChatServer([judging()] * 5, otherwise=chat_trouble.never(), port=free_ports(1)[0])
    async with first:
        running = asyncio.create_task(run(first, tmp_path, "run"))
        await first.until_received(5 + 7)
    async with ChatServer(port=first.port, revision="another", otherwise=judging()) as second:
        with pytest.raises(ModelChanged, match="now serves fake/judge-8b"):
            await running
        # It was not asked a single question.
        assert second.requests == []
    assert not (tmp_path / "run" / "report.json").exists()


@pytest.mark.parametrize("switched", [1, SAMPLES // 2, SAMPLES])
async def test_another_revision_without_a_break_stops_the_run(
    tmp_path: Path, switched: int
) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)

    async def step(
        server: ChatServer, request: web.Request, asked: dict[str, Any]
    ) -> web.StreamResponse:
        # The server goes over to it when that many were asked, the last one at the latest.
        if len(server.requests) >= switched:
            server.revision = "another"
        return await judging()(server, request, asked)

    async with ChatServer(otherwise=step) as server:
        with pytest.raises(ModelChanged, match="now serves fake/judge-8b"):
            await run(server, tmp_path, "run")
    assert not (tmp_path / "run" / "report.json").exists()


async def test_one_of_two_endpoints_dies(tmp_path: Path, quiet: dict[int, Any]) -> None:
    async with ChatServer(otherwise=judging()) as sound:
        async with ChatServer([judging()] * 2, otherwise=chat_trouble.never()) as dying:
            urls = f"{sound.url},{dying.url}"
            running = asyncio.create_task(run_at(urls, tmp_path, "run", PATIENT))
            await dying.until_received(3)
        found = await running
    assert found.report.state == "complete"
    assert rows(tmp_path, "run") == quiet


async def test_a_token_that_is_no_longer_taken(tmp_path: Path, quiet: dict[int, Any]) -> None:
    access = replace(PATIENT, tokens=token_for_all("good"), retry_budget=0.3)
    async with ChatServer(otherwise=judging(), token="good") as server:

        async def revoke(
            server: ChatServer, request: web.Request, asked: dict[str, Any]
        ) -> web.StreamResponse:
            server.token = "another"
            return await judging()(server, request, asked)

        server.from_now_on(revoke)
        found = await run(server, tmp_path, "run", access)
    told = rows(tmp_path, "run")
    assert found.report.state == "finished"
    scored = {number for number, row in told.items() if row["score"] is not None}
    assert scored
    assert {row["reason"] for number, row in told.items() if number not in scored} == {"backend"}
    for number in scored:
        assert told[number] == quiet[number]
