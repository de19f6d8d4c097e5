"""The images that a captioning model is shown for a file: a picture, or frames of a clip."""

from __future__ import annotations

from functools import partial
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from caliper.adapters.media.bounds import CLIPS, MediaLimits
from caliper.core.errors import InvalidInput
from caliper.core.preparation import Preparation
from caliper.deferred import deferred
from caliper.ports.models import Image

if TYPE_CHECKING:
    from caliper.adapters.media import clips, images
else:
    clips = deferred("caliper.adapters.media.clips")
    images = deferred("caliper.adapters.media.images")


def prepared(path: Path, preparation: Preparation, limits: MediaLimits) -> list[Image]:
    """The images of a file, whose suffix tells clips from pictures.

    Raises MediaMissing if there is no file, InvalidInput if it cannot be decoded or is too
    large.
    """
    encode = partial(images.encode, preparation=preparation)
    if path.suffix.lower() in CLIPS:
        encoded = clips.shown_frames(path, preparation, limits, encode)
    else:
        encoded = [encode(images.open_image(path, limits, preparation.longest))]
    return [Image(data, "image/jpeg") for data in encoded]


def prepared_bytes(
    data: bytes, name: str, preparation: Preparation, limits: MediaLimits
) -> list[Image]:
    """Like `prepared`, for the bytes of a file; only the suffix of `name` counts.

    Raises InvalidInput naming `name`.
    """
    ending = PurePath(name).suffix.lower()
    # Clips are opened by path, since the decoder seeks in them.
    file = f"clip{ending}" if ending in CLIPS else "picture"
    with TemporaryDirectory(prefix="caliper-") as folder:
        path = Path(folder, file)
        path.write_bytes(data)
        try:
            return prepared(path, preparation, limits)
        except InvalidInput as error:
            # The temporary folder means nothing to the caller.
            message = error.message.replace(f"{folder}/", "")
            raise InvalidInput(message, file=name) from error
