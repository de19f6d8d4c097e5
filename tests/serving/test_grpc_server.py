import asyncio
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from tests.fakes.certificates import certify
from tests.fakes.loopback_server import (
    LOOPBACK,
    OPTIONS,
    TOKENS,
    bearer,
    calling,
    code_of,
    failure,
    forever,
    judging,
    serving,
    stub_of,
    token_file,
)

from caliper.api.judge.v1 import judge_pb2
from caliper.core.errors import InvalidInput
from caliper.serving.addresses import Address
from caliper.serving.grpc_server import GrpcServer, ServerOptions, refuse_open
from caliper.serving.server_certificates import Tls

REQUEST = judge_pb2.JudgeRequest()
PEM = Tls(Path("certificate.pem"), Path("key.pem"))


async def nothing() -> None:
    pass


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    """A certificate of our own for this machine."""
    made = certify(tmp_path_factory.mktemp("tls"))
    return Tls(made.certificate, made.key)


async def test_tls_with_a_token(tls: Tls, tmp_path: Path) -> None:
    options = replace(OPTIONS, tls=tls, tokens=token_file(tmp_path))
    trusted = grpc.ssl_channel_credentials(tls.certificate.read_bytes())
    async with (
        serving(judging(nothing), options=options) as server,
        grpc.aio.secure_channel(str(server.address), trusted) as channel,
    ):
        stub = stub_of("JudgeService", channel)
        await stub.Judge(REQUEST, metadata=bearer(TOKENS["evaluate"]))
        assert await code_of(stub.Judge(REQUEST)) is grpc.StatusCode.UNAUTHENTICATED


async def test_a_tls_port_speaks_nothing_else(tls: Tls) -> None:
    async with serving(judging(nothing), options=replace(OPTIONS, tls=tls)) as server:
        async with grpc.aio.insecure_channel(str(server.address)) as channel:
            plain = stub_of("JudgeService", channel).Judge(REQUEST)
            assert await code_of(plain) is grpc.StatusCode.UNAVAILABLE
        # A caller who trusts the usual authorities does not trust our certificate.
        strangers = grpc.ssl_channel_credentials()
        async with grpc.aio.secure_channel(str(server.address), strangers) as channel:
            untrusted = stub_of("JudgeService", channel).Judge(REQUEST)
            assert await code_of(untrusted) is grpc.StatusCode.UNAVAILABLE
        async with grpc.aio.insecure_channel(str(server.health_address)) as channel:
            await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())


async def test_a_key_that_does_not_go_with_the_certificate(tls: Tls, tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    key.write_text("not a key", encoding="utf-8")
    broken = replace(tls, key=key)
    with pytest.raises(InvalidInput, match="or certificate and key do not match"):
        await GrpcServer(replace(OPTIONS, tls=broken), [], {}).start()


async def test_a_certificate_that_is_not_there(tmp_path: Path) -> None:
    absent = Tls(tmp_path / "none.pem", tmp_path / "none.pem")
    with pytest.raises(InvalidInput, match=r"none.pem: tls key: cannot be read"):
        await GrpcServer(replace(OPTIONS, tls=absent), [], {}).start()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "judge", "localhost.example"])  # noqa: S104 - refused
@pytest.mark.parametrize(
    ("tls", "tokens", "missing"),
    [
        (None, Path("tokens"), "tls_certificate and tls_key"),
        (PEM, None, "tokens"),
        (None, None, "tls_certificate and tls_key and tokens"),
    ],
)
def test_what_is_open_to_others_does_not_start(
    host: str, tls: Tls | None, tokens: Path | None, missing: str
) -> None:
    address = Address(host, 0)
    options = ServerOptions(address, tls=tls, tokens=tokens)
    with pytest.raises(InvalidInput) as caught:
        GrpcServer(options, [], {})
    assert caught.value.message == f"other machines can reach {address}, so {missing} must be set"
    assert caught.value.field == "listen"


@pytest.mark.parametrize(
    "options",
    [
        ServerOptions(LOOPBACK),
        ServerOptions(Address("::1", 0)),
        ServerOptions(Address("localhost", 0)),
        ServerOptions(LOOPBACK, health=Address("0.0.0.0", 0)),  # noqa: S104 - health alone
        ServerOptions(Address("0.0.0.0", 0), tls=PEM, tokens=Path("tokens")),  # noqa: S104 - closed
    ],
)
def test_what_is_closed_or_of_this_machine_starts(options: ServerOptions) -> None:
    refuse_open(options)


