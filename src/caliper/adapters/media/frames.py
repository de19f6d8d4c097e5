"""The images that a captioning model is shown for the files in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from caliper.adapters.media.decoders import Decoders
from caliper.adapters.media.place import find
from caliper.adapters.media.preparation import prepared
from caliper.core.preparation import Preparation
from caliper.ports.models import Image


@dataclass(frozen=True, slots=True)
class MediaFolder:
    """Implements ports.media.Media for a folder whose files do not change during use."""

    root: Path
    decoders: Decoders
    preparation: Preparation

    async def images(self, paths: Sequence[str]) -> list[Image]:
        """Prepare the files, each decoded once. Raises as the port says."""
        prepared_images: list[Image] = []
        for name in paths:
            prepared_images += await self._images(name)
        return prepared_images

    async def _images(self, name: str) -> tuple[Image, ...]:
        async def make() -> list[Image]:
            return await self.decoders.run(lambda: self._prepared(name))

        return await self.decoders.images((self.root, name, self.preparation), make)

    def _prepared(self, name: str) -> list[Image]:
        return prepared(find(self.root, name), self.preparation, self.decoders.limits)
