"""Checkpoints at endpoints that others run: waited for, or loaded as adapters and unloaded."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.fakes import tiny
from tests.fakes.bearer import token_for_all
from tests.fakes.chat_server import ChatServer
from tests.fakes.clock import PATIENCE
from tests.fakes.command import Command, end
from tests.fakes.suites import checkpoint, drop
from tests.fakes.vllm import Vllm

from caliper.adapters.hosts import endpoint
from caliper.adapters.hosts.access import HostAccess
from caliper.adapters.hosts.endpoint import EndpointPlan, EndpointServer
from caliper.core.errors import BackendRejected, BackendUnavailable, InvalidInput
from caliper.ports.serving import Trace
from caliper.wiring.hosts import HostRoom
from caliper.wiring.models import Access

ACCESS = HostAccess(lambda _: None)


def server_of(url: str, **more: Any) -> EndpointServer:
    given = {"url": url, "model": "{revision}", "lora": None, "start": 30, "silence": 30}
    return EndpointServer(EndpointPlan(**{**given, **more}), ACCESS)


@pytest.fixture
async def vllm() -> AsyncIterator[Vllm]:
    async with Vllm({"/checkpoints/step-1"}) as server:
        yield server


@pytest.mark.parametrize("kind", ["tgi", "openai"])
async def test_an_endpoint_is_waited_for_until_it_serves_the_revision(kind: str) -> None:
    name = "rev1" if kind == "openai" else "m"
    async with ChatServer(kind=kind, revision="rev1", models=(name,), starting=3) as server:
        served = server_of(f"{server.url}/v1")
        found = await served.start(checkpoint(1), drop)
        assert (found.url, found.model) == (server.url, name)
        other = server_of(server.url, start=3, silence=0.1)
        told = r"^not ready within 3 seconds: /(info|v1/models) says rev1, not rev2$"
        with pytest.raises(BackendRejected, match=told):
            await other.start(checkpoint(2), drop)
        # It serves another one from now on.
        with pytest.raises(BackendRejected, match=r"^not served for 0\.1 seconds: .*, not rev2$"):
            await other.watch()


async def test_a_server_that_tells_no_revision_may_have_any() -> None:
    async with ChatServer(kind="openai", models=("m",)) as server:
        with pytest.raises(InvalidInput, match=r"^serve\.model: .* m, whatever its revision"):
            await server_of(server.url, model="m").start(checkpoint(1), drop)


async def test_an_adapter_is_loaded_and_unloaded(vllm: Vllm) -> None:
    kept: list[Trace] = []

    async def note(trace: Trace) -> None:
        assert not vllm.loaded
        kept.append(trace)

    found = await server_of(vllm.url, lora="{path}").start(checkpoint(1), note)
    assert vllm.loaded == {found.model: "/checkpoints/step-1"} == {"rev1": "/checkpoints/step-1"}
    trace = json.loads(json.dumps(kept[0]))
    await endpoint.unload(trace, ACCESS)
    assert vllm.loaded == {}
    # Whoever finds the trace once more finds nothing.
    await endpoint.unload(trace, ACCESS)


async def test_an_adapter_that_is_being_loaded_is_unloaded(vllm: Vllm) -> None:
    vllm.slow.clear()
    starting = asyncio.create_task(server_of(vllm.url, lora="{path}").start(checkpoint(1), drop))
    await vllm.loading.wait()
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    trace = {"kind": "lora", "url": vllm.url, "model": "rev1"}
    removing = asyncio.create_task(endpoint.unload(trace, ACCESS))
    vllm.slow.set()
    await removing
    assert vllm.loaded == {}


async def test_what_does_not_load_fails_and_says_why(vllm: Vllm) -> None:
    with pytest.raises(
        BackendRejected, match=r"vLLM does not load rev2: HTTP 404; it says: .*step-2"
    ):
        await server_of(vllm.url, lora="{path}").start(checkpoint(2), drop)
    await server_of(vllm.url, lora="{path}").start(checkpoint(1), drop)
    with pytest.raises(BackendRejected, match=r"HTTP 400; it says: .*already been loaded"):
        await server_of(vllm.url, lora="{path}").start(checkpoint(1), drop)
    vllm.hung.clear()
    with pytest.raises(BackendRejected, match=r"load rev1: no answer in 0\.2 seconds"):
        await server_of(vllm.url, lora="{path}", start=0.2).start(checkpoint(1), drop)
    vllm.hung.set()


async def test_a_server_that_is_away_can_be_tried_again() -> None:
    async with Vllm(()) as server:
        url = server.url
    with pytest.raises(BackendUnavailable, match="vLLM does not load rev1: Connection refused"):
        await server_of(url, lora="{path}").start(checkpoint(1), drop)
    with pytest.raises(BackendUnavailable, match="vLLM does not unload rev1: Connection refused"):
        await endpoint.unload({"kind": "lora", "url": url, "model": "rev1"}, ACCESS)


async def test_a_token_does_not_leave_this_machine_in_plaintext(tmp_path: Path) -> None:
    plan = {"triton": None, "endpoint": "http://192.0.2.1", "model": "m", "lora": "{path}"}
    room = HostRoom(Access(token_for_all("secret")))
    server = room.server({**plan, "start": 1, "silence": 1}, tmp_path / "log")
    with pytest.raises(InvalidInput, match=r"the token would go to .* give https://"):
        await server.start(checkpoint(1), drop)


@pytest.mark.parametrize("moment", ["loading", "captioning"])
async def test_a_loop_that_is_killed_leaves_an_adapter_that_the_next_one_unloads(
    tmp_path: Path, moment: str
) -> None:
    tiny.write_pictures(tmp_path, 3)
    source = tmp_path / "checkpoints" / "step-1"
    tiny.text(source / "weights", "1")
    run = ("suite", "run", "suite.yaml", "--watch", "checkpoints", "--once")
    async with Vllm({str(source)}) as server:
        captioner = "tgi:{endpoint}#{model}@{revision}"
        values = {
            "name": "nightly",
            "benchmarks": {"capability": {"data": "data", "captioner": captioner}},
            "serve": {"endpoint": server.url, "lora": "{path}"},
        }
        tiny.text(tmp_path / "suite.yaml", yaml.safe_dump(values))
        (server.slow if moment == "loading" else server.answering).clear()
        loop = Command(tmp_path).start(*run)
        async with asyncio.timeout(PATIENCE):
            await getattr(server, moment).wait()
        await asyncio.to_thread(end, loop, signal.SIGKILL)
        for event in (server.slow, server.answering):
            event.set()
        ended = await asyncio.to_thread(Command(tmp_path), *run, code=0)
        assert "evaluated" in ended.out
        assert server.loaded == {}
    (record,) = (tmp_path / "runs/.suites/slots").glob("server.*/record.json")
    assert json.loads(record.read_text())["trace"] == {}
