"""JPEG thumbnails of a dataset's media, for reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from caliper.adapters.media.bounds import CLIPS, MediaLimits
from caliper.adapters.media.place import find
from caliper.core.errors import InvalidInput, MediaMissing
from caliper.core.preparation import Preparation
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    from caliper.adapters.media import clips, images
else:
    clips = lazy_module("caliper.adapters.media.clips")
    images = lazy_module("caliper.adapters.media.images")


_COLUMNS = 3


@dataclass(frozen=True, slots=True)
class Thumbnails:
    """Makes thumbnails of the pictures and clips below the media folder `root`.

    Pictures and clips that `limits.for_thumbnails` excludes have none.
    """

    root: Path
    limits: MediaLimits = field(default_factory=MediaLimits)

    def jpeg(self, name: str, longest: int = 256) -> bytes | None:
        """JPEG bytes, at most `longest` pixels per side; None if `load` would raise."""
        try:
            return self.load(name, longest)
        except (MediaMissing, InvalidInput):
            return None

    def sheet(self, name: str, longest: int) -> bytes | None:
        """Like `jpeg`; of a clip, nine frames in their order, as one does not show what moves."""
        if PurePath(name).suffix.lower() not in CLIPS:
            return self.jpeg(name, longest)
        preparation = Preparation(frames=_COLUMNS**2, longest=longest // _COLUMNS)
        try:
            path, limits = find(self.root, name), self.limits.for_thumbnails()
            encode = partial(images.encode, preparation=preparation)
            frames = clips.encode_frames(path, preparation, limits, encode)
        except (MediaMissing, InvalidInput):
            return None
        return images.encode_jpeg(images.contact_sheet(frames, _COLUMNS))

    def load(self, name: str, longest: int = 256) -> bytes:
        """Make the thumbnail of `name`, a path in the dataset; of a clip, its middle frame.

        Raises MediaMissing if there is no such file, InvalidInput if it cannot be used or is
        outside the media folder.
        """
        path, limits = find(self.root, name), self.limits.for_thumbnails()
        if PurePath(name).suffix.lower() in CLIPS:
            image = clips.open_frame(path, limits)
            image.thumbnail((longest, longest))
        else:
            image = images.open_image(path, limits, longest)
        return images.encode_jpeg(image)
