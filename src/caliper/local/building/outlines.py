"""Pictures with a candidate's objects outlined, for review and for models."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caliper.adapters.datasets.jsonrows import line_rows
from caliper.adapters.media.bounds import MediaLimits
from caliper.adapters.media.place import find
from caliper.building.comprecap.scenes import object_category
from caliper.core.errors import InvalidInput, MediaMissing
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    from caliper.adapters.media import images, masks
else:
    images = lazy_module("caliper.adapters.media.images")
    masks = lazy_module("caliper.adapters.media.masks")


class OutlinedPictures:
    """Outlines objects of pictures below `folder`, with the masks in a build's file `scenes`.

    The pictures are shrunk to `longest` pixels per side.
    """

    def __init__(
        self, folder: Path, scenes: Path, longest: int, limits: MediaLimits | None = None
    ) -> None:
        self._folder, self._scenes, self._longest = folder, scenes, longest
        self._limits = limits or MediaLimits().for_thumbnails()

    def jpeg(self, view: str) -> bytes | None:
        """The JPEG of a picture with objects outlined; None if it cannot be created.

        `view` is the picture's path and, on lines of their own, names of objects, or a category
        for all of its objects.
        """
        image, *names = view.split("\n")
        try:
            path = find(self._folder, image)
            size = images.picture_size(path, self._limits)
            picture = images.open_image(path, self._limits, self._longest)
            pixels = [
                masks.decode_pixels(each["mask_out"], size)
                for name in names
                for each in self._objects.get(image, ())
                if each["mask_out"] and name in (each["name"], object_category(each["name"]))
            ]
        except (MediaMissing, InvalidInput, ValueError):
            return None
        return images.encode_jpeg(masks.outline(picture, pixels))

    @cached_property
    def _objects(self) -> dict[str, list[dict[str, Any]]]:
        return {row.text("image"): row.fields["objects"] for row in line_rows(self._scenes)}
