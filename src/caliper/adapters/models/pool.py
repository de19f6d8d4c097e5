"""Chat models and embedders over the endpoints that serve them.

Everything that getting along with endpoints takes is in `replicas`, for both alike.
"""

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
            found = await endpoint.complete(messages, decoding, schema, affinity)
            self.cost.use(found.usage)
            self.telemetry.record(TokensUsed(label, found.usage))
            return found

        return await self.call(ask, affinity)


class EmbedderPool(Replicas[EmbedderEndpoint]):
    """An Embedder. A call holds `most` texts at once."""

    @property
    def most(self) -> int:
        """How many texts a request may hold at every endpoint."""
        return min(replica.model.most for replica in self._replicas)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text. Raises what `call` raises."""
        found: list[Vector] = []

        async def ask(endpoint: EmbedderEndpoint, _: str) -> list[Vector]:
            return await endpoint.embed(texts[len(found) : len(found) + self.most])

        while len(found) < len(texts):
            found += await self.call(ask)
        return found
