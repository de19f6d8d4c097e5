"""What calls cost: counts and tokens of a chat model, for execution.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from caliper.core.question import Decoding
from caliper.ports.clock import Clock
from caliper.ports.models import ChatModel, Completion, Identity, Message


@dataclass(slots=True)
class Spent:
    """`seconds` is the sum over calls, which overlap."""

    calls: int = 0
    failed: int = 0
    seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

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
        begun = self._clock.monotonic()
        self.spent.calls += 1
        try:
            completion = await self._model.complete(messages, decoding, schema, affinity)
        except BaseException:
            self.spent.failed += 1
            raise
        finally:
            self.spent.seconds += self._clock.monotonic() - begun
        self.spent.prompt_tokens += completion.usage.prompt
        self.spent.completion_tokens += completion.usage.completion
        self.spent.cached_tokens += completion.usage.cached
        return completion

    async def close(self) -> None:
        await self._model.close()
