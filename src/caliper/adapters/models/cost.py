"""The cost of calls to models, in counts and tokens, for execution.json."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from caliper.ports.clock import Clock
from caliper.ports.models import Usage


@dataclass(slots=True)
class Cost:
    """The cost of the calls to one model.

    A call counts once, however often it is tried. `seconds` is the sum over calls, which overlap.
    """

    calls: int = 0
    failed: int = 0
    seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    @contextmanager
    def call(self, clock: Clock) -> Iterator[None]:
        """Count a call and its duration."""
        start = clock.monotonic()
        self.calls += 1
        try:
            yield
        except BaseException:
            self.failed += 1
            raise
        finally:
            self.seconds += clock.monotonic() - start

    def use(self, usage: Usage) -> None:
        """Count the tokens of a reply."""
        self.prompt_tokens += usage.prompt
        self.completion_tokens += usage.completion
        self.cached_tokens += usage.cached

    def __add__(self, other: Cost) -> Cost:
        """The sum of both costs."""
        return Cost(
            self.calls + other.calls,
            self.failed + other.failed,
            self.seconds + other.seconds,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
        )

    @property
    def cached_share(self) -> float | None:
        """The fraction of prompt tokens that the server reports as cached; None without counts."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else None

    def to_json(self) -> dict[str, float | None]:
        """The figures of execution.json."""
        share = None if self.cached_share is None else round(self.cached_share, 4)
        return {**asdict(self), "cached_share": share}
