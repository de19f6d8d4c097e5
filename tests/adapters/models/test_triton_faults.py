"""Whatever goes wrong at a real Triton server comes out as the right error, never as text."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from tests.servers.process import ServerProcess, free_ports
from tests.servers.triton_server import change_checkpoint, models_of, put_back

from caliper.adapters.models.triton import TritonModel, parse_chat_addresses
from caliper.adapters.models.triton_address import TritonAddress
from caliper.adapters.models.triton_client import TritonClient
from caliper.adapters.models.triton_served import Served
from caliper.adapters.models.triton_tensors import bytes_input
from caliper.core.errors import (
    BackendOverloaded,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    ModelChanged,
)
from caliper.core.question import Decoding
from caliper.ports.models import Completion, Message

VLLM = "vllm_like#template=plain"
Own = tuple[ServerProcess, str]


@pytest.fixture
def lent(own_triton: Own) -> Iterator[Own]:
    """The module's own server, its models put back and loaded after the test."""
    with put_back(*own_triton):
        yield own_triton


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


async def ask(model: TritonModel, prompt: str, max_tokens: int = 512) -> Completion:
    return await model.complete([Message("user", (prompt,))], Decoding(max_tokens=max_tokens))


async def cancelled_at(model: TritonModel) -> int:
    """How many requests the server has seen cancelled."""
    return int((await ask(model, "[cancelled]")).text)


async def until_cancelled(model: TritonModel, before: int) -> bool:
    """Whether the server sees one more cancelled within some hundred requests."""
    for _ in range(500):
        if await cancelled_at(model) == before + 1:
            return True
    return False


class LookedAt(TritonClient):
    """A client that counts how often it had the model described."""

    looks = 0

    async def _described(self) -> Served:
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


async def test_a_full_queue_of_a_decoupled_model_is_overload(lent: Own) -> None:
    server, address = lent
    config = models_of(server) / "vllm_like" / "config.pbtxt"
    config.write_text(config.read_text("utf-8").replace("max_queue_size: 256", "max_queue_size: 1"))
    control = client_of(address, VLLM)
    await control.load()
    await control.close()
    async with model_at(address, VLLM, seconds=2.0) as model:
        many = await asyncio.gather(
            *(ask(model, "[silent]") for _ in range(20)), return_exceptions=True
        )
        assert {type(one) for one in many} == {BackendOverloaded, BackendTimeout}
        assert (await ask(model, "after it")).text


@pytest.mark.parametrize("form", ["guided_decoding", "none"])
async def test_other_releases_of_the_vllm_backend_take_schemas_otherwise(
    lent: Own, form: str
) -> None:
    server, address = lent
    async with model_at(address, VLLM) as model:
        newest = model.identity
    config = models_of(server) / "vllm_like" / "config.pbtxt"
    config.write_text(config.read_text("utf-8").replace('"structured_outputs"', f'"{form}"'))
    control = client_of(address, VLLM)
    await control.load()
    await control.close()
    schema = {"type": "object", "properties": {"score": {"type": "integer"}}}
    async with model_at(address, VLLM) as model:
        judged = await model.complete([Message("user", ("Judge.",))], Decoding(), schema)
        assert model.identity != newest
    assert (judged.text == '{"score": 1}') is (form == "guided_decoding")


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
        ("[abort]", "broke its answer off"),
        ("[broken]", "no UTF-8"),
    ],
)
async def test_a_vllm_answer_that_is_none(triton: str, prompt: str, told: str) -> None:
    async with model_at(triton, VLLM) as model:
        with pytest.raises(BackendUnavailable, match=told):
            await ask(model, prompt)


async def test_a_caption_cut_in_the_middle_of_a_character(triton: str) -> None:
    async with model_at(triton, "trouble") as model:
        with pytest.raises(BackendUnavailable, match="no UTF-8"):
            await ask(model, "broken")


@pytest.mark.parametrize(
    ("rest", "prompt"), [("trouble", "empty"), (VLLM, "[empty]"), (VLLM, "[nothing]")]
)
async def test_an_empty_answer_stays_empty(triton: str, rest: str, prompt: str) -> None:
    async with model_at(triton, rest) as model:
        assert (await ask(model, prompt)).text == ""


async def test_a_slow_model_meets_the_deadline(triton: str) -> None:
    async with model_at(triton, "trouble", seconds=0.3) as model:
        with pytest.raises(BackendTimeout):
            await ask(model, "slow 1")


