"""What a pool asks of an adapter: one endpoint of a model."""

from __future__ import annotations

from typing import Protocol

from caliper.ports.models import ChatModel, Identity


class Endpoint(ChatModel, Protocol):
    """A chat model behind one endpoint, which tries every call once.

    `complete` raises the BackendError subclass that fits, with `retry_after` where the server
    said it, ModelChanged when the reply says that another model gave it.
    """

    async def resolve(self) -> Identity:
        """Ask the endpoint, once, which model it serves now. `identity` is the first answer.

        Raises BackendError, UnknownName when it does not serve the model that was named.
        """
        ...
