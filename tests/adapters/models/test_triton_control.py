"""A real Triton server whose models are unloaded, changed and loaded anew under us."""

import asyncio
import shutil
from collections.abc import Iterator

import pytest
from tests.fakes.triton_calls import VLLM, ask, client_of, model_at, unload
from tests.servers.process import ServerProcess
from tests.servers.triton_server import change_checkpoint, models_of, put_back

from caliper.adapters.models.triton import TritonModel
from caliper.core.errors import BackendOverloaded, BackendTimeout, BackendUnavailable, ModelChanged
from caliper.core.question import Decoding
from caliper.ports.models import ChatMessage, Completion

Own = tuple[ServerProcess, str]
TRITON_MODELS = ("captioner", VLLM.partition("#")[0])


@pytest.fixture
def lent(own_triton: Own) -> Iterator[Own]:
    """The module's own server, its models put back and loaded after the test."""
    with put_back(*own_triton):
        yield own_triton


async def test_a_full_queue_of_a_decoupled_model_is_overload(lent: Own) -> None:
    server, address = lent
    config = models_of(server) / "vllm_like" / "config.pbtxt"
    config.write_text(config.read_text("utf-8").replace("max_queue_size: 256", "max_queue_size: 1"))
    control = client_of(address, VLLM)
    await control.load()
    await control.close()
    async with model_at(address, VLLM, seconds=5.0) as model:
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
        judged = await model.complete([ChatMessage("user", ("Judge.",))], Decoding(), schema)
        assert model.identity != newest
    assert (judged.text == '{"score": 1}') is (form == "guided_decoding")


@pytest.mark.parametrize("rest", ["captioner", VLLM])
async def test_a_model_unloaded_in_mid_run_is_waited_for(lent: Own, rest: str) -> None:
    _, address = lent
    control = client_of(address, rest)
    async with model_at(address, rest) as model:
        caption = await ask(model, "Describe it.")
        await unload(address, rest)
        assert not await control.ready()
        with pytest.raises(BackendUnavailable, match="is not loaded"):
            await ask(model, "Describe it.")
        await control.load()
        assert await control.ready()
        assert await ask(model, "Describe it.") == caption
    await control.close()


async def test_a_model_that_is_not_loaded_can_be_loaded_by_the_address(lent: Own) -> None:
    _, address = lent
    await unload(address, "captioner")
    with pytest.raises(BackendUnavailable, match="is not loaded"):
        async with model_at(address, "captioner"):
            pass
    async with model_at(address, "captioner#load=yes") as model:
        assert (await ask(model, "Describe it.")).text


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
            assert model.identity.origin.startswith("2-")
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
