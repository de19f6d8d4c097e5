"""The tgi model: schemas are asked for in the form that the endpoint obeys, where it obeys one."""

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web
from tests.fakes import chat_server as fake
from tests.fakes import chat_trouble
from tests.fakes.chat_server import ChatServer
from tests.fakes.tgi import HELLO, SCHEMA, connected

from caliper.core.errors import BackendRejected, BackendTimeout, BackendUnavailable
from caliper.core.question import Decoding
from caliper.ports.models import Completion

STRICT = {**SCHEMA, "required": ["score"]}
STANDARD = {"type": "json_schema", "json_schema": {"name": "reply", "schema": STRICT}}
BY_OBJECT = {"type": "json_object", "value": STRICT, "schema": STRICT}


def keeping_to(*kinds: str, refuses: str = "", code: int = 422) -> fake.Step:
    """A server that keeps to a schema in a form of these kinds, takes every other for a wish for
    any JSON object, and refuses one kind with that status.
    """

    async def step(
        server: ChatServer, request: web.Request, asked: dict[str, Any]
    ) -> web.StreamResponse:
        form = asked.get("response_format", {}).get("type", "")
        if form and form == refuses:
            return await fake.status(code)(server, request, asked)
        text = {"": "I would say 1."}.get(form, json.dumps({"anything": "goes"}))
        if form in kinds:
            text = json.dumps({"score": 1})
        return await fake.answer(text)(server, request, asked)

    return step


def forms(server: ChatServer) -> list[Any]:
    """The form of every request, None where it asks by its words alone."""
    assert not any("as it is" in name for request in server.requests for name in request.body)
    return [request.body.get("response_format") for request in server.requests]


@pytest.mark.parametrize(
    ("kind", "step", "sent"),
    [
        ("openai", keeping_to("json_schema"), [STANDARD, STANDARD]),
        ("openai", keeping_to("json_schema", "json_object"), [STANDARD, STANDARD]),
        ("openai", keeping_to("json_object", refuses="json_schema"), [STANDARD, BY_OBJECT]),
        (
            "openai",
            keeping_to("json_object", refuses="json_schema", code=500),
            [STANDARD, BY_OBJECT] * 2,
        ),
        ("openai", keeping_to("json_object"), [STANDARD, BY_OBJECT]),
        ("openai", keeping_to(), [STANDARD, BY_OBJECT]),
        ("tgi", keeping_to("json_object"), [BY_OBJECT, BY_OBJECT]),
        ("tgi", keeping_to(), [BY_OBJECT]),
    ],
    ids=[
        *("vLLM", "llama.cpp", "refuses one", "llama-cpp-python", "ignores one", "ignores both"),
        *("TGI", "old TGI"),
    ],
)
async def test_a_schema_goes_in_the_form_that_is_obeyed(
    kind: str, step: fake.Step, sent: list[Any]
) -> None:
    async with ChatServer(kind=kind, otherwise=step) as server, connected(server) as model:
        texts = [(await model.complete(HELLO, Decoding(), STRICT)).text for _ in range(3)]
    found = forms(server)
    assert found[: len(sent)] == sent
    last = found[-1]
    # What was found out is kept to, and nothing else is tried.
    assert found[len(sent) :] == [last] * (len(found) - len(sent))
    obeyed = last is not None
    assert obeyed == (texts[-1] == '{"score": 1}')
    assert texts[0] == (texts[-1] if obeyed else '{"anything": "goes"}')


async def test_one_call_finds_out_for_all() -> None:
    step = keeping_to("json_object")
    async with ChatServer(kind="openai", otherwise=step) as server, connected(server) as model:
        found = await asyncio.gather(
            *(model.complete(HELLO, Decoding(), STRICT) for _ in range(10))
        )
    assert {completion.text for completion in found} == {'{"score": 1}'}
    assert forms(server) == [STANDARD] + [BY_OBJECT] * 10


async def test_a_refused_schema_is_left_out_from_then_on() -> None:
    async with ChatServer(grammar=False) as server, connected(server) as model:
        for _ in range(2):
            assert (await model.complete(HELLO, Decoding(), SCHEMA)).text == "1"
    sent = ["response_format" in request.body for request in server.requests]
    assert sent == [True, False, False]


