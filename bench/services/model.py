"""The bench's own chat model on plain aiohttp, the peer that only posts the same bodies, and the
stub server for both.

So the difference to the peer is the overhead of the services; huggingface_hub is measured in
bench.chat_rate.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from caliper.core.question import Decoding
from caliper.core.run import Identity
from caliper.ports.models import ChatMessage, Completion

DELAY_SECONDS = 0.25
IDENTITY = Identity("bench", "bench/model", "1", cached=True)


def body_of(messages: Sequence[ChatMessage], decoding: Decoding) -> dict[str, Any]:
    """The body for `/v1/chat/completions`, text only."""
    return {
        "model": IDENTITY.name,
        "messages": [
            {"role": message.role, "content": "".join(map(str, message.content))}
            for message in messages
        ],
        "max_tokens": decoding.max_tokens,
        "temperature": decoding.temperature,
        "seed": decoding.seed,
        "stream": False,
    }


class AiohttpChat:
    """A ports.models.ChatModel on one aiohttp session, at most `in_flight` calls at once."""

    def __init__(self, url: str, in_flight: int) -> None:
        self._url = f"{url}/v1/chat/completions"
        self._slots = asyncio.Semaphore(in_flight)
        self._session: aiohttp.ClientSession | None = None

    @property
    def identity(self) -> Identity:
        return IDENTITY

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        decoding: Decoding,
        schema: Mapping[str, Any] | None = None,  # noqa: ARG002 - the port's
        affinity: str = "",  # noqa: ARG002 - the port's
    ) -> Completion:
        async with self._slots:
            reply = await self._post(body_of(messages, decoding))
        choice = reply["choices"][0]
        return Completion(choice["message"]["content"], choice["finish_reason"])

    async def _post(self, body: Mapping[str, Any]) -> dict[str, Any]:
        if self._session is None:
            self._session = _session()
        async with self._session.post(self._url, json=body) as response:
            reply: dict[str, Any] = json.loads(await response.read())
            return reply

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


class InstantChat:
    """A ports.models.ChatModel that answers the same text at once."""

    def __init__(self, text: str) -> None:
        self._completion = Completion(text)

    @property
    def identity(self) -> Identity:
        return IDENTITY

    async def complete(
        self,
        messages: Sequence[ChatMessage],  # noqa: ARG002 - the port's
        decoding: Decoding,  # noqa: ARG002 - the port's
        schema: Mapping[str, Any] | None = None,  # noqa: ARG002 - the port's
        affinity: str = "",  # noqa: ARG002 - the port's
    ) -> Completion:
        return self._completion

    async def close(self) -> None:
        """Do nothing: there are no connections."""


@dataclass(frozen=True, slots=True)
class Peer:
    """The figures of plain aiohttp: calls per second, and CPU milliseconds per call."""

    rate: float
    cpu: float


async def peer(url: str, body: Mapping[str, Any], in_flight: int, count: int) -> Peer:
    """Post a body `count` times, `in_flight` concurrently, and parse the answers."""
    async with _session() as session:

        async def post(remaining: Iterator[int]) -> None:
            for _ in remaining:
                async with session.post(f"{url}/v1/chat/completions", json=body) as response:
                    json.loads(await response.read())["choices"][0]["message"]["content"]

        async def post_all(number: int) -> None:
            remaining = iter(range(number))
            await asyncio.gather(*(post(remaining) for _ in range(in_flight)))

        # Warm up: opens the connections.
        await post_all(in_flight)
        start, cpu = time.perf_counter(), time.process_time()
        await post_all(count)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    return Peer(count / seconds, 1000 * cpu / count)


async def paced_peer(
    url: str, body: Mapping[str, Any], pace: float, count: int, delay: float
) -> list[float]:
    """Post a body `count` times, `pace` per second; returns the seconds that each call took beyond
    the `delay` of the model.
    """
    async with _session() as session:

        async def post(at: float) -> float:
            await asyncio.sleep(max(0.0, at - time.perf_counter()))
            start = time.perf_counter()
            async with session.post(f"{url}/v1/chat/completions", json=body) as response:
                json.loads(await response.read())["choices"][0]["message"]["content"]
            return time.perf_counter() - start - delay

        first = time.perf_counter()
        return await asyncio.gather(*(post(first + number / pace) for number in range(count)))


def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        timeout=aiohttp.ClientTimeout(total=None),
        cookie_jar=aiohttp.DummyCookieJar(),
    )


@contextmanager
def stub(text: str, delay: float = DELAY_SECONDS) -> Iterator[str]:
    """The URL of a server in its own process that answers `text` after `delay` seconds."""
    command = [sys.executable, "-m", "tests.fakes.chat_server", "--delay", str(delay)]
    command += ["--text", text]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None:
                raise RuntimeError("the stub server has no output")
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
