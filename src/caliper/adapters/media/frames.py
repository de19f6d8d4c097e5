"""What a captioning model is shown: pictures, or frames taken evenly from a clip."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from PIL import Image as Picture

from caliper.adapters.media import clips, images
from caliper.adapters.media.place import find
from caliper.ports.models import Image


@dataclass(frozen=True, slots=True)
class MediaFolder:
    """ports.media.Media over a folder: at most `longest` pixels a side, `frames` a clip."""

    root: Path
    longest: int = 1024
    frames: int = 8
    limits: images.Limits = field(default_factory=images.Limits)

    async def images(self, paths: Sequence[str]) -> list[Image]:
        """Decoded in a thread, so that calls in flight go on. Raises as the port says."""
        return await asyncio.to_thread(self.load, paths)

    def load(self, paths: Sequence[str]) -> list[Image]:
        """What `images` gives, in the caller's thread."""
        return [self._encoded(picture) for path in paths for picture in self._pictures(path)]

    def _pictures(self, name: str) -> list[Picture.Image]:
        path = find(self.root, name)
        if PurePath(name).suffix.lower() in clips.SUFFIXES:
            return clips.even_frames(path, self.frames, self.limits)
        return [images.open_image(path, self.limits, self.longest)]

    def _encoded(self, picture: Picture.Image) -> Image:
        picture.thumbnail((self.longest, self.longest))
        return Image(images.encode_jpeg(picture, quality=90), "image/jpeg")
