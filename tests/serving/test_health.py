import asyncio
import logging
from dataclasses import replace
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tests.fakes.clock import PATIENCE
from tests.fakes.loopback_server import OPTIONS, code_of, forever, judging, serving

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
JUDGE = "caliper.api.judge.v1.JudgeService"


class Store:
    def __init__(self) -> None:
        self.up = True
        self.asked = asyncio.Event()

    async def check(self) -> None:
        self.asked.set()
        if not self.up:
            raise OSError("connection refused")


def asked(service: str = "") -> health_pb2.HealthCheckRequest:
    return health_pb2.HealthCheckRequest(service=service)


async def status_of(stub: Any, service: str = "") -> int:
    found: int = (await stub.Check(asked(service))).status
    return found


async def seen(watch: Any, status: int) -> None:
    while (await watch.read()).status != status:
        pass


@pytest.mark.parametrize("service", ["", JUDGE])
async def test_readiness_follows_what_the_service_needs(
    service: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store()
    caplog.set_level(logging.INFO)
    async with (
        serving(judging(forever), checks={"store": store.check}) as server,
        grpc.aio.insecure_channel(str(server.health_address)) as channel,
    ):
        stub = health_pb2_grpc.HealthStub(channel)
        watch = stub.Watch(asked(service))
        await seen(watch, SERVING)
        store.up = False
        await seen(watch, NOT_SERVING)
        assert await status_of(stub, service) == NOT_SERVING
        assert await status_of(stub, "live") == SERVING
        store.up = True
        await seen(watch, SERVING)
        watch.cancel()
    assert caplog.text.count("not ready: store: OSError: connection refused") == 1
    assert caplog.text.count("ready again: store") == 1


async def test_a_watcher_that_leaves_does_not_deafen_the_others() -> None:
    store = Store()
    async with (
        serving(judging(forever), checks={"store": store.check}) as server,
        grpc.aio.insecure_channel(str(server.health_address)) as channel,
    ):
        stub = health_pb2_grpc.HealthStub(channel)
        first, second = stub.Watch(asked()), stub.Watch(asked())
        await seen(first, SERVING)
        await seen(second, SERVING)
        first.cancel()
        assert await first.code() is grpc.StatusCode.CANCELLED
        store.up = False
        await seen(second, NOT_SERVING)
        second.cancel()


async def test_not_ready_before_the_first_checks_are_back() -> None:
    async with (
        serving(judging(forever), checks={"backend": forever}) as server,
        grpc.aio.insecure_channel(str(server.health_address)) as channel,
    ):
        assert await status_of(health_pb2_grpc.HealthStub(channel)) == NOT_SERVING


async def test_a_service_that_still_begins_is_looked_at_more_often() -> None:
    looks = iter((False, False, True))

    async def check() -> None:
        if not next(looks):
            raise OSError("not yet")

    options = replace(OPTIONS, check_every=3600.0)
    async with (
        asyncio.timeout(PATIENCE),
        serving(judging(forever), checks={"work": check}, options=options) as server,
        grpc.aio.insecure_channel(str(server.health_address)) as channel,
    ):
        watch = health_pb2_grpc.HealthStub(channel).Watch(asked())
        await seen(watch, SERVING)
        watch.cancel()


async def test_all_checks_have_to_pass() -> None:
    store, stream = Store(), Store()
    stream.up = False
    checks = {"store": store.check, "stream": stream.check}
    async with (
        serving(judging(forever), checks=checks) as server,
        grpc.aio.insecure_channel(str(server.health_address)) as channel,
    ):
        stub = health_pb2_grpc.HealthStub(channel)
        watch = stub.Watch(asked())
        assert (await watch.read()).status == NOT_SERVING
        store.up, stream.up = False, True
        assert await status_of(stub) == NOT_SERVING
        store.up = True
        await seen(watch, SERVING)
        watch.cancel()


async def test_an_unknown_service() -> None:
    async with (
        serving(judging(forever)) as server,
        grpc.aio.insecure_channel(str(server.health_address)) as channel,
    ):
        stub = health_pb2_grpc.HealthStub(channel)
        assert await code_of(stub.Check(asked("other"))) is grpc.StatusCode.NOT_FOUND
        watch = stub.Watch(asked("other"))
        assert (await watch.read()).status == UNKNOWN
        watch.cancel()


async def test_the_health_port_serves_health_alone() -> None:
    async with (
        serving(judging(forever)) as server,
        grpc.aio.insecure_channel(str(server.health_address)) as channel,
    ):
        for method in (f"/{JUDGE}/Judge", "/grpc.reflection.v1alpha.ServerReflection/x"):
            code = await code_of(channel.unary_unary(method)(b""))
            assert code is grpc.StatusCode.UNIMPLEMENTED


async def test_draining_is_for_good_and_no_death() -> None:
    store = Store()
    async with (
        serving(judging(forever), checks={"store": store.check}) as server,
        grpc.aio.insecure_channel(str(server.health_address)) as channel,
    ):
        stub = health_pb2_grpc.HealthStub(channel)
        watch = stub.Watch(asked())
        await seen(watch, SERVING)
        server.drain()
        await seen(watch, NOT_SERVING)
        # Asked twice more: what the first said has been told by the second.
        for _ in range(2):
            store.asked.clear()
            await store.asked.wait()
        assert await status_of(stub) == NOT_SERVING
        assert await status_of(stub, "live") == SERVING
        watch.cancel()


async def test_health_is_on_the_service_port_too() -> None:
    async with (
        serving(judging(forever), options=replace(OPTIONS, health=None)) as server,
        grpc.aio.insecure_channel(str(server.address)) as channel,
    ):
        assert server.health_address is None
        watch = health_pb2_grpc.HealthStub(channel).Watch(asked(JUDGE))
        await seen(watch, SERVING)
        watch.cancel()
