"""What a captioning model is shown of a file: a picture, or frames of a clip."""

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
    """The images of a file, whose ending tells clips from pictures.

    Raises MediaMissing when there is no file, InvalidInput for what cannot be decoded or is
    too large.
    """
    encode = partial(images.encode, preparation=preparation)
    if path.suffix.lower() in CLIPS:
        found = clips.shown_frames(path, preparation, limits, encode)
    else:
        found = [encode(images.open_image(path, limits, preparation.longest))]
    return [Image(data, "image/jpeg") for data in found]


def prepared_bytes(
    data: bytes, name: str, preparation: Preparation, limits: MediaLimits
) -> list[Image]:
    """What `prepared` gives of a file of these bytes; only the ending of `name` counts.

    Raises InvalidInput naming it.
    """
    ending = PurePath(name).suffix.lower()
    # Clips are opened by their path: the decoder seeks in them.
    file = f"clip{ending}" if ending in CLIPS else "picture"
    with TemporaryDirectory(prefix="caliper-") as folder:
        path = Path(folder, file)
        path.write_bytes(data)
        try:
            return prepared(path, preparation, limits)
        except InvalidInput as error:
            # Where it lay for a moment helps nobody.
            message = error.message.replace(f"{folder}/", "")
            raise InvalidInput(message, file=name) from error
