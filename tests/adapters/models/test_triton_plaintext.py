"""What is sent to a Triton server in plaintext, and by which way."""

import pytest
from pydantic import SecretStr
from tests.fakes.loopback_server import serving
from tests.servers.process import free_ports

from caliper.adapters.models.triton_address import TritonAddress
from caliper.adapters.models.triton_client import TritonClient
from caliper.core.errors import BackendRejected


async def test_plaintext_passes_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    (nobody,) = free_ports(1)
    for name in ("http_proxy", "grpc_proxy", "https_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{nobody}")
    monkeypatch.delenv("no_proxy", raising=False)
    async with serving() as server:
        client = TritonClient(TritonAddress(str(server.address), "llm"), SecretStr("a"), 30.0)
        # Not a Triton server, but it is the one that answers.
        with pytest.raises(BackendRejected):
            await client.open()
        await client.close()
