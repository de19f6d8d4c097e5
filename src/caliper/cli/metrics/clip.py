"""CLIPScore and RefCLIPScore of captions, from embeddings of texts and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from caliper.analysis.caption_metrics.clip_score import (
    HIGHEST_REFERENCED,
    PREFIX,
    WEIGHT,
    clip_score,
    referenced_clip_score,
)
from caliper.analysis.caption_metrics.measures import CLIP_METRICS, CaptionMeasure, mean_measure
from caliper.core.errors import InvalidInput
from caliper.core.question import Vector
from caliper.ports.media import Media
from caliper.ports.models import Embedder, PictureEmbedder

_AT_ONCE = 32
_Captions = Mapping[str, str]
"""The captions of one model, by image."""


@dataclass(frozen=True, slots=True)
class ClipModel:
    """The two halves of a CLIP model, and the pictures."""

    texts: Embedder
    pictures: PictureEmbedder
    media: Media

    async def measure(
        self,
        models: Mapping[str, _Captions],
        references: Mapping[str, Sequence[str]],
        files: Mapping[str, str],
    ) -> dict[str, list[CaptionMeasure]]:
        """`CLIP_METRICS` of each model's captions. `files` are the pictures of all images.

        Raises MediaMissing or InvalidInput for a picture that cannot be used, and InvalidInput if
        the embeddings are not of one model.
        """
        pictures = await self._embed_pictures(files)
        texts = [text for captions in models.values() for text in captions.values()]
        texts += [text for group in references.values() for text in group]
        vectors = await self._embed_texts(texts)
        measures: dict[str, list[CaptionMeasure]] = {}
        for model, captions in models.items():
            alone: dict[str, float] = {}
            referenced: dict[str, float] = {}
            for image, caption in captions.items():
                pair = pictures[image], vectors[caption]
                near = [vectors[text] for text in references[image]]
                try:
                    alone[image] = clip_score(*pair)
                    referenced[image] = referenced_clip_score(*pair, near)
                except ValueError as error:
                    message = f"{error}: text and picture embedder are not of one model"
                    raise InvalidInput(message, field="--picture-embedder") from error
            measures[model] = [
                mean_measure(CLIP_METRICS[0], alone, WEIGHT),
                mean_measure(CLIP_METRICS[1], referenced, HIGHEST_REFERENCED),
            ]
        return measures

    async def _embed_texts(self, texts: Iterable[str]) -> dict[str, Vector]:
        distinct = list(dict.fromkeys(texts))
        vectors = await self.texts.embed([PREFIX + text for text in distinct])
        return dict(zip(distinct, vectors, strict=True))

    async def _embed_pictures(self, files: Mapping[str, str]) -> dict[str, Vector]:
        """The vector of each image's picture. Only a few pictures are in memory at once."""
        vectors: dict[str, Vector] = {}
        images = list(files)
        for start in range(0, len(images), _AT_ONCE):
            some = images[start : start + _AT_ONCE]
            data: list[bytes] = []
            for image in some:
                frames = await self.media.images([files[image]])
                if len(frames) != 1:
                    raise InvalidInput("CLIPScore is of pictures, not clips", file=files[image])
                data.append(frames[0].data)
            batch = await self.pictures.embed_pictures(data)
            vectors |= dict(zip(some, batch, strict=True))
        return vectors
