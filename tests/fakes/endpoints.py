"""Scripted model endpoints without retries."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from caliper.adapters.models.replica import BackendAccess
from caliper.core.errors import InvalidInput
from caliper.core.question import Decoding
from caliper.core.run import Identity
from caliper.ports.models import ChatMessage, Completion

Told = Completion | str | Exception


class FakeEndpoint:
    """adapters.models.replica.ChatEndpoint. `tell` maps a call's text to its result; a call that is
    `held` waits until `free` is set.
    """

    def __init__(
        self, tell: Callable[[str], Told] = lambda text: text, revision: str = "1"
    ) -> None:
        self.tell = tell
        self.revision = revision
        self.identity = Identity("fake", "model", revision, cached=True)
        self.free = asyncio.Event()
        self.free.set()
        self.texts: list[str] = []
        self.resolving: list[Exception] = []
        self.resolved = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.closed = False

    async def resolve(self) -> Identity:
        self.resolved += 1
        await asyncio.sleep(0)
        if self.resolving:
            raise self.resolving.pop(0)
        return Identity("fake", "model", self.revision, cached=True)

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        decoding: Decoding,
        schema: Mapping[str, Any] | None = None,
        affinity: str = "",
    ) -> Completion:
        text = str(messages[0].content[0])
        self.texts.append(text)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(0)
            await self.free.wait()
            result = self.tell(text)
        finally:
            self.in_flight -= 1
        if isinstance(result, Exception):
            raise result
        return Completion(result) if isinstance(result, str) else result

    async def close(self) -> None:
        self.closed = True


def open_endpoint(rest: str, access: BackendAccess) -> FakeEndpoint:
    """adapters.models.replica.Backend: its model replies with the SPEC and the token."""
    if rest == "unknown":
        raise InvalidInput("no such parrot")
    if rest == "ill":
        raise ValueError("ill")
    return FakeEndpoint(lambda _: f"{rest} {access.token}")


def hold(endpoint: FakeEndpoint) -> FakeEndpoint:
    """Make the endpoint answer nothing until `free` is set."""
    endpoint.free.clear()
    return endpoint
