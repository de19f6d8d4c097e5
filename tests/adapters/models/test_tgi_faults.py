"""The tgi model: one try a call, and what it makes of every kind of trouble."""

import asyncio
import gzip
import json
from collections.abc import Callable, Generator
from fractions import Fraction
from typing import Any

import pytest
from aiohttp import web
from tests.fakes import chat_server as fake
from tests.fakes import chat_trouble
from tests.fakes.chat_server import ChatServer
from tests.fakes.tgi import HELLO, SCHEMA, connected

from caliper.adapters.models.endpoint import parse_endpoints
from caliper.adapters.models.tgi import TgiModel
from caliper.benchmarks.exchanges import Reading, ask_and_read
from caliper.core.errors import (
    BackendError,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    ModelChanged,
    error_policy,
)
from caliper.core.outcome import Evidence, Outcome, Reason, Scored, Unscored
from caliper.core.question import Answer, Ask, Decoding, Item, Question
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.ports.prompts import Template

Outcomes = list[tuple[Outcome, Evidence]]


class OnePrompt:
    name, digest = "one", "0" * 64

    def template(self, name: str) -> Template:
        return Template("You judge.", "Caption: {caption}", "Caliper")


def an_ask(caption: str = "a red bus") -> Ask:
    question = Question(0, None)
    item = Item("capability", "scene/1", "scene/1", "1.jpg", ("1.jpg",), (question,))
    return Ask(item, question, 0, "capability/scene", {"caption": caption}, schema=SCHEMA)


def read(ask: Ask, text: str) -> Reading:
    """Take a whole number for a score, anything else for unreadable."""
    try:
        return Reading(Scored(Fraction(int(text))))
    except ValueError:
        return Reading(Unscored(Reason.UNREADABLE))


async def examine(model: TgiModel) -> tuple[Outcome, Evidence]:
    """One question the way the pipeline asks it: errors become the outcome of their row."""
    answerer = PromptingAnswerer(model, OnePrompt())
    examination: Generator[tuple[Ask, ...], list[Answer], Outcomes] = ask_and_read([an_ask()], read)
    batch = next(examination)
    try:
        while True:
            batch = examination.send([await answerer.answer(ask) for ask in batch])
    except StopIteration as done:
        outcomes: Outcomes = done.value
        return outcomes[0]
    except BackendError as error:
        reason = error_policy(error).reason
        assert reason is not None
        return Unscored(reason), Evidence(explanation=str(error))


async def test_a_good_endpoint_gives_a_score() -> None:
    async with ChatServer([fake.answer("1")]) as server, connected(server) as model:
        assert await examine(model) == (Scored(Fraction(1)), Evidence("1"))


LASTING = {
    "429": (lambda: fake.status(429), Reason.BACKEND),
    "500": (lambda: fake.status(500), Reason.BACKEND),
    "503": (lambda: fake.status(503), Reason.BACKEND),
    "504": (lambda: fake.status(504), Reason.TIMEOUT),
    "401": (lambda: fake.status(401), Reason.BACKEND),
    "404": (lambda: fake.status(404), Reason.BACKEND),
    "413": (lambda: fake.status(413), Reason.BACKEND),
    "422": (lambda: fake.status(422), Reason.BACKEND),
    "301": (lambda: fake.status(301), Reason.BACKEND),
    "cut in the body": (chat_trouble.cut_body, Reason.BACKEND),
    "cut at once": (chat_trouble.cut_at_once, Reason.BACKEND),
    "no http": (lambda: chat_trouble.cut_at_once(b"1\r\n\r\n1"), Reason.BACKEND),
    "no gzip": (lambda: fake.raw(b"1", encoding="gzip"), Reason.BACKEND),
    "html": (chat_trouble.html, Reason.BACKEND),
    "utf-8 cut in half": (chat_trouble.half_utf8, Reason.BACKEND),
    "no json": (lambda: fake.raw(b"1"), Reason.BACKEND),
    "half json": (lambda: fake.raw(b'{"choices": ['), Reason.BACKEND),
    "null": (lambda: fake.raw(b"null"), Reason.BACKEND),
    "a list": (lambda: fake.raw(b"[]"), Reason.BACKEND),
    "an error with status 200": (lambda: fake.raw(b'{"error": "1"}'), Reason.BACKEND),
    "choices are a text": (lambda: fake.raw(b'{"choices": "1"}'), Reason.BACKEND),
    "choices are numbers": (lambda: fake.raw(b'{"choices": [1]}'), Reason.BACKEND),
    "a choice is a list": (lambda: fake.raw(b'{"choices": [[{"a": 1}]]}'), Reason.BACKEND),
    "a choice without message": (lambda: fake.raw(b'{"choices": [{}]}'), Reason.BACKEND),
    "a message is a text": (lambda: fake.raw(b'{"choices": [{"message": "1"}]}'), Reason.BACKEND),
    "content is a number": (
        lambda: fake.raw(b'{"choices": [{"message": {"content": 1}}]}'),
        Reason.BACKEND,
    ),
    "json without end": (lambda: fake.raw(b'{"choices": ' + b"[" * 100_000), Reason.BACKEND),
    "broken off": (lambda: fake.answer("1", "abort"), Reason.BACKEND),
    "no choices": (lambda: fake.raw(b'{"choices": []}'), Reason.NO_REPLY),
    "empty": (lambda: fake.answer(""), Reason.NO_REPLY),
    "null content": (lambda: fake.answer(None), Reason.NO_REPLY),
    "empty at the limit": (lambda: fake.answer("", "length"), Reason.TRUNCATED),
    "half an answer at the limit": (lambda: fake.answer('{"sco', "length"), Reason.TRUNCATED),
    "refusal": (lambda: fake.answer(None, refusal="I will not"), Reason.REFUSED),
    "refusal beside a number": (lambda: fake.answer("1", refusal="no"), Reason.REFUSED),
    "filtered": (lambda: fake.answer("1", "content_filter"), Reason.REFUSED),
    "no answer in it": (lambda: fake.answer("one, I think"), Reason.UNREADABLE),
}


