"""Backends of other packages, opened by SPEC."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from tests.fakes.bearer import token_for_all
from tests.fakes.endpoints import FakeEndpoint, hold
from tests.fakes.models import OpenPack
from tests.fakes.plugin import declare, find_in

from caliper.adapters.models.plugin_endpoint import PluginEndpoint
from caliper.core.errors import BackendTimeout, CaliperError, FunctionFailed, InvalidInput
from caliper.core.question import Decoding
from caliper.core.run import Identity
from caliper.ports.models import ChatMessage
from caliper.wiring.clock import SystemClock
from caliper.wiring.endpoint_tokens import Audience, EndpointTokens, NamedToken
from caliper.wiring.models import Access, ModelRoom
from caliper.wiring.roles import RoleModels
from caliper.wiring.specs import BACKENDS, split_spec

HELLO = (ChatMessage("user", ("hello",)),)
KIND = "parrot of a-package 1.0"


@pytest.fixture(autouse=True)
def _a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = "tests.fakes.endpoints:open_endpoint"
    declare(tmp_path, "a-package", {"caliper.backends": {"parrot": place, "triton": place}})
    declare(tmp_path, "b-package", {"caliper.backends": {"broken": "nowhere:x"}})
    find_in(tmp_path, monkeypatch, BACKENDS)


@pytest.fixture
def room() -> ModelRoom:
    return ModelRoom(Access(token_for_all("hush"), retry_budget=0.01), SystemClock())


async def test_package_and_version_are_part_of_the_identity(room: ModelRoom) -> None:
    model = await room.chat_model("parrot:polly")
    assert model.identity == Identity(KIND, "model", "1", cached=True)
    assert model.identity.label == f"model ({KIND}, 1)"
    assert (await model.complete(HELLO, Decoding())).text == "polly hush"
    assert room.calls_endpoints
    assert room.costs[model.identity.label].calls == 1


@pytest.mark.parametrize(
    ("rest", "sent"),
    [
        ("polly", "by name"),
        ("https://mine.test/v1", "by host"),
        ("polly@https://mine.test", "by host"),
        # Whom it calls is in the SPEC, which may be somebody else's.
        ("https://evil.test", ""),
        ("https://mine.test,https://evil.test", ""),
        ("https://evil.test/https://mine.test", ""),
        # Parsers differ in what is the host of these.
        (r"https://evil.test\@mine.test", ""),
        ("https://mine.test@mine.test", ""),
    ],
)
async def test_a_token_for_a_package_goes_to_no_url_in_a_spec(rest: str, sent: str) -> None:
    lines = tuple(
        (Audience.parse(host), NamedToken(SecretStr(token), "F"))
        for host, token in (("parrot", "by name"), ("mine.test", "by host"))
    )
    room = ModelRoom(Access(EndpointTokens(lines=lines), retry_budget=0.01), SystemClock())
    model = await room.chat_model(f"parrot:{rest}")
    assert (await model.complete(HELLO, Decoding())).text == f"{rest} {sent}"


@pytest.mark.parametrize("role", ["judge", "reader"])
async def test_services_open_it_too(room: ModelRoom, role: str) -> None:
    models = await RoleModels.open(role, "parrot:polly", OpenPack(), room)
    assert models.identities == {role: Identity(KIND, "model", "1")}


def test_a_spec_names_it_and_others_are_listed_with_it() -> None:
    assert split_spec("parrot:a:b") == ("parrot", "a:b")
    for spec in ("parrot", "parot:a"):
        with pytest.raises(InvalidInput, match=r"known: lexical, .*, broken:\.\.\., parrot:\.\.\."):
            split_spec(spec)


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("parrot:unknown", InvalidInput, "no such parrot"),
        ("parrot:ill", FunctionFailed, rf"{KIND} raised ValueError\('ill'\)"),
        ("broken:x", InvalidInput, r"'broken' of the package b-package 1\.0 cannot be used"),
        ("triton:h:1/m", InvalidInput, r"a-package 1\.0 .* Caliper has one of the same name"),
    ],
)
async def test_what_cannot_be_opened(
    room: ModelRoom, spec: str, error: type[CaliperError], message: str
) -> None:
    with pytest.raises(error, match=message):
        await room.chat_model(spec)


def test_others_are_used_beside_what_is_broken() -> None:
    assert split_spec("lexical") == ("lexical", "")
    assert split_spec("tgi:http://h") == ("tgi", "http://h")


class Odd(FakeEndpoint):
    """Returns whatever it was told to."""

    async def complete(self, *_: Any) -> Any:
        return self.tell("")


async def test_what_the_package_does_wrong_is_named() -> None:
    for told in (None, "text", ("text", "stop")):
        endpoint = PluginEndpoint(Odd(lambda _, told=told: told), KIND, 60)  # type: ignore[misc]
        with pytest.raises(FunctionFailed, match=f"{KIND} returned .*, no Completion"):
            await endpoint.complete(HELLO, Decoding())
    endpoint = PluginEndpoint(FakeEndpoint(lambda _: KeyError("x")), KIND, 60)
    with pytest.raises(FunctionFailed, match=f"{KIND} raised KeyError"):
        await endpoint.complete(HELLO, Decoding())


class Clinging(FakeEndpoint):
    """Cannot be closed: it raises, or, without a word to say, never ends."""

    async def close(self) -> None:
        if said := self.tell(""):
            raise ValueError(said)
        await asyncio.Event().wait()


async def test_what_cannot_be_closed_is_named_and_holds_nobody_up() -> None:
    with pytest.raises(FunctionFailed, match=rf"{KIND} raised ValueError\('no'\)"):
        await PluginEndpoint(Clinging(lambda _: "no"), KIND, 60).close()
    await PluginEndpoint(Clinging(lambda _: ""), KIND, 0.01).close()


async def test_a_call_has_a_deadline_and_can_be_cancelled() -> None:
    never = hold(FakeEndpoint())
    with pytest.raises(BackendTimeout):
        await PluginEndpoint(never, KIND, 0.01).complete(HELLO, Decoding())
    call = asyncio.create_task(PluginEndpoint(never, KIND, 60).complete(HELLO, Decoding()))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
