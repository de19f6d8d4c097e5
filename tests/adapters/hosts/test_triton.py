"""Checkpoints that a real Triton server loads, and that are unloaded in whatever state they are."""

import asyncio
import json
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command, end
from tests.fakes.suites import checkpoint, drop
from tests.fakes.triton_calls import ask, model_at, unload
from tests.servers.process import ServerProcess
from tests.servers.triton_server import models_of, put_back
from tritonclient.grpc.aio import InferenceServerClient

from caliper.adapters.hosts import triton
from caliper.adapters.hosts.access import HostAccess
from caliper.adapters.hosts.triton import RepositoryPlan, RepositoryServer
from caliper.core.errors import BackendRejected, BackendUnavailable
from caliper.ports.serving import Trace

Own = tuple[ServerProcess, str]
MODEL = "captioner"
TRITON_MODELS = (MODEL,)
ACCESS = HostAccess(lambda _: None)
CONFIG = {
    "backend": "python",
    "max_batch_size": 8,
    "input": [
        {"name": "image", "data_type": "TYPE_STRING", "dims": [-1]},
        {"name": "prompt", "data_type": "TYPE_STRING", "dims": [1]},
    ],
    "output": [{"name": "caption", "data_type": "TYPE_STRING", "dims": [1]}],
    "parameters": {"checkpoint": {"string_value": "{revision}"}},
}


@pytest.fixture
def lent(own_triton: Own) -> Iterator[Own]:
    """The module's own server, without the captioner; all is put back after the test."""
    with put_back(*own_triton):
        asyncio.run(unload(own_triton[1], MODEL))
        yield own_triton


def server_of(target: str, **more: Any) -> RepositoryServer:
    given = {"address": f"{target}/{MODEL}", "config": CONFIG, "start": 60, "silence": 60}
    return RepositoryServer(RepositoryPlan(**{**given, **more}), ACCESS)


def trace(address: str) -> Trace:
    return {"kind": "triton", "target": address, "model": MODEL}


async def is_loaded(address: str) -> bool:
    async with InferenceServerClient(address) as client:
        return bool(await client.is_model_ready(MODEL))


async def test_a_revision_is_loaded_and_unloaded(lent: Own) -> None:
    _, address = lent
    kept: list[Trace] = []

    async def note(trace: Trace) -> None:
        # Nothing exists before its trace does.
        assert not await is_loaded(address)
        kept.append(trace)

    served, origins = server_of(address), set[str]()
    for step in (1, 2):
        endpoint = await served.start(checkpoint(step), note)
        async with model_at(endpoint.url, endpoint.model) as model:
            assert (await ask(model, "Describe it.")).text
            origins.add(model.identity.origin)
        await triton.unload(json.loads(json.dumps(kept[-1])), ACCESS)
        assert not await is_loaded(address)
    # The configuration of each revision is another.
    assert len(origins) == 2


async def test_what_was_never_loaded_or_is_loading_or_gone_is_unloaded(lent: Own) -> None:
    server, address = lent
    await triton.unload(trace(address), ACCESS)
    await triton.unload({**trace(address), "model": "unknown"}, ACCESS)
    slow = models_of(server) / MODEL / "1" / "model.py"
    text = slow.read_text()
    slow.write_text(
        text + "\n    def initialize(self, args):\n        time.sleep(3)\n\n\nimport time\n"
    )
    starting = asyncio.create_task(server_of(address).start(checkpoint(1), drop))
    async with InferenceServerClient(address) as client:
        while "LOADING" not in await triton._states(client, MODEL, {}):  # noqa: ASYNC110 - Triton's
            await asyncio.sleep(0.02)
    # The process is killed while the server loads the model.
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    await triton.unload(trace(address), ACCESS)
    assert not await is_loaded(address)
    slow.write_text(text)


async def test_what_does_not_load_fails_and_says_why(lent: Own) -> None:
    server, address = lent
    with pytest.raises(BackendRejected, match=r"^Triton does not load none-1; it says: .*none-1"):
        await server_of(address, address=f"{address}/none-{{step}}").start(checkpoint(1), drop)
    slow = models_of(server) / MODEL / "1" / "model.py"
    text = slow.read_text()
    slow.write_text(
        text + "\n    def initialize(self, args):\n        time.sleep(4)\n\n\nimport time\n"
    )
    late = "^not ready within 1 seconds: Triton's captioner: it is being loaded$"
    with pytest.raises(BackendRejected, match=late):
        await server_of(address, start=1).start(checkpoint(1), drop)
    await triton.unload(trace(address), ACCESS)
    assert not await is_loaded(address)
    slow.write_text(text)


async def test_a_server_that_goes_away_is_noticed(lent: Own) -> None:
    server, address = lent
    served = server_of(address, silence=0.2)
    await served.start(checkpoint(1), drop)
    server.kill()
    with pytest.raises(BackendRejected, match=r"not ready any more for 0\.2 seconds: "):
        await served.watch()
    with pytest.raises(BackendUnavailable, match="cannot reach the Triton server"):
        await server_of(address).start(checkpoint(1), drop)
    with pytest.raises(BackendUnavailable, match="Triton does not unload captioner"):
        await triton.unload(trace(address), ACCESS)
    server.start()
    await triton.unload(trace(address), ACCESS)
    assert not await is_loaded(address)


async def test_a_loop_that_is_killed_leaves_a_model_that_the_next_one_unloads(
    lent: Own, tmp_path: Path
) -> None:
    _, address = lent
    tiny.write_pictures(tmp_path, 3)
    tiny.text(tmp_path / "checkpoints" / "step-1" / "weights", "1")
    captioner = "triton:{endpoint}/{model}#revision={revision}"
    run = ("suite", "run", "suite.yaml", "--watch", "checkpoints", "--once")
    silent = asyncio.Event()

    async def step(*_: Any) -> Any:
        await silent.wait()

    async with ChatServer(otherwise=step) as judge:
        model = f"tgi:{judge.url}#{fake.MODEL}@{fake.REVISION}"
        values = {
            "name": "nightly",
            "benchmarks": {"capability": {"data": "data", "captioner": captioner, "judge": model}},
            "serve": {"triton": f"{address}/{MODEL}", "config": CONFIG},
            "anchors": False,
        }
        tiny.text(tmp_path / "suite.yaml", yaml.safe_dump(values))
        loop = Command(tmp_path).start(*run)
        await judge.until_received(1)
        await asyncio.to_thread(end, loop, signal.SIGKILL)
        assert await is_loaded(address)
        judge.from_now_on(fake.answer('{"score": 1, "reason": "so says the server"}'))
        ended = await asyncio.to_thread(Command(tmp_path), *run, code=0)
    assert "evaluated" in ended.out
    assert not await is_loaded(address)
    (record,) = (tmp_path / "runs/.suites/slots").glob("server.*/record.json")
    assert json.loads(record.read_text())["trace"] == {}
    shutil.rmtree(tmp_path / "runs")
