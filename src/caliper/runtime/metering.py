"""What calls cost: counts and tokens of models, for execution.json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from caliper.adapters.models.pool import EmbedderPool
from caliper.core.question import Decoding, Vector
from caliper.core.run import Identity
from caliper.ports.clock import Clock
from caliper.ports.models import ChatModel, Completion, Message


@dataclass(slots=True)
class Spent:
    """`seconds` is the sum over calls, which overlap."""

    calls: int = 0
    failed: int = 0
    seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    @contextmanager
    def call(self, clock: Clock) -> Iterator[None]:
        """Count a call, and its time."""
        begun = clock.monotonic()
        self.calls += 1
        try:
            yield
        except BaseException:
            self.failed += 1
            raise
        finally:
            self.seconds += clock.monotonic() - begun

    def __add__(self, other: Spent) -> Spent:
        """What the calls of both cost."""
        return Spent(
            self.calls + other.calls,
            self.failed + other.failed,
            self.seconds + other.seconds,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
        )

    @property
    def cached_share(self) -> float | None:
        """Which part of the prompts' tokens came from the server's cache, as it says itself;
        None where it counts no tokens.
        """
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else None

    def to_json(self) -> dict[str, float | None]:
        """The figures of execution.json."""
        share = None if self.cached_share is None else round(self.cached_share, 4)
        return {**asdict(self), "cached_share": share}


class MeteredChatModel:
    """A chat model that keeps account of its calls."""

    def __init__(self, model: ChatModel, clock: Clock) -> None:
        self._model = model
        self._clock = clock
        self.spent = Spent()

    @property
    def identity(self) -> Identity:
        return self._model.identity

    async def complete(
        self,
        messages: Sequence[Message],
        decoding: Decoding,
        schema: Mapping[str, Any] | None = None,
        affinity: str = "",
    ) -> Completion:
        """One completion. Raises what the model raises."""
        with self.spent.call(self._clock):
            completion = await self._model.complete(messages, decoding, schema, affinity)
        self.spent.prompt_tokens += completion.usage.prompt
        self.spent.completion_tokens += completion.usage.completion
        self.spent.cached_tokens += completion.usage.cached
        return completion

    async def close(self) -> None:
        await self._model.close()


class MeteredEmbedder:
    """An embedder behind endpoints that keeps account of its calls: each is as many texts as a
    request may hold.
    """

    def __init__(self, pool: EmbedderPool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock
        self.spent = Spent()

    @property
    def identity(self) -> Identity:
        return self._pool.identity

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text. Raises what the pool raises."""
        found: list[Vector] = []
        while len(found) < len(texts):
            with self.spent.call(self._clock):
                found += await self._pool.embed(texts[len(found) : len(found) + self._pool.most])
        return found
