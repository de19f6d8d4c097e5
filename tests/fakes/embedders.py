import asyncio
from collections.abc import Mapping, Sequence

from caliper.core.question import Vector
from caliper.core.run import Identity

Trouble = Exception | None


class FakeEmbedder:
    """adapters.models.replica.EmbedderEndpoint. Its calls meet the given troubles in order."""

    def __init__(self, *troubles: Trouble, most: int = 3) -> None:
        self.troubles = list(troubles)
        self.most = most
        self.revision = "1"
        self.asked: list[tuple[str, ...]] = []
        self.in_flight = self.most_in_flight = 0

    @property
    def identity(self) -> Identity:
        return Identity("fake", "words", self.revision, cached=True)

    async def resolve(self) -> Identity:
        return self.identity

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.asked.append(tuple(texts))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        await asyncio.sleep(0)
        self.in_flight -= 1
        trouble = self.troubles.pop(0) if self.troubles else None
        if trouble is not None:
            raise trouble
        return [(float(len(text)),) for text in texts]

    async def embed_pictures(self, pictures: Sequence[bytes]) -> list[Vector]:
        raise NotImplementedError

    async def close(self) -> None: ...


class FakeClip:
    """An Embedder and PictureEmbedder: vectors by text, and by the bytes of a picture."""

    identity = Identity("fake", "clip", "1", cached=True)

    def __init__(self, texts: Mapping[str, Vector], pictures: Mapping[bytes, Vector]) -> None:
        self._texts, self._pictures = texts, pictures
        self.embedded: list[str | bytes] = []

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.embedded += texts
        return [self._texts[text] for text in texts]

    async def embed_pictures(self, pictures: Sequence[bytes]) -> list[Vector]:
        self.embedded += pictures
        return [self._pictures[picture] for picture in pictures]
