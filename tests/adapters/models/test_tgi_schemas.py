"""The tgi model: schemas are asked for where the endpoint obeys them."""

import pytest
from tests.fakes import chat_server as fake
from tests.fakes.chat_server import ChatServer
from tests.fakes.tgi import HELLO, SCHEMA, connected

from caliper.core.errors import (
    BackendRejected,
)
from caliper.core.question import Decoding


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
