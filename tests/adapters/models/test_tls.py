"""The tgi model over HTTPS: who is trusted, and what becomes of who is not."""

import asyncio
from pathlib import Path

import pytest
from pydantic import SecretStr
from tests.fakes.certificates import Pair, certify
from tests.fakes.chat_server import ChatServer
from tests.servers.process import free_ports

from caliper.adapters.models.endpoint import parse_endpoints
from caliper.adapters.models.tgi import TgiModel
from caliper.core.errors import BackendRejected, BackendUnavailable, InvalidInput
from caliper.core.question import Decoding
from caliper.ports.models import ChatMessage

HELLO = (ChatMessage("user", ("hello",)),)


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return certify(tmp_path_factory.mktemp("tls"), "ca")


def signed(ca: Pair, name: str, hosts: str = "DNS:localhost,IP:127.0.0.1") -> Pair:
    return certify(ca.certificate.parent, name, ca, hosts)


async def asked(url: str, ca: Path | None, token: SecretStr | None = None) -> str:
    """What a model says, which is resolved and asked once."""
    model = TgiModel(*parse_endpoints(url), token, ca=ca)
    try:
        await model.resolve()
        return (await model.complete(HELLO, Decoding())).text
    finally:
        await model.close()


async def test_a_model_is_asked_over_tls_on_a_ca_of_ones_own(ca: Pair) -> None:
    async with ChatServer(tls=signed(ca, "here"), token="a-secret") as server:
        assert await asked(server.url, ca.certificate, SecretStr("a-secret")) == "1"
        by_name = server.url.replace("127.0.0.1", "localhost")
        assert await asked(by_name, ca.certificate, SecretStr("a-secret")) == "1"
    assert len(server.requests) == 2


async def test_models_of_one_process_trust_each_their_own(ca: Pair, tmp_path: Path) -> None:
    other = certify(tmp_path, "other")
    async with (
        ChatServer(tls=signed(ca, "here")) as first,
        ChatServer(tls=other) as second,
        ChatServer() as plain,
    ):
        models = [
            TgiModel(*parse_endpoints(first.url), ca=ca.certificate),
            TgiModel(*parse_endpoints(second.url), ca=other.certificate),
            TgiModel(*parse_endpoints(plain.url)),
        ]
        # All are made before any is asked: whom they trust is not what was said last.
        for model in models:
            await model.resolve()
            assert (await model.complete(HELLO, Decoding())).text == "1"
            await model.close()


@pytest.mark.parametrize("trusted", ["machine", "another"])
async def test_who_is_not_trusted_is_told_nothing(ca: Pair, tmp_path: Path, trusted: str) -> None:
    another = None if trusted == "machine" else certify(tmp_path, "another").certificate
    async with ChatServer(tls=signed(ca, "here")) as server:
        with pytest.raises(BackendRejected, match="certificate is not trusted"):
            await asked(server.url, another, SecretStr("a-secret"))
        assert (server.model_requests, server.requests) == (0, [])


async def test_a_certificate_of_another_host_is_refused(ca: Pair) -> None:
    async with ChatServer(tls=signed(ca, "elsewhere", "DNS:elsewhere")) as server:
        with pytest.raises(BackendRejected, match=r"not valid for '127\.0\.0\.1'"):
            await asked(server.url, ca.certificate)


async def test_a_call_is_refused_as_the_first_question_is(ca: Pair, tmp_path: Path) -> None:
    async with ChatServer(tls=signed(ca, "here"), port=free_ports(1)[0]) as server:
        model = TgiModel(*parse_endpoints(server.url), ca=ca.certificate)
        await model.resolve()
    # Behind the same port is somebody else now.
    async with ChatServer(tls=certify(tmp_path, "other"), port=server.port):
        with pytest.raises(BackendRejected, match="certificate is not trusted"):
            await model.complete(HELLO, Decoding())
    await model.close()


async def test_who_speaks_no_tls_is_told_so(ca: Pair) -> None:
    async with ChatServer() as server:
        url = server.url.replace("http:", "https:")
        with pytest.raises(BackendRejected, match="does not speak TLS as we do"):
            await asked(url, ca.certificate)


async def test_a_connection_cut_before_there_is_tls_may_be_tried_again(ca: Pair) -> None:
    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.close()

    async with await asyncio.start_server(cut, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(BackendUnavailable):
            await asked(f"https://127.0.0.1:{port}", ca.certificate)


def test_a_ca_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (endpoint,) = parse_endpoints("https://host")
    broken = tmp_path / "broken.pem"
    broken.write_text("no certificate")
    for file in (tmp_path / "absent.pem", broken):
        with pytest.raises(InvalidInput, match=f"{file.name}: cannot be used"):
            TgiModel(endpoint, ca=file)
