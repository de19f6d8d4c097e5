"""The images that a captioning model is shown: a picture, a clip, or frames of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from caliper.adapters.media.bounds import CLIPS, MediaLimits
from caliper.adapters.media.decoders import Decoders
from caliper.adapters.media.place import find
from caliper.core.errors import DataLoss, InvalidInput
from caliper.core.preparation import Preparation
from caliper.lazy import lazy_module
from caliper.pipeline.store.disk_spill import temporary_folder
from caliper.ports.models import Image, WholeClip

if TYPE_CHECKING:
    from caliper.adapters.media import clips, images
else:
    clips = lazy_module("caliper.adapters.media.clips")
    images = lazy_module("caliper.adapters.media.images")

Fetch = Callable[[int], Awaitable[bytes]]
"""Fetches at most the given number of bytes. Raises InvalidInput if there are more."""


def prepare_file(path: Path, preparation: Preparation, limits: MediaLimits) -> list[Image]:
    """The images of a file, whose suffix distinguishes clips from pictures.

    Raises MediaMissing if there is no file, InvalidInput if it cannot be decoded or is too
    large.
    """
    encode = partial(images.encode, preparation=preparation)
    mime = CLIPS.get(path.suffix.lower())
    if mime is not None and preparation.clips == "whole":
        data = clips.read_whole(path, limits)
        return [WholeClip(data, mime, preparation.frames, preparation.fps)]
    if mime is not None:
        encoded = clips.encode_frames(path, preparation, limits, encode)
    else:
        encoded = [encode(images.open_image(path, limits, preparation.longest))]
    return [Image(data, "image/jpeg") for data in encoded]


def prepare_bytes(
    data: bytes, name: str, preparation: Preparation, limits: MediaLimits
) -> list[Image]:
    """Like `prepare_file`, for the bytes of a file; only the suffix of `name` counts.

    Raises InvalidInput naming `name`.
    """
    ending = PurePath(name).suffix.lower()
    # Clips are opened by path, since the decoder seeks in them.
    file = f"clip{ending}" if ending in CLIPS else "picture"
    with temporary_folder() as folder:
        path = folder / file
        path.write_bytes(data)
        try:
            return prepare_file(path, preparation, limits)
        except InvalidInput as error:
            # The temporary folder means nothing to the caller.
            message = error.message.replace(f"{folder}/", "")
            raise InvalidInput(message, file=name) from error


@dataclass(frozen=True, slots=True)
class MediaFolder:
    """ports.media.Media for a folder whose files do not change during use; each is decoded once."""

    root: Path
    decoders: Decoders
    preparation: Preparation

    async def images(self, paths: Sequence[str]) -> list[Image]:
        prepared_images: list[Image] = []
        for name in paths:
            prepared_images += await self._images(name)
        return prepared_images

    async def _images(self, name: str) -> tuple[Image, ...]:
        def work() -> list[Image]:
            return prepare_file(find(self.root, name), self.preparation, self.decoders.limits)

        key = (self.root, name, self.preparation)
        return await self.decoders.images(key, lambda: self.decoders.run(work))


@dataclass(frozen=True, slots=True)
class InlineMedia:
    """Prepares pictures and clips given as bytes, by a caller or from the object store."""

    decoders: Decoders
    preparation: Preparation

    async def images(self, digest: str, name: str, fetch: Fetch) -> Sequence[Image]:
        """The images of the bytes whose SHA-256 is `digest`.

        The bytes are fetched only when there is room for them, and not if their images are
        cached. Only the suffix of `name` counts: it marks clips. Raises
        InvalidInput for media that cannot be decoded or are too large, and what `fetch` raises.
        """
        ending = name.rpartition(".")[2].lower()

        async def make() -> list[Image]:
            most = self.decoders.limits.most_bytes(clip=f".{ending}" in CLIPS)
            try:
                data = await fetch(most)
            except DataLoss:
                # The store's fault, not the medium's.
                raise
            except InvalidInput as error:
                raise InvalidInput(error.message, file=name) from error
            return await self.decoders.run(
                lambda: prepare_bytes(data, name, self.preparation, self.decoders.limits)
            )

        return await self.decoders.images((digest, ending, self.preparation), make)