async def test_an_address_that_is_taken() -> None:
    async with serving(judging(nothing)) as server:
        with pytest.raises(InvalidInput, match=f"cannot listen on {server.address}"):
            await GrpcServer(replace(OPTIONS, listen=server.address), [], {}).start()


async def test_reflection_lists_the_services() -> None:
    async with calling(judging(nothing)) as channel:
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        asked = reflection_pb2.ServerReflectionRequest(list_services="")
        call = stub.ServerReflectionInfo(iter([asked]))
        answer = await call.read()
        listed = [service.name for service in answer.list_services_response.service]
        assert sorted(listed) == [
            "caliper.api.judge.v1.JudgeService",
            "grpc.health.v1.Health",
            "grpc.reflection.v1alpha.ServerReflection",
        ]


async def test_a_call_in_flight_is_finished() -> None:
    begun, release = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        await release.wait()

    server = GrpcServer(OPTIONS, [judging(work)], {})
    await server.start()
    async with (
        grpc.aio.insecure_channel(str(server.address)) as channel,
        grpc.aio.insecure_channel(str(server.health_address)) as probing,
    ):
        stub = stub_of("JudgeService", channel)
        watch = health_pb2_grpc.HealthStub(probing).Watch(health_pb2.HealthCheckRequest())
        call = asyncio.ensure_future(stub.Judge(REQUEST))
        await begun.wait()
        stopping = asyncio.create_task(server.stop())
        while (await watch.read()).status != health_pb2.HealthCheckResponse.NOT_SERVING:
            pass
        assert not stopping.done()
        release.set()
        assert await call == judge_pb2.JudgeResponse()
        await stopping
        assert await code_of(stub.Judge(REQUEST)) is grpc.StatusCode.UNAVAILABLE


async def test_what_outlasts_the_grace_is_cut_off() -> None:
    begun = asyncio.Event()

    async def hang() -> None:
        begun.set()
        await forever()

    server = GrpcServer(replace(OPTIONS, grace=0.01), [judging(hang)], {})
    await server.start()
    async with grpc.aio.insecure_channel(str(server.address)) as channel:
        call = asyncio.ensure_future(stub_of("JudgeService", channel).Judge(REQUEST))
        await begun.wait()
        await server.stop()
        assert await code_of(call) is not grpc.StatusCode.OK


async def test_streams_that_last_do_not_hold_up_the_end() -> None:
    server = GrpcServer(replace(OPTIONS, grace=3600.0), [judging(nothing)], {})
    await server.start()
    async with grpc.aio.insecure_channel(str(server.address)) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        watch = stub.Watch(health_pb2.HealthCheckRequest())
        await watch.read()
        await server.stop()

        async def rest() -> None:
            while await watch.read() is not grpc.aio.EOF:
                pass

        found = await failure(rest())
    assert found.code() is grpc.StatusCode.UNAVAILABLE
    assert found.details() == "the service is stopping; call again"


@pytest.mark.parametrize(
    ("text", "host", "port", "loopback"),
    [
        ("127.0.0.1:50051", "127.0.0.1", 50051, True),
        ("127.9.9.9:1", "127.9.9.9", 1, True),
        ("[::1]:0", "::1", 0, True),
        ("localhost:65535", "localhost", 65535, True),
        ("0.0.0.0:50051", "0.0.0.0", 50051, False),  # noqa: S104 - only parsed
        ("[::]:50051", "::", 50051, False),
        ("judge:50051", "judge", 50051, False),
        ("10.1.2.3:50051", "10.1.2.3", 50051, False),
    ],
)
def test_addresses(text: str, host: str, port: int, loopback: bool) -> None:
    found = Address.parse(text)
    assert (found.host, found.port, found.loopback, str(found)) == (host, port, loopback, text)


@pytest.mark.parametrize(
    "text",
    ["", "50051", ":50051", "host:", "host:x", "host:65536", "host:-1", "::1:50051", "[::1]",
     "[host]:1", "host:٣", "host:000001"],
)  # fmt: skip
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(InvalidInput, match="listen: expected host:port, found"):
        Address.parse(text, "listen")
