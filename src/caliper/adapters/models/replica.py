"""What a pool asks of an adapter: one endpoint of a model."""

from __future__ import annotations

from typing import Protocol

from caliper.core.run import Identity
from caliper.ports.models import ChatModel, Embedder


class ResolvableEndpoint(Protocol):
    """One endpoint of a model, which tries every call once.

    What it is asked raises the BackendError subclass that fits, with `retry_after` where the
    server said it, ModelChanged when the reply says that another model gave it.
    """

    async def resolve(self) -> Identity:
        """Ask the endpoint, once, which model it serves now. `identity` is the first answer.

        Raises BackendError, UnknownName when it does not serve the model that was named.
        """
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class ChatEndpoint(ResolvableEndpoint, ChatModel, Protocol):
    """A chat model behind one endpoint."""


class EmbedderEndpoint(ResolvableEndpoint, Embedder, Protocol):
    """An embedder behind one endpoint. `embed` is handed `most` texts at most, in one request."""

    @property
    def most(self) -> int: ...
