"""The bench's own chat model, on plain aiohttp; the peer that posts the same bodies and does no
more; and the stub that answers both.

So what is lost against the peer is the services': huggingface_hub has a bench of its own.
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
    """What is posted to `/v1/chat/completions`: text only."""
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
    """ports.models.ChatModel over one aiohttp session, at most `in_flight` calls at once."""

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
            found = await self._post(body_of(messages, decoding))
        choice = found["choices"][0]
        return Completion(choice["message"]["content"], choice["finish_reason"])

    async def _post(self, body: Mapping[str, Any]) -> dict[str, Any]:
        if self._session is None:
            self._session = _session()
        async with self._session.post(self._url, json=body) as response:
            found: dict[str, Any] = json.loads(await response.read())
            return found

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


class InstantChat:
    """ports.models.ChatModel that answers at once, and always the same."""

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
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class Peer:
    """What plain aiohttp did: calls a second, and CPU milliseconds a call."""

    rate: float
    cpu: float


async def peer(url: str, body: Mapping[str, Any], in_flight: int, count: int) -> Peer:
    """Post a body `count` times, `in_flight` at once, and parse the answers."""
    async with _session() as session:

        async def post(left: Iterator[int]) -> None:
            for _ in left:
                async with session.post(f"{url}/v1/chat/completions", json=body) as response:
                    json.loads(await response.read())["choices"][0]["message"]["content"]

        async def posted(number: int) -> None:
            left = iter(range(number))
            await asyncio.gather(*(post(left) for _ in range(in_flight)))

        # Opens the connections, which nobody should pay for.
        await posted(in_flight)
        begun, cpu = time.perf_counter(), time.process_time()
        await posted(count)
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
    return Peer(count / seconds, 1000 * cpu / count)


async def paced_peer(
    url: str, body: Mapping[str, Any], pace: float, count: int, delay: float
) -> list[float]:
    """Post a body `count` times, so many a second; the seconds that each call took beyond the
    `delay` of the model.
    """
    async with _session() as session:

        async def post(at: float) -> float:
            await asyncio.sleep(max(0.0, at - time.perf_counter()))
            begun = time.perf_counter()
            async with session.post(f"{url}/v1/chat/completions", json=body) as response:
                json.loads(await response.read())["choices"][0]["message"]["content"]
            return time.perf_counter() - begun - delay

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
    """A server in a process of its own that answers `text` after so many seconds; its URL."""
    command = [sys.executable, "-m", "tests.fakes.chat_server", "--delay", str(delay)]
    command += ["--text", text]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None:
                raise RuntimeError("the stub server has no output")
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
