"""Pictures and clips given as bytes, by a caller or from the object store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from caliper.adapters.media.bounds import CLIPS
from caliper.adapters.media.decoders import Decoders
from caliper.adapters.media.preparation import prepared_bytes
from caliper.core.errors import InvalidInput
from caliper.core.preparation import Preparation
from caliper.ports.models import Image

Fetch = Callable[[int], Awaitable[bytes]]
"""Fetches at most the given number of bytes. Raises InvalidInput if there are more."""


@dataclass(frozen=True, slots=True)
class InlineMedia:
    """Prepares bytes as `preparation.prepared` prepares files."""

    decoders: Decoders
    preparation: Preparation

    async def images(self, digest: str, name: str, fetch: Fetch) -> Sequence[Image]:
        """The images of the bytes whose SHA-256 is `digest`.

        The bytes are fetched only when there is room for them, and not if their images are
        cached. Only the suffix of `name` counts: it tells clips from pictures. Raises
        InvalidInput for media that cannot be decoded or are too large, and what `fetch` raises.
        """
        ending = name.rpartition(".")[2].lower()

        async def make() -> list[Image]:
            most = self.decoders.limits.most_bytes(clip=f".{ending}" in CLIPS)
            try:
                data = await fetch(most)
            except InvalidInput as error:
                raise InvalidInput(error.message, file=name) from error
            return await self.decoders.run(
                lambda: prepared_bytes(data, name, self.preparation, self.decoders.limits)
            )

        return await self.decoders.images((digest, ending, self.preparation), make)
