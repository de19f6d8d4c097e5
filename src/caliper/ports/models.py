"""Ports to models that answer, tag and embed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from caliper.core.question import Answer, Ask, Decoding, Vector
from caliper.core.run import Identity


class Answerer(Protocol):
    """Answers an Ask: a prompted model, lexical rules, or recorded replies."""

    @property
    def identity(self) -> Identity: ...

    async def answer(self, ask: Ask) -> Answer:
        """A reply, or a Failure that a retry would not change.

        Raises BackendError if the model cannot be reached, ModelChanged if another one answered.
        """
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Image:
    """An encoded picture (JPEG or PNG bytes) as part of a message."""

    data: bytes
    mime: str


@dataclass(frozen=True, slots=True)
class WholeClip(Image):
    """An encoded clip for a server that extracts the frames itself: `frames` evenly spaced ones, or
    `fps` per second, at most `frames`.
    """

    frames: int
    fps: Fraction | None


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One chat message. `role` is system or user; `content` are its parts in order."""

    role: str
    content: tuple[str | Image, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call as the server counts them; `cached` ones came from its cache."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt + self.completion

    def __add__(self, other: Usage) -> Usage:
        """The sum of both."""
        return Usage(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.cached + other.cached,
        )


@dataclass(frozen=True, slots=True)
class Completion:
    """A chat model's output. `finish` is stop, length, refusal, or the server's own reason."""

    text: str
    finish: str = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""


class ChatModel(Protocol):
    """A chat model, as used by captioner, judge and reader."""

    @property
    def identity(self) -> Identity: ...

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        decoding: Decoding,
        schema: Mapping[str, Any] | None = None,
        affinity: str = "",
    ) -> Completion:
        """One completion; never invents text. Raises a BackendError subclass, ModelChanged if
        another model answers now, FunctionFailed for a function of the caller.

        Prompts of calls with the same `affinity` have much in common: the calls should go to the
        server that has the common part cached.
        """
        ...

    async def close(self) -> None: ...


class NounTagger(Protocol):
    """Finds nouns."""

    @property
    def identity(self) -> Identity: ...

    def nouns(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """The nouns of each text: lower-cased lemmas in order, repeats kept."""
        ...


class Embedder(Protocol):
    """Turns words and short texts into vectors whose cosine is their similarity."""

    @property
    def identity(self) -> Identity: ...

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, all of the same length.

        Raises a BackendError subclass, or ModelChanged if another model answers now.
        """
        ...


class PictureEmbedder(Protocol):
    """Turns pictures into vectors that are comparable with those of a text embedder: CLIP."""

    @property
    def identity(self) -> Identity: ...

    async def embed_pictures(self, pictures: Sequence[bytes]) -> list[Vector]:
        """One vector per encoded picture (JPEG or PNG). Raises like `Embedder.embed`."""
        ...
