"""Direct calls to models of a real Triton server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tritonclient.grpc.aio import InferenceServerClient

from caliper.adapters.models.triton import TritonModel, parse_chat_addresses
from caliper.adapters.models.triton_address import TritonAddress
from caliper.adapters.models.triton_client import TritonClient
from caliper.core.question import Decoding
from caliper.ports.models import ChatMessage, Completion

VLLM = "vllm_like#template=plain"


def address_of(written: str) -> TritonAddress:
    (address,) = parse_chat_addresses(written)
    return address


@asynccontextmanager
async def model_at(
    address: str, rest: str, seconds: float = 10.0, check_every: float = 0.0
) -> AsyncIterator[TritonModel]:
    model = TritonModel(address_of(f"{address}/{rest}"), None, seconds, check_every)
    try:
        await model.resolve()
        yield model
    finally:
        await model.close()


def client_of(address: str, name: str) -> TritonClient:
    return TritonClient(address_of(f"{address}/{name}"), None, 10)


async def unload(address: str, rest: str) -> None:
    """Unload a model of the server at `address`; it finishes its current requests first."""
    target = address_of(f"{address}/{rest}")
    async with InferenceServerClient(target.target) as client:
        await client.unload_model(target.model)


async def ask(model: TritonModel, prompt: str, max_tokens: int = 512) -> Completion:
    return await model.complete([ChatMessage("user", (prompt,))], Decoding(max_tokens=max_tokens))
