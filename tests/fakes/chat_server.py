"""A fake server with an OpenAI-style API, on a free loopback port.

It answers chat requests by a script, one step a request, and by its last step (a plain
answer, unless told otherwise) when the script has run out. Deterministic: nothing in it
depends on chance, and nothing waits except for `delay`.

    async with ChatServer([status(429, retry_after="1"), answer("2")]) as server:
        ...  # server.url, server.requests, server.most_in_flight

What it does that no server should is in `chat_trouble`.

`python -m tests.fakes.chat_server --delay 0.25` serves as a stub in a process of its own
and prints its URL.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import uvloop
from aiohttp import web
from tests.fakes.certificates import Pair

Step = Callable[["ChatServer", web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]

MODEL = "fake/judge-8b"
REVISION = "0123456789abcdef0123456789abcdef01234567"
_PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class Received:
    body: dict[str, Any]
    headers: Mapping[str, str]


@dataclass
class ChatServer:
    """The server. `kind` tgi has `/info`, openai has only `/v1/models`, moved redirects both.

    `delay` in seconds comes before every answer. `token` is required if set. With `grammar` False,
    requests with a response format are refused. The first `starting` queries of the model get a
    503, as from a server that is still loading it. `revision` is reported by `/info`. `port` 0
    picks a free one. With `tls` it speaks only HTTPS.
    """

    script: Iterable[Step] = ()
    delay: float = 0.0
    kind: str = "tgi"
    models: tuple[str, ...] = (MODEL,)
    token: str = ""
    grammar: bool = True
    starting: int = 0
    revision: str = REVISION
    port: int = 0
    tls: Pair | None = None
    otherwise: Step | None = None
    requests: list[Received] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    model_requests: int = 0
    keep_requests: bool = True

    async def __aenter__(self) -> Self:
        self._steps = iter(self.script)
        self._otherwise = self.otherwise or answer("1")
        self._arrived = asyncio.Condition()
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/info", self._info)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/metrics", self._metrics)
        # With handler cancellation, a request that is never answered ends when its client does.
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=0.02
        )
        await self._runner.setup()
        context = self._context() if self.tls else None
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, backlog=1024, ssl_context=context)
        await site.start()
        self.port = self._runner.addresses[0][1]
        self.url = f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    def from_now_on(self, step: Step) -> None:
        """Answer every further request with `step`."""
        self._steps, self._otherwise = iter(()), step

    @property
    def step(self) -> Step:
        """The step of every further request; the script has run out."""
        assert next(self._steps, None) is None
        return self._otherwise

    async def until_received(self, count: int) -> None:
        """Wait for the n-th request, counted from 1. Raises TimeoutError if none comes."""
        async with asyncio.timeout(_PATIENCE), self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= count)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if self.keep_requests:
            self.requests.append(Received(body, dict(request.headers)))
            async with self._arrived:
                self._arrived.notify_all()
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self.delay:
                await asyncio.sleep(self.delay)
            if refused := self._refused(request):
                return refused
            if not self.grammar and "response_format" in body:
                return web.json_response({"error": "Grammar is not supported"}, status=400)
            return await next(self._steps, self._otherwise)(self, request, body)
        finally:
            self.in_flight -= 1

    def _context(self) -> ssl.SSLContext | None:
        if self.tls is None:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.tls.certificate, self.tls.key)
        return context

    def _refused(self, request: web.Request) -> web.Response | None:
        given = request.headers.get("Authorization", "no token")
        if not self.token or given == f"Bearer {self.token}":
            return None
        return web.json_response({"error": f"not allowed: {given}"}, status=401)

    async def _info(self, request: web.Request) -> web.Response:
        self.model_requests += 1
        if refused := self._refused(request):
            return refused
        if self.model_requests <= self.starting:
            raise web.HTTPServiceUnavailable
        if self.kind == "moved":
            raise web.HTTPMovedPermanently("/v1/models")
        if self.kind != "tgi":
            raise web.HTTPNotFound
        return web.json_response({"model_id": self.models[0], "model_sha": self.revision})

    async def _metrics(self, _: web.Request) -> web.Response:
        return web.Response(text=f"tgi_queue_size {self.in_flight}\n")

    async def _models(self, request: web.Request) -> web.Response:
        self.model_requests += 1
        if refused := self._refused(request):
            return refused
        # vLLM puts the time of the request into `created`: it must not count as a revision.
        entries = [
            {"id": name, "created": self.model_requests, "owned_by": "vllm", "root": f"/m/{name}"}
            for name in self.models
        ]
        return web.json_response({"object": "list", "data": entries})


def completion(text: str | None, finish: str = "stop", model: str = MODEL, **extra: Any) -> Any:
    """The JSON object of a chat completion; `extra` goes into its message."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **extra},
                "finish_reason": finish,
            }
        ],
        "usage": {
            "prompt_tokens": 7,
            "completion_tokens": 3,
            "total_tokens": 10,
            "prompt_tokens_details": {"cached_tokens": 5},
        },
    }


def answer(text: str | None, finish: str = "stop", model: str = MODEL, **extra: Any) -> Step:
    return raw(json.dumps(completion(text, finish, model, **extra)).encode())


def raw(body: bytes, content_type: str = "application/json", encoding: str = "") -> Step:
    """A response with status 200, exactly these bytes, and these content headers."""
    headers = {"Content-Type": content_type} | ({"Content-Encoding": encoding} if encoding else {})

    async def step(server: ChatServer, request: web.Request, asked: dict[str, Any]) -> web.Response:
        return web.Response(body=body, headers=headers)

    return step


def status(code: int, text: str = "", retry_after: str = "") -> Step:
    """An answer with this HTTP status, and this header if given."""
    headers = {"Retry-After": retry_after} if retry_after else {}

    async def step(server: ChatServer, request: web.Request, asked: dict[str, Any]) -> web.Response:
        return web.Response(status=code, text=text or "trouble", headers=headers)

    return step


def together(count: int) -> Step:
    """Answers only once `count` requests have been in flight at the same time."""
    enough = asyncio.Event()

    async def step(
        server: ChatServer, request: web.Request, asked: dict[str, Any]
    ) -> web.StreamResponse:
        if server.in_flight >= count:
            enough.set()
        await enough.wait()
        return await answer("1")(server, request, asked)

    return step


async def serve(delay: float, text: str) -> None:
    """Serve until cancelled; prints only the URL."""
    stub = ChatServer(delay=delay, otherwise=answer(text), keep_requests=False)
    async with stub as server:
        print(server.url, flush=True)  # noqa: T201 - the output is the interface
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="a fake OpenAI-style server")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--text", default="1", help="what it answers")
    options = parser.parse_args()
    uvloop.run(serve(options.delay, options.text))


if __name__ == "__main__":
    main()