@pytest.mark.parametrize(("step", "reason"), LASTING.values(), ids=LASTING)
async def test_lasting_trouble_is_never_a_score(
    step: Callable[[], fake.Step], reason: Reason
) -> None:
    async with ChatServer(otherwise=step()) as server, connected(server) as model:
        outcome, evidence = await examine(model)
    assert outcome == Unscored(reason)
    assert evidence.explanation or evidence.reply
    assert server.url not in evidence.explanation


async def test_an_endpoint_that_never_answers_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    time = loop.time

    async def hold(
        server: ChatServer, request: web.Request, asked: dict[str, Any]
    ) -> web.StreamResponse:
        # The call has arrived; now its time is up.
        monkeypatch.setattr(loop, "time", lambda: time() + 120)
        return await chat_trouble.never()(server, request, asked)

    async with ChatServer(otherwise=hold) as server, connected(server) as model:
        with pytest.raises(BackendTimeout, match="no answer within 120 s"):
            await model.complete(HELLO, Decoding())
    assert len(server.requests) == 1


async def test_a_cancelled_call_lets_go_of_its_connection() -> None:
    arrived = asyncio.Event()

    async def hold(
        server: ChatServer, request: web.Request, asked: dict[str, Any]
    ) -> web.StreamResponse:
        arrived.set()
        return await chat_trouble.never()(server, request, asked)

    async with ChatServer([hold]) as server, connected(server) as model:
        call = asyncio.create_task(model.complete(HELLO, Decoding()))
        await arrived.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await model.complete(HELLO, Decoding())).text == "1"
    assert len(server.requests) == 2


async def test_compressed_answers_are_read() -> None:
    body = gzip.compress(json.dumps(fake.completion("1")).encode())
    async with ChatServer([fake.raw(body, encoding="gzip")]) as server, connected(server) as model:
        assert (await model.complete(HELLO, Decoding())).text == "1"
    assert len(server.requests) == 1


async def test_nobody_listens() -> None:
    async with ChatServer() as server:
        pass
    model = TgiModel(*parse_endpoints(server.url))
    with pytest.raises(BackendUnavailable, match="refused"):
        await model.resolve()
    await model.close()


@pytest.mark.parametrize(
    ("code", "advice"),
    [(401, "token"), (403, "does not allow"), (404, "check both"), (413, "too large")],
)
async def test_a_refused_request_is_not_repeated(code: int, advice: str) -> None:
    async with ChatServer(otherwise=fake.status(code)) as server, connected(server) as model:
        with pytest.raises(BackendRejected, match=advice):
            await model.complete(HELLO, Decoding())
        assert len(server.requests) == 1


async def test_another_model_in_mid_run_stops() -> None:
    script = [fake.answer("1"), fake.answer("1", model="fake/judge-70b")]
    async with ChatServer(script) as server, connected(server) as model:
        await model.complete(HELLO, Decoding())
        with pytest.raises(ModelChanged, match="judge-70b"):
            await model.complete(HELLO, Decoding())