async def test_a_stream_that_is_silent_meets_the_deadline_and_is_cancelled(triton: str) -> None:
    async with model_at(triton, VLLM) as patient, model_at(triton, VLLM, seconds=0.3) as model:
        before = await cancelled_at(patient)
        with pytest.raises(BackendTimeout):
            await ask(model, "[silent]")
        assert await until_cancelled(patient, before)


async def test_a_stream_without_end_is_left_at_the_limit_of_its_tokens(triton: str) -> None:
    async with model_at(triton, VLLM) as model:
        before = await cancelled_at(model)
        with pytest.raises(BackendUnavailable, match="does not stop at the limit"):
            await ask(model, "[endless]", max_tokens=1)
        assert await until_cancelled(model, before)


async def test_a_caller_who_leaves_cancels_the_request(triton: str) -> None:
    async with model_at(triton, VLLM) as model:
        before = await cancelled_at(model)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await ask(model, "[silent]")
        assert await until_cancelled(model, before)


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


@pytest.mark.parametrize("rest", ["captioner", VLLM])
async def test_a_model_unloaded_in_mid_run_is_waited_for(lent: Own, rest: str) -> None:
    _, address = lent
    control = client_of(address, rest)
    async with model_at(address, rest) as model:
        caption = await ask(model, "Describe it.")
        await control.unload()
        assert not await control.ready()
        with pytest.raises(BackendUnavailable, match="is not loaded"):
            await ask(model, "Describe it.")
        await control.load()
        assert await control.versions() == {"1": "READY"}
        assert await ask(model, "Describe it.") == caption
    await control.close()


async def test_a_model_that_is_not_loaded_can_be_loaded_by_the_address(lent: Own) -> None:
    _, address = lent
    control = client_of(address, "captioner")
    await control.unload()
    with pytest.raises(BackendUnavailable, match="is not loaded"):
        async with model_at(address, "captioner"):
            pass
    async with model_at(address, "captioner#load=yes") as model:
        assert (await ask(model, "Describe it.")).text
    await control.close()


# Told by the next description of the model, by the version that answers, or by its absence.
@pytest.mark.parametrize(
    ("rest", "check_every"), [("captioner", 3600.0), (VLLM, 0.0), ("captioner@1", 3600.0)]
)
async def test_another_version_in_mid_run_stops_it(
    lent: Own, rest: str, check_every: float
) -> None:
    server, address = lent
    name, _, pinned = rest.partition("#")[0].partition("@")
    control = client_of(address, name)
    async with model_at(address, rest, check_every=check_every) as model:
        await ask(model, "Describe it.")
        folder = models_of(server) / name
        shutil.copytree(folder / "1", folder / "2")
        await control.load()
        for _ in range(2):
            with pytest.raises(ModelChanged, match=r"2.*the run was resolved with 1-"):
                await ask(model, "Describe it.")
    if not pinned:
        async with model_at(address, rest) as model:
            assert model.identity.revision.startswith("2-")
    await control.close()


async def test_other_weights_under_the_same_version_stop_the_run(lent: Own) -> None:
    server, address = lent
    control = client_of(address, "captioner")
    async with model_at(address, "captioner") as model:
        await ask(model, "Describe it.")
        change_checkpoint(server)
        await control.load()
        with pytest.raises(ModelChanged, match="resolved with 1-"):
            await ask(model, "Describe it.")
    await control.close()


async def test_a_restarted_server_is_come_back_to(lent: Own) -> None:
    server, address = lent
    async with model_at(address, "captioner", check_every=3600) as model:
        caption = await ask(model, "Describe it.")
        server.kill()
        with pytest.raises(BackendUnavailable):
            await ask(model, "Describe it.")
        server.start()
        assert await _patiently(model) == caption


async def test_a_server_restarted_with_other_weights_stops_the_run(lent: Own) -> None:
    server, address = lent
    async with model_at(address, "captioner", check_every=3600) as model:
        await ask(model, "Describe it.")
        server.kill()
        with pytest.raises(BackendUnavailable):
            await ask(model, "Describe it.")
        change_checkpoint(server)
        server.start()
        with pytest.raises(ModelChanged):
            await _patiently(model)


async def _patiently(model: TritonModel) -> Completion:
    """The first answer of a server that was away: its connection is tried again by and by."""
    while True:
        try:
            return await ask(model, "Describe it.")
        except BackendUnavailable:
            await asyncio.sleep(0.05)