async def test_an_ignored_schema_is_left_out_from_then_on() -> None:
    async with (
        ChatServer(otherwise=fake.answer("I would say 1.")) as server,
        connected(server) as model,
    ):
        for _ in range(3):
            assert (await model.complete(HELLO, Decoding(), SCHEMA)).text == "I would say 1."
    sent = ["response_format" in request.body for request in server.requests]
    assert sent == [True, False, False]


@pytest.mark.parametrize(
    "first",
    [
        fake.answer('{"score": 1}'),
        fake.answer('{"score": 1, "rea', finish="length"),
        fake.answer(""),
        fake.answer(None, refusal="No."),
    ],
)
async def test_a_reply_that_proves_nothing_does_not_lose_the_schema(first: fake.Step) -> None:
    async with ChatServer([first]) as server, connected(server) as model:
        for _ in range(2):
            await model.complete(HELLO, Decoding(), SCHEMA)
    assert all("response_format" in request.body for request in server.requests)


async def test_a_schema_is_not_blamed_for_another_fault() -> None:
    script = [fake.status(400), fake.status(400)]
    async with ChatServer(script) as server, connected(server) as model:
        with pytest.raises(BackendRejected):
            await model.complete(HELLO, Decoding(), SCHEMA)
        await model.complete(HELLO, Decoding(), SCHEMA)
    assert "response_format" in server.requests[-1].body


async def test_an_endpoint_in_trouble_has_refused_nothing() -> None:
    script = [fake.status(500), fake.status(500), fake.status(503)]
    step = keeping_to("json_schema")
    async with (
        ChatServer(script, kind="openai", otherwise=step) as server,
        connected(server) as model,
    ):
        for _ in range(2):
            with pytest.raises(BackendUnavailable):
                await model.complete(HELLO, Decoding(), STRICT)
        await model.complete(HELLO, Decoding(), STRICT)
    assert forms(server) == [STANDARD, BY_OBJECT, STANDARD, STANDARD]


@pytest.mark.parametrize("kinds", [("json_schema",), ("json_schema", "json_object")])
async def test_trouble_that_passes_does_not_lose_the_better_form(kinds: tuple[str, ...]) -> None:
    async with (
        ChatServer([fake.status(500)], kind="openai", otherwise=keeping_to(*kinds)) as server,
        connected(server) as model,
    ):
        for _ in range(3):
            await model.complete(HELLO, Decoding(), STRICT)
    assert forms(server) == [STANDARD, BY_OBJECT, STANDARD, STANDARD]


def pass_time(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Make the timeouts of this event loop see so many seconds pass at once."""
    loop = asyncio.get_running_loop()
    time = loop.time
    monkeypatch.setattr(loop, "time", lambda: time() + seconds)


async def test_who_waits_for_the_form_has_all_the_time_for_its_own_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def hang(
        server: ChatServer, request: web.Request, asked: dict[str, Any]
    ) -> web.StreamResponse:
        # All others wait for this call by now.
        pass_time(monkeypatch, 120)
        return await chat_trouble.never()(server, request, asked)

    # Nor do they go on one after another.
    async with ChatServer([hang], otherwise=fake.together(7)) as server, connected(server) as model:
        calls = (model.complete(HELLO, Decoding(), SCHEMA) for _ in range(8))
        first, *others = await asyncio.gather(*calls, return_exceptions=True)
    assert isinstance(first, BackendTimeout)
    assert {type(other) for other in others} == {Completion}


async def test_each_form_has_a_time_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slowly(
        server: ChatServer, request: web.Request, asked: dict[str, Any]
    ) -> web.StreamResponse:
        pass_time(monkeypatch, 100)
        step = keeping_to("json_object", refuses="json_schema")
        return await step(server, request, asked)

    async with ChatServer(kind="openai", otherwise=slowly) as server, connected(server) as model:
        assert (await model.complete(HELLO, Decoding(), STRICT)).text == '{"score": 1}'
    assert forms(server) == [STANDARD, BY_OBJECT]


async def test_nobody_waits_for_a_caller_who_left() -> None:
    async with ChatServer([chat_trouble.never()]) as server, connected(server) as model:
        first, *others = (
            asyncio.create_task(model.complete(HELLO, Decoding(), SCHEMA)) for _ in range(3)
        )
        await server.until_received(1)
        others.pop().cancel()
        first.cancel()
        assert (await others[0]).text == "1"
    assert len(server.requests) == 2
