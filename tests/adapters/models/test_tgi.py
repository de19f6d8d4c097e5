"""The tgi model: what it sends and reads, and whom it takes its endpoint for."""

import asyncio
import json
from fractions import Fraction

import pytest
from aiohttp import web
from pydantic import SecretStr
from tests.fakes import chat_server as fake
from tests.fakes.chat_server import ChatServer
from tests.fakes.tgi import HELLO, SCHEMA, connected

from caliper.adapters.models.endpoint import parse_endpoints
from caliper.adapters.models.tgi import TgiModel
from caliper.core.errors import (
    BackendError,
    BackendRejected,
    CaliperError,
    InvalidInput,
    ModelChanged,
    UnknownName,
)
from caliper.core.question import Decoding
from caliper.core.run import Identity
from caliper.ports.models import ChatMessage, Image, WholeClip

TOKEN = "hush-8f2a"


async def test_the_token_is_sent_and_never_told() -> None:
    async with (
        ChatServer(token=TOKEN) as server,
        connected(server, token=SecretStr(TOKEN)) as model,
    ):
        assert (await model.complete(HELLO, Decoding())).text == "1"
        assert TOKEN not in repr(model) + repr(vars(model)["_client"])
        server.token = "another"
        for call in (model.complete(HELLO, Decoding()), model.resolve()):
            with pytest.raises(BackendRejected, match=r"Bearer \*\*\*") as caught:
                await call
            assert TOKEN not in str(caught.value)
            assert caught.value.__cause__ is None
            assert caught.value.__suppress_context__


def test_a_token_that_no_header_can_hold_is_refused_without_repeating_it() -> None:
    with pytest.raises(InvalidInput, match="line break") as caught:
        TgiModel(*parse_endpoints("http://host"), SecretStr(f"{TOKEN}\n"))
    assert TOKEN not in str(caught.value)


async def test_the_users_own_hub_token_stays_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_private")
    async with ChatServer() as server, connected(server) as model:
        await model.complete(HELLO, Decoding())
    assert "hf_private" not in repr(server.requests)
    assert "Authorization" not in server.requests[0].headers


async def test_what_is_sent() -> None:
    picture = ChatMessage("user", ("look: ", Image(b"\xff\xd8", "image/jpeg")))
    async with ChatServer() as server, connected(server) as model:
        await model.complete(
            (ChatMessage("system", ("be \ud800 brief",)), picture), Decoding(seed=3)
        )
        await model.complete(HELLO, Decoding(0.6, 0.9), SCHEMA)
    first, second = (request.body for request in server.requests)
    assert first == {
        "model": fake.MODEL,
        "messages": [
            {"role": "system", "content": "be ? brief"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look: "},
                    {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,/9g="}},
                ],
            },
        ],
        "max_tokens": 512,
        "temperature": 0.0,
        "stream": False,
        "seed": 3,
    }
    assert (second["temperature"], second["top_p"]) == (0.6, 0.9)
    assert json.dumps(SCHEMA) in json.dumps(second["response_format"])


@pytest.mark.parametrize(
    ("rate", "sampling"),
    [(None, {"min_frames": 8}), (Fraction(1, 2), {"fps": 0.5})],
)
async def test_a_whole_clip_goes_with_its_sampling(
    rate: Fraction | None, sampling: dict[str, float]
) -> None:
    clip = ChatMessage("user", (WholeClip(b"\x00", "video/mp4", 8, rate), "what?"))
    async with ChatServer() as server, connected(server) as model:
        await model.complete((clip,), Decoding(), SCHEMA)
        await model.complete(HELLO, Decoding())
    first, second = (request.body for request in server.requests)
    part = {"type": "video_url", "video_url": {"url": "data:video/mp4;base64,AA=="}}
    assert first["messages"][0]["content"][0] == part
    assert first["media_io_kwargs"] == {"video": {"num_frames": 8, "max_frames": 8, **sampling}}
    assert "response_format" in first
    assert "media_io_kwargs" not in second


@pytest.mark.parametrize("suffix", ["", "@main"])
async def test_names_in_replies_of_the_model_that_was_asked_for(suffix: str) -> None:
    steps = [fake.answer("1", model=f"{fake.MODEL}{end}") for end in (suffix, "@other")]
    async with ChatServer(steps) as server, connected(server) as model:
        assert (await model.complete(HELLO, Decoding())).text == "1"
        with pytest.raises(ModelChanged, match="@other"):
            await model.complete(HELLO, Decoding())


