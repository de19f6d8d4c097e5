"""A real server on a free loopback port, with scripted servicers."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
from google.rpc.error_details_pb2 import BadRequest
from grpc_status import rpc_status
from tests.fakes.methods import CONTRACTS

from caliper.adapters.wire.rpc import service_stub
from caliper.api.judge.v1 import judge_pb2
from caliper.ports.telemetry import SILENT, Telemetry
from caliper.serving.addresses import Address
from caliper.serving.grpc_server import GrpcServer, ServerOptions, Service
from caliper.serving.health import Check

LOOPBACK = Address("127.0.0.1", 0)
OPTIONS = ServerOptions(LOOPBACK, health=LOOPBACK, deadline=30.0, grace=30.0, check_every=0.01)
TOKENS = {"read": "token-of-a-reader", "evaluate": "token-of-a-team", "admin": "token-of-an-admin"}


class Judging:
    """JudgeService whose method Judge does `what`."""

    def __init__(self, what: Callable[[], Awaitable[Any]]) -> None:
        self.what = what

    async def Judge(  # noqa: N802 - named in the contract
        self, request: Any, context: Any
    ) -> judge_pb2.JudgeResponse:
        await self.what()
        return judge_pb2.JudgeResponse()


def judging(what: Callable[[], Awaitable[Any]]) -> Service:
    return Service(CONTRACTS["JudgeService"], Judging(what))


def stub_of(service: str, channel: grpc.aio.Channel) -> Any:
    """What calls a service by its name in the contract, such as JudgeService."""
    return service_stub(CONTRACTS[service], channel)


def token_lines(tokens: Mapping[str, str] = TOKENS) -> str:
    """A token file with one caller per role, named after it."""
    return "# name role sha256\n\n" + "".join(
        f"a-{role} {role} {hashlib.sha256(token.encode()).hexdigest()}\n"
        for role, token in tokens.items()
    )


def token_file(folder: Path) -> Path:
    file = folder / "tokens"
    file.write_text(token_lines(), encoding="utf-8")
    return file


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)


@asynccontextmanager
async def serving(
    *services: Service,
    options: ServerOptions = OPTIONS,
    checks: Mapping[str, Check] | None = None,
    telemetry: Telemetry = SILENT,
) -> AsyncIterator[GrpcServer]:
    server = GrpcServer(options, services, checks or {}, telemetry)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


@asynccontextmanager
async def calling(
    *services: Service, options: ServerOptions = OPTIONS, telemetry: Telemetry = SILENT
) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to a server of `services`. Open calls end with the context."""
    async with (
        serving(*services, options=replace(options, grace=0.0), telemetry=telemetry) as server,
        grpc.aio.insecure_channel(str(server.address)) as channel,
    ):
        yield channel


async def code_of(call: Awaitable[Any]) -> grpc.StatusCode:
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK


async def failure(call: Awaitable[Any]) -> grpc.aio.AioRpcError:
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return error
    raise AssertionError("the call went well")


async def refusal(call: Awaitable[Any]) -> tuple[list[str], str]:
    """The fields that a call was refused for, and the message."""
    error = await failure(call)
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT, error
    status = rpc_status.from_call(error)  # type: ignore[arg-type]
    assert status is not None
    (detail,) = status.details
    violations = BadRequest()
    assert detail.Unpack(violations)
    assert all(each.description for each in violations.field_violations)
    return [each.field for each in violations.field_violations], str(error.details())


async def forever() -> None:
    await asyncio.Event().wait()


def raising(error: Exception) -> Callable[[], Awaitable[None]]:
    async def what() -> None:
        raise error

    return what
