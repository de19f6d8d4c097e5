"""Chat models and embedders over pools of endpoints. `replicas` holds what both share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from caliper.adapters.models.replica import ChatEndpoint, EmbedderEndpoint
from caliper.adapters.models.replicas import Replicas
from caliper.core.question import Decoding, Vector
from caliper.ports.models import ChatMessage, Completion
from caliper.ports.telemetry import TokensUsed


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
    """An Embedder. Each call sends at most `most` texts."""

    @property
    def most(self) -> int:
        """The maximum number of texts per request that every endpoint accepts."""
        return min(replica.model.most for replica in self._replicas)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text. Raises what `call` raises."""
        vectors: list[Vector] = []

        async def ask(endpoint: EmbedderEndpoint, _: str) -> list[Vector]:
            return await endpoint.embed(texts[len(vectors) : len(vectors) + self.most])

        while len(vectors) < len(texts):
            vectors += await self.call(ask)
        return vectors