async def test_usage_and_finish_are_read() -> None:
    async with (
        ChatServer([fake.answer("caf\u00e9", "eos_token")]) as server,
        connected(server) as model,
    ):
        done = await model.complete(HELLO, Decoding())
    assert (done.text, done.finish, done.model) == ("caf\u00e9", "stop", fake.MODEL)
    assert (done.usage.prompt, done.usage.completion, done.usage.cached) == (7, 3, 5)


async def test_no_hidden_limit_of_connections() -> None:
    async with (
        ChatServer(otherwise=fake.together(150)) as server,
        connected(server, timeout=10) as model,
    ):
        await asyncio.gather(*(model.complete(HELLO, Decoding()) for _ in range(150)))
    assert server.most_in_flight == 150


async def test_identity_of_tgi() -> None:
    async with ChatServer() as server, connected(server) as model:
        assert model.identity == Identity("tgi", fake.MODEL, fake.REVISION, cached=True)


async def test_a_chat_endpoint_is_not_asked_what_only_tgi_reports() -> None:
    async with ChatServer() as server:
        model = TgiModel(*parse_endpoints(server.url, "chat"))
        found = await model.resolve()
        await model.close()
    assert (found.kind, found.name, found.revision) == ("chat", fake.MODEL, "")
    assert found.origin
    assert server.model_requests == 1


async def test_a_revision_that_the_user_names() -> None:
    async with ChatServer(kind="openai", models=("a/x",)) as server:
        for rest in ("#a/x@step-7", "#@step-7"):
            model = TgiModel(*parse_endpoints(f"{server.url}{rest}"))
            named = await model.resolve()
            await model.close()
            assert (named.name, named.revision) == ("a/x", "step-7")
            assert named.origin


async def test_a_revision_that_the_server_contradicts() -> None:
    async with ChatServer() as server:
        same = TgiModel(*parse_endpoints(f"{server.url}#@{fake.REVISION}"))
        assert (await same.resolve()).revision == fake.REVISION
        other = TgiModel(*parse_endpoints(f"{server.url}#{fake.MODEL}@step-7"))
        with pytest.raises(InvalidInput, match=f"revision {fake.REVISION} of {fake.MODEL}, not"):
            await other.resolve()
        await same.close()
        await other.close()


async def test_identity_elsewhere_stays_the_same_from_run_to_run() -> None:
    async with ChatServer(kind="openai", models=("a/x", "b/y")) as server:
        identities = []
        for _ in range(2):
            async with connected(server) as model:
                identities.append(model.identity)
        named = TgiModel(*parse_endpoints(f"{server.url}/v1#b/y"))
        other = await named.resolve()
        await named.close()
    assert identities[0] == identities[1]
    assert (identities[0].name, other.name) == ("a/x", "b/y")
    assert identities[0].origin != other.origin
    assert identities[0].revision == other.revision == ""
    assert server.url not in repr(identities)


async def test_a_model_that_is_not_served() -> None:
    async with ChatServer() as server:
        model = TgiModel(*parse_endpoints(f"{server.url}#gpt-9"))
        with pytest.raises(UnknownName, match=f"'gpt-9'; known: {fake.MODEL}"):
            await model.resolve()
        with pytest.raises(CaliperError, match="before it was resolved"):
            _ = model.identity
        await model.close()


async def test_an_address_without_any_model() -> None:
    async with ChatServer(kind="openai", models=()) as server:
        model = TgiModel(*parse_endpoints(server.url))
        with pytest.raises(BackendRejected, match="names no model"):
            await model.resolve()
        await model.close()


async def test_a_redirect_is_not_followed() -> None:
    async with ChatServer(kind="moved") as server:
        model = TgiModel(*parse_endpoints(server.url))
        with pytest.raises(BackendRejected, match="give the URL it points to"):
            await model.resolve()
        assert server.model_requests == 1
        await model.close()


async def test_a_redirect_carries_no_token_to_another_server() -> None:
    async def redirect(*_: object) -> web.StreamResponse:
        raise web.HTTPTemporaryRedirect(f"{other.url}/v1/chat/completions")

    async with (
        ChatServer() as other,
        ChatServer(token=TOKEN, otherwise=redirect) as server,
        connected(server, token=SecretStr(TOKEN)) as model,
    ):
        with pytest.raises(BackendError):
            await model.complete(HELLO, Decoding())
        assert (len(server.requests), other.requests) == (1, [])
