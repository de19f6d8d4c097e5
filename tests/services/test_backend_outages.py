"""Readiness follows the endpoints of models: not ready while they are gone, and then again."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from tests.fakes.chat_server import ChatServer
from tests.fakes.readiness import Readiness
from tests.fakes.telemetry import until
from tests.servers.process import STARTS_WITHIN, free_ports

from caliper.adapters.stores.directory import DirectoryStore
from caliper.core.errors import InvalidInput
from caliper.serving.addresses import Address
from caliper.serving.grpc_server import ServerOptions
from caliper.serving.lifecycle import ServiceParts, ServiceRun, merge_parts
from caliper.wiring.grounds import Ground, memory_ground
from caliper.wiring.service_settings import CaptionerSettings, JudgeSettings, QaReaderSettings
from caliper.wiring.services import captioner_parts, open_answerer_parts
from caliper.wiring.startup import loaded_later

LOOPBACK = Address("127.0.0.1", 0)
OPTIONS = ServerOptions(LOOPBACK, health=LOOPBACK, grace=5, check_every=0.05)


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return memory_ground(DirectoryStore(tmp_path / "store"))


async def parts_of(role: str, model: str, ground: Ground) -> ServiceParts:
    if role == "captioner":
        parts, _ = await captioner_parts(CaptionerSettings(model=model), ground)
    elif role == "judge":
        language = ("rules", "ngram")
        parts, _ = await open_answerer_parts(role, JudgeSettings(model=model), ground, language)
    else:
        parts, _ = await open_answerer_parts(role, QaReaderSettings(model=model), ground)
    return parts


@asynccontextmanager
async def watched(parts: ServiceParts) -> AsyncIterator[Readiness]:
    running = ServiceRun(OPTIONS, parts)
    task = asyncio.create_task(running.run())
    await running.probed.wait()
    try:
        assert running.server.health_address is not None
        async with Readiness(running.server.health_address.port) as readiness:
            yield readiness
    finally:
        running.stopping.set()
        await task


@pytest.mark.parametrize("role", ["judge", "reader", "captioner"])
async def test_an_endpoint_that_is_stopped_and_started(
    role: str, ground: Ground, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with asyncio.timeout(STARTS_WITHIN), AsyncExitStack() as stack:
        async with ChatServer(port=free_ports(1)[0]) as chat:
            parts = await parts_of(role, f"tgi:{chat.url}", ground)
            readiness = await stack.enter_async_context(watched(parts))
            await readiness.until(True)
        await readiness.until(False)
        async with ChatServer(port=chat.port):
            await readiness.until(True)
        assert readiness.told[-3:] == [True, False, True]
    said = [record.getMessage() for record in caplog.records if "ready" in record.getMessage()]
    gone, back = (line for line in said if "model" in line)
    assert gone.startswith(f"not ready: {role}'s model: BackendUnavailable: no endpoint of the")
    assert f"127.0.0.1:{chat.port}" in gone
    assert back == f"ready again: {role}'s model"


async def test_a_service_in_one_process_is_ready_at_its_first_look(
    ground: Ground, caplog: pytest.LogCaptureFixture
) -> None:
    parts = await parts_of("judge", "lexical", ground)
    async with asyncio.timeout(STARTS_WITHIN), watched(parts) as readiness:
        await readiness.until(True)
    assert "not ready" not in caplog.text


def captioner_later(model: str, ground: Ground, pause: float = 0.02) -> ServiceParts:
    settings = CaptionerSettings(model=model, retry_budget=pause)
    return loaded_later(lambda: captioner_parts(settings, ground), pause)


async def test_a_model_that_still_loads_is_waited_for(
    ground: Ground, caplog: pytest.LogCaptureFixture
) -> None:
    async with ChatServer(port=free_ports(1)[0]) as chat:
        pass
    page = asyncio.Event()

    async def metrics() -> None:
        page.set()
        await asyncio.Event().wait()

    loading = captioner_later(f"tgi:{chat.url}", ground)
    parts = merge_parts([loading, ServiceParts((), tasks=(metrics,))])
    async with asyncio.timeout(STARTS_WITHIN), watched(parts) as readiness:
        await readiness.until(False)
        await page.wait()
        await until(lambda: len(caplog.records) > 0)
        async with ChatServer(port=chat.port):
            await readiness.until(True)
    assert readiness.told == [False, True]
    (line,) = (each.getMessage() for each in caplog.records if "model" in each.getMessage())
    assert line.startswith(f"waiting for the model: BackendUnavailable: 127.0.0.1:{chat.port}: ")


async def test_a_service_that_waits_for_its_model_can_be_stopped(ground: Ground) -> None:
    async with ChatServer() as chat:
        pass
    parts = captioner_later(f"tgi:{chat.url}", ground, pause=3600)
    async with asyncio.timeout(STARTS_WITHIN), watched(parts) as readiness:
        await readiness.until(False)


async def test_a_setting_that_is_wrong_is_not_waited_for(ground: Ground) -> None:
    parts = captioner_later("lexical", ground)
    with pytest.raises(InvalidInput, match="cannot look at pictures"):
        await ServiceRun(OPTIONS, parts).run()


@pytest.mark.parametrize("role", ["judge", "reader"])
async def test_rules_have_no_endpoint_to_look_at(role: str, ground: Ground) -> None:
    parts = await parts_of(role, "lexical", ground)
    assert list(parts.checks or {}) == ["store"]
    for close in parts.close:
        await close()
