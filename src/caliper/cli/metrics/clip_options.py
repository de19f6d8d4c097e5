"""The options of CLIPScore and RefCLIPScore, and their models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from caliper.adapters.media.decoders import Decoders
from caliper.adapters.media.preparation import MediaFolder
from caliper.analysis.caption_metrics.measures import CaptionMeasure
from caliper.cli.metrics.clip import ClipModel
from caliper.cli.metrics.measurement import CaptionSets
from caliper.core.errors import InvalidInput
from caliper.core.preparation import Preparation
from caliper.wiring.clock import SystemClock
from caliper.wiring.models import ModelRoom
from caliper.wiring.settings import access, decoders

TextEmbedder = Annotated[
    str | None,
    typer.Option(
        "--text-embedder", metavar="SPEC", help="CLIP's text model: triton:HOST:PORT/MODEL."
    ),
]
PictureEmbedderSpec = Annotated[
    str | None,
    typer.Option(
        "--picture-embedder",
        metavar="SPEC",
        help="CLIP's picture model, of encoded pictures: triton:HOST:PORT/MODEL.",
    ),
]
Pictures = Annotated[
    Path | None, typer.Option("--media", metavar="DIR", help="The folder of the pictures.")
]


@dataclass(frozen=True, slots=True)
class ClipSpecs:
    """The text embedder, the picture embedder and the folder of the pictures."""

    text: str
    picture: str
    media: Path

    async def measure(
        self, sets: CaptionSets
    ) -> tuple[Mapping[str, list[CaptionMeasure]], list[str]]:
        """CLIP's metrics of each model, and the names of the embedders. Raises as `ClipModel`."""
        room = ModelRoom(access(16, (self.text, self.picture)), SystemClock())
        threads = Decoders(decoders())
        try:
            folder = MediaFolder(self.media, threads, Preparation())
            embedders = await room.embedder(self.text), await room.picture_embedder(self.picture)
            clip = ClipModel(*embedders, folder)
            measures = await clip.measure(sets.models, sets.references, sets.files)
            return measures, [each.identity.label for each in embedders]
        finally:
            await room.close()
            await threads.close()


def clip_specs(text: str | None, picture: str | None, media: Path | None) -> ClipSpecs | None:
    """What CLIPScore needs; None without any of it. Raises InvalidInput with only some."""
    flags = {"--text-embedder": text, "--picture-embedder": picture, "--media": media}
    if not any(flags.values()):
        return None
    if text is None or picture is None or media is None:
        missing = next(flag for flag, value in flags.items() if value is None)
        raise InvalidInput("CLIPScore needs it, too", field=missing)
    return ClipSpecs(text, picture, media)
