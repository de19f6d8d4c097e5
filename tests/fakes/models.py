"""Scripted chat models, and a pack with one prompt for everything."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from caliper.core.question import Decoding, Vector
from caliper.core.run import Identity
from caliper.ports.models import ChatMessage, Completion, Image
from caliper.ports.prompts import Template

Script = Callable[[str, int], str | Completion | Exception]
"""(text of the request, how often that text was asked before) -> what happens."""


@dataclass(frozen=True, slots=True)
class Call:
    text: str
    decoding: Decoding
    schema: Mapping[str, Any] | None
    affinity: str = ""
    images: tuple[Image, ...] = ()


class ScriptedModel:
    """ports.models.ChatModel that follows a script and counts its calls."""

    def __init__(self, script: Script, *, revision: str = "1", cached: bool = True) -> None:
        self.identity = Identity("scripted", "scripted", revision, cached)
        self.script = script
        self.calls: list[Call] = []
        self.open = self.most_open = 0
        self.closed = False

    @property
    def texts(self) -> list[str]:
        return [call.text for call in self.calls]

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        decoding: Decoding,
        schema: Mapping[str, Any] | None = None,
        affinity: str = "",
    ) -> Completion:
        parts = [part for message in messages for part in message.content]
        text = "".join(part for part in parts if isinstance(part, str))
        before = self.texts.count(text)
        images = tuple(part for part in parts if isinstance(part, Image))
        self.calls.append(Call(text, decoding, schema, affinity, images))
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            await asyncio.sleep(0)
            answer = self.script(text, before)
        finally:
            self.open -= 1
        if isinstance(answer, Exception):
            raise answer
        return Completion(answer) if isinstance(answer, str) else answer

    async def close(self) -> None:
        self.closed = True


class HeldModel(ScriptedModel):
    """A ScriptedModel that answers some requests, chosen by their text, only once it is `free`."""

    def __init__(self, script: Script, held: Callable[[str], bool]) -> None:
        super().__init__(script)
        self.held = held
        self.free = asyncio.Event()

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        decoding: Decoding,
        schema: Mapping[str, Any] | None = None,
        affinity: str = "",
    ) -> Completion:
        if self.held(str(messages)):
            await self.free.wait()
        return await super().complete(messages, decoding, schema, affinity)


class OpenPack:
    """ports.prompts.PromptPack: every name has a template that shows the given fields."""

    def __init__(self, *fields: str, word: str = "") -> None:
        self.name, self.digest = "open", (word or "open").ljust(64, "0")
        self._user = word + "|".join(f"{{{field}}}" for field in fields)

    def template(self, name: str) -> Template:
        return Template("", f"{name}|{self._user}", "Caliper")


class CountingTagger:
    """ports.models.NounTagger: every word is a noun."""

    def __init__(self, *, cached: bool = True) -> None:
        self.identity = Identity("fake", "words", "1", cached)
        self.asked: list[tuple[str, ...]] = []

    def nouns(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        self.asked.append(tuple(texts))
        return [tuple(text.lower().replace(".", "").split()) for text in texts]


class CountingEmbedder:
    """ports.models.Embedder: equal words have equal vectors, different ones are orthogonal."""

    def __init__(self, *, cached: bool = True) -> None:
        self.identity = Identity("fake", "axes", "1", cached)
        self.asked: list[tuple[str, ...]] = []
        self._axes: dict[str, int] = {}

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.asked.append(tuple(texts))
        places = [self._axes.setdefault(text, len(self._axes)) for text in texts]
        return [tuple(float(place == axis) for axis in range(32)) for place in places]
