"""A real Triton server that speaks TLS: who is trusted, and what becomes of who is not."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import SecretStr
from tests.fakes.bearer import token_for_all
from tests.fakes.certificates import certify
from tests.servers import fetch, triton_server
from tests.servers.absence import leave_out

from caliper.adapters.models.triton_address import parse_addresses
from caliper.adapters.models.triton_client import TritonClient
from caliper.core.errors import BackendRejected
from caliper.core.question import Decoding
from caliper.ports.models import ChatMessage
from caliper.wiring.clock import SystemClock
from caliper.wiring.models import Access, ModelRoom

pytestmark = pytest.mark.components("Triton")

HELLO = (ChatMessage("user", ("Describe it.",)),)


@dataclass(frozen=True)
class Secured:
    """A server's address, and the PEM files of who signed its certificate and of a stranger."""

    address: str
    ca: Path
    stranger: Path


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("triton-tls")
    ca = certify(folder / "tls", "ca")
    ours = certify(folder / "tls", "here", ca)
    told = [
        "--grpc-use-ssl=true",
        f"--grpc-server-cert={ours.certificate}",
        f"--grpc-server-key={ours.key}",
    ]
    try:
        server, address = triton_server.start(folder, None, *told)
    except fetch.Missing as reason:
        leave_out("Triton", reason)
    yield Secured(address, ca.certificate, certify(folder / "tls", "stranger").certificate)
    server.stop()


async def test_models_are_asked_over_tls_with_a_token(secured: Secured) -> None:
    access = Access(token_for_all("a-secret"), timeout=30, retry_budget=0, ca=secured.ca)
    room = ModelRoom(access, SystemClock())
    by_name = secured.address.replace("127.0.0.1", "localhost")
    try:
        for host in (secured.address, by_name):
            model = await room.chat_model(f"triton:https://{host}/captioner")
            assert (await model.complete(HELLO, Decoding())).text
        judge = await room.chat_model(f"triton:https://{by_name}/vllm_like#template=plain")
        assert (await judge.complete(HELLO, Decoding())).text
        embedder = await room.embedder(f"triton:https://{by_name}/sentences")
        assert len(await embedder.embed(["dog", "cat"])) == 2
    finally:
        await room.close()


async def test_who_is_not_trusted_is_not_asked(secured: Secured) -> None:
    (address,) = parse_addresses(f"https://{secured.address}/captioner", ())
    for ca in (None, secured.stranger):
        client = TritonClient(address, SecretStr("a-secret"), 10, ca=ca)
        with pytest.raises(BackendRejected, match="certificate is not trusted"):
            await client.open()
        await client.close()
