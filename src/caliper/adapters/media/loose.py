"""Pictures and clips that come as bytes, from a caller or the object store."""

from __future__ import annotations

import asyncio
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from caliper.adapters.media import clips
from caliper.adapters.media.frames import MediaFolder
from caliper.core.errors import InvalidInput
from caliper.ports.models import Image


async def images_of(data: bytes, name: str) -> list[Image]:
    """The picture, or frames of the clip, as MediaFolder gives them of a file.

    Only the ending of `name` counts: it tells clips from pictures. Raises InvalidInput for what
    cannot be decoded or is too large.
    """
    return await asyncio.to_thread(_images, data, name)


def _images(data: bytes, name: str) -> list[Image]:
    ending = PurePosixPath(name).suffix.lower()
    # Clips are opened by their path: the decoder seeks in them.
    file = f"clip{ending}" if ending in clips.SUFFIXES else "picture"
    with TemporaryDirectory(prefix="caliper-") as folder:
        Path(folder, file).write_bytes(data)
        try:
            return MediaFolder(Path(folder)).load([file])
        except InvalidInput as error:
            # Where it lay for a moment helps nobody.
            message = error.message.replace(f"{folder}/", "")
            raise InvalidInput(message, file=name) from error
