"""Port to pictures and clips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from caliper.ports.models import Image


class Media(Protocol):
    """Loads the images that a captioning model sees."""

    async def images(self, paths: Sequence[str]) -> list[Image]:
        """The pictures of a sample, or its clip or frames of it, in order and bounded in size.

        `paths` are relative to the media folder. Raises MediaMissing, and InvalidInput for media
        that cannot be decoded or are too large.
        """
        ...
