"""The interface between a pool and its adapters: one endpoint of a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from caliper.core.run import Identity
from caliper.ports.models import ChatModel, Embedder, PictureEmbedder


class ResolvableEndpoint(Protocol):
    """One endpoint of a model, which tries every call once.

    Calls raise the matching BackendError subclass, with `retry_after` if the server sent it, and
    ModelChanged if the reply names another model.
    """

    async def resolve(self) -> Identity:
        """Ask the endpoint, once, which model it serves now. `identity` is the first answer.

        Raises BackendError, and UnknownName if it does not serve the named model.
        """
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class ChatEndpoint(ResolvableEndpoint, ChatModel, Protocol):
    """A chat model behind one endpoint."""


class EmbedderEndpoint(ResolvableEndpoint, Embedder, PictureEmbedder, Protocol):
    """An embedder behind one endpoint, of texts or of pictures.

    A call takes at most `most` of them, in one request.
    """

    @property
    def most(self) -> int: ...


@dataclass(frozen=True, slots=True)
class BackendAccess:
    """How this process reaches a backend of another package: with a bearer token if it has one,
    `timeout` seconds per call, and over https `ca`, a PEM file of certificates to trust. The token
    must not leave this machine in plaintext.
    """

    token: str = field(default="", repr=False)
    timeout: float = 120.0
    ca: Path | None = None


Backend = Callable[[str, BackendAccess], ChatEndpoint]
"""A package's entry point: opens the endpoint named after the colon of a SPEC. It makes no calls
yet, and raises InvalidInput for an invalid SPEC.
"""
