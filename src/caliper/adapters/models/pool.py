"""Chat models and embedders over pools of endpoints. `replicas` holds what both share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from caliper.adapters.models.replica import ChatEndpoint, EmbedderEndpoint
from caliper.adapters.models.replicas import Replicas
from caliper.core.question import Decoding, Vector
from caliper.ports.models import ChatMessage, Completion
from caliper.ports.telemetry import TokensUsed

_Input = TypeVar("_Input", str, bytes)


class Pool(Replicas[ChatEndpoint]):
    """A ChatModel."""

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        decoding: Decoding,
        schema: Mapping[str, Any] | None = None,
        affinity: str = "",
    ) -> Completion:
        """One completion. Raises what `call` raises."""

        async def ask(endpoint: ChatEndpoint, label: str) -> Completion:
            completion = await endpoint.complete(messages, decoding, schema, affinity)
            self.cost.use(completion.usage)
            self.telemetry.record(TokensUsed(label, completion.usage))
            return completion

        return await self.call(ask, affinity)


class EmbedderPool(Replicas[EmbedderEndpoint]):
    """An Embedder and a PictureEmbedder. Each call sends at most `most` texts or pictures."""

    @property
    def most(self) -> int:
        """The maximum number of texts per request that every endpoint accepts."""
        return min(replica.model.most for replica in self._replicas)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text. Raises what `call` raises."""
        return await self._embed(texts, lambda endpoint, some: endpoint.embed(some))

    async def embed_pictures(self, pictures: Sequence[bytes]) -> list[Vector]:
        """One vector per picture. Raises what `call` raises."""
        return await self._embed(pictures, lambda endpoint, some: endpoint.embed_pictures(some))

    async def _embed(
        self,
        inputs: Sequence[_Input],
        embed: Callable[[EmbedderEndpoint, Sequence[_Input]], Awaitable[list[Vector]]],
    ) -> list[Vector]:
        vectors: list[Vector] = []

        async def ask(endpoint: EmbedderEndpoint, _: str) -> list[Vector]:
            return await embed(endpoint, inputs[len(vectors) : len(vectors) + self.most])

        while len(vectors) < len(inputs):
            vectors += await self.call(ask)
        return vectors
