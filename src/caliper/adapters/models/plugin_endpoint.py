"""Chat models that other packages declare."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from caliper.adapters.models.replica import Backend, BackendAccess, ChatEndpoint
from caliper.core.errors import BackendTimeout, FunctionFailed
from caliper.core.question import Decoding
from caliper.core.run import Identity
from caliper.plugins import blame
from caliper.ports.models import ChatMessage, Completion

_Result = TypeVar("_Result")


class PluginEndpoint:
    """A ChatEndpoint of another package. Calls have a deadline, whatever the package does.

    `kind` names the package and its version: they become part of the identity, so that runs with
    another version are other runs.
    """

    def __init__(self, endpoint: ChatEndpoint, kind: str, timeout: float) -> None:
        self._endpoint, self._kind, self._timeout = endpoint, kind, timeout

    @classmethod
    def open(cls, backend: Backend, rest: str, access: BackendAccess, kind: str) -> PluginEndpoint:
        """Raises what `backend` raises, and FunctionFailed for errors that are not Caliper's."""
        with blame(kind):
            return cls(backend(rest, access), kind, access.timeout)

    @property
    def identity(self) -> Identity:
        """The identity that the package reports, with `kind`."""
        return replace(self._endpoint.identity, kind=self._kind)

    async def resolve(self) -> Identity:
        """Raises like the port, and FunctionFailed for anything else that the package does."""
        return replace(await self._expect(Identity, self._endpoint.resolve), kind=self._kind)

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        decoding: Decoding,
        schema: Mapping[str, Any] | None = None,
        affinity: str = "",
    ) -> Completion:
        """One completion. Raises like `resolve`."""
        call = partial(self._endpoint.complete, messages, decoding, schema, affinity)
        return await self._expect(Completion, call)

    async def close(self) -> None:
        """Close the endpoint of the package, but wait no longer than for a call. Raises
        FunctionFailed.
        """
        with blame(self._kind), suppress(TimeoutError):
            async with asyncio.timeout(self._timeout):
                await self._endpoint.close()

    async def _expect(self, kind: type[_Result], call: Callable[[], Awaitable[_Result]]) -> _Result:
        with blame(self._kind):
            try:
                async with asyncio.timeout(self._timeout):
                    result = await call()
            except TimeoutError as error:
                raise BackendTimeout(f"no answer within {self._timeout:g} s") from error
            if not isinstance(result, kind):
                raise FunctionFailed(f"{self._kind} returned {result!r:.60}, no {kind.__name__}")
            return result
