"""Whatever goes wrong at a real Triton server comes out as the right error, never as text."""

import asyncio

import pytest
from tests.fakes.triton_calls import VLLM, address_of, ask, client_of, model_at
from tests.servers.process import free_ports

from caliper.adapters.models.triton import TritonModel
from caliper.adapters.models.triton_client import TritonClient
from caliper.adapters.models.triton_metadata import ServedModel
from caliper.adapters.models.triton_tensors import bytes_input
from caliper.core.errors import (
    BackendOverloaded,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
)

pytestmark = pytest.mark.usefixtures("no_other_calls")


async def count(model: TritonModel, kind: str) -> int:
    """How many requests are waiting at the server, or were cancelled there."""
    return int((await ask(model, f"[{kind}]")).text)


async def becomes(model: TritonModel, kind: str, expected: int) -> bool:
    """Whether the server counts so many within some hundred requests."""
    for _ in range(500):
        if await count(model, kind) == expected:
            return True
    return False


class BackMeanwhile(TritonClient):
    """A client whose server is up again whenever it asks for the models."""

    async def _index(self) -> dict[str, dict[str, str]]:
        return {"captioner": {"1": "READY"}}


async def test_a_server_that_is_back_at_once_was_away_and_not_overloaded() -> None:
    (port,) = free_ports(1)
    client = BackMeanwhile(address_of(f"127.0.0.1:{port}/captioner"), None, 10)
    try:
        with pytest.raises(BackendUnavailable):
            await client.open()
    finally:
        await client.close()


class LookedAt(TritonClient):
    """A client that counts how often it had the model described."""

    looks = 0

    async def _described(self) -> ServedModel:
        self.looks += 1
        return await super()._described()


async def test_calls_in_flight_share_one_description(triton: str) -> None:
    client = LookedAt(address_of(f"{triton}/captioner"), None, 10, check_every=0.0)
    try:
        await client.open()
        inputs = [
            bytes_input("image", [b""], [1, 1]),
            bytes_input("prompt", [b"What is it?"], [1, 1]),
        ]
        await asyncio.gather(*(client.infer(inputs) for _ in range(20)))
        assert client.looks == 2
    finally:
        await client.close()


async def test_a_full_queue_is_overload(triton: str) -> None:
    async with model_at(triton, "trouble") as model:
        many = await asyncio.gather(
            *(ask(model, "slow 0.2") for _ in range(6)), return_exceptions=True
        )
        refused = [one for one in many if isinstance(one, BaseException)]
        assert {type(one) for one in refused} == {BackendOverloaded}
        assert "queue" in str(refused[0])
        assert len(refused) < 6
        assert (await ask(model, "after it")).text


@pytest.mark.parametrize("fault", ["fail out of memory", "crash out of memory"])
async def test_a_model_that_fails_may_be_asked_again(triton: str, fault: str) -> None:
    async with model_at(triton, "trouble") as model:
        with pytest.raises(BackendUnavailable, match=r"the Triton model failed; .*out of memory"):
            await ask(model, fault)
        assert (await ask(model, "after it")).text


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("[fail]", "the Triton model failed; .*out of memory"),
        ("[abort]", "aborted its answer"),
        ("[broken]", "not valid UTF-8"),
    ],
)
async def test_a_vllm_answer_that_is_none(triton: str, prompt: str, told: str) -> None:
    async with model_at(triton, VLLM) as model:
        with pytest.raises(BackendUnavailable, match=told):
            await ask(model, prompt)


@pytest.mark.parametrize(
    ("rest", "prompt"),
    [
        (VLLM, "[long]"),
        ("trouble", "fail Prompt length (5056) exceeds maximum sequence length (2048)"),
        ("trouble", "crash This model's maximum context length is 4096 tokens"),
    ],
)
async def test_a_context_that_is_too_short_names_what_to_lower(
    triton: str, rest: str, prompt: str
) -> None:
    async with model_at(triton, rest) as model:
        with pytest.raises(BackendRejected, match=r"lower --caption-tokens, .*; it says: .*length"):
            await ask(model, prompt)


async def test_a_caption_cut_in_the_middle_of_a_character(triton: str) -> None:
    async with model_at(triton, "trouble") as model:
        with pytest.raises(BackendUnavailable, match="not valid UTF-8"):
            await ask(model, "broken")


@pytest.mark.parametrize(
    ("rest", "prompt", "finish"),
    [("trouble", "empty", "stop"), (VLLM, "[empty]", "stop"), (VLLM, "[nothing]", "")],
)
async def test_an_empty_answer_stays_empty(
    triton: str, rest: str, prompt: str, finish: str
) -> None:
    async with model_at(triton, rest) as model:
        completion = await ask(model, prompt)
        assert (completion.text, completion.finish) == ("", finish)


async def test_a_slow_model_meets_the_deadline(triton: str) -> None:
    async with model_at(triton, "trouble", seconds=3.0) as model:
        with pytest.raises(BackendTimeout):
            await ask(model, "slow 6")


async def test_a_stream_that_is_silent_meets_the_deadline_and_is_cancelled(triton: str) -> None:
    async with model_at(triton, VLLM) as patient, model_at(triton, VLLM, seconds=5.0) as model:
        before = await count(patient, "cancelled")
        with pytest.raises(BackendTimeout):
            await ask(model, "[silent]")
        assert await becomes(patient, "cancelled", before + 1)


async def test_a_stream_without_end_is_left_at_the_limit_of_its_tokens(triton: str) -> None:
    async with model_at(triton, VLLM) as model:
        before = await count(model, "cancelled")
        with pytest.raises(BackendUnavailable, match="exceeds the maximum output tokens"):
            await ask(model, "[endless]", max_tokens=1)
        assert await becomes(model, "cancelled", before + 1)


async def test_a_caller_who_leaves_cancels_the_request(triton: str) -> None:
    async with model_at(triton, VLLM) as model:
        before = await count(model, "cancelled")
        asking = asyncio.create_task(ask(model, "[silent]"))
        assert await becomes(model, "waiting", 1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await becomes(model, "cancelled", before + 1)


async def test_one_answer_cannot_be_asked_of_a_decoupled_model(triton: str) -> None:
    client = client_of(triton, "vllm_like")
    await client.open()
    with pytest.raises(BackendRejected, match=r"cannot be asked in this way; .*decoupled"):
        await client.infer([bytes_input("text_input", [b"a"], [1])])
    await client.close()


async def test_a_request_that_does_not_fit_is_refused(triton: str) -> None:
    client = client_of(triton, "captioner")
    await client.open()
    with pytest.raises(BackendRejected, match="cannot use the request"):
        await client.infer([bytes_input("prompt", [b"a"], [1, 1])])
    await client.close()


async def test_nobody_listens() -> None:
    (port,) = free_ports(1)
    with pytest.raises(BackendUnavailable, match="Connection refused"):
        async with model_at(f"127.0.0.1:{port}", "captioner"):
            pass
