"""Sets of captions and their references, read from files and measured."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from caliper.adapters.datasets.references import read_image_captions, read_references
from caliper.adapters.language.meteor import meteor_process
from caliper.adapters.language.spice import measure_spice
from caliper.analysis.caption_metrics.measures import (
    CaptionMeasure,
    ReferencedCaption,
    measure_captions,
)
from caliper.cli.metrics.java import JavaMetrics
from caliper.core.errors import InvalidInput
from caliper.lexical.treebank import tokenize


@dataclass(frozen=True, slots=True)
class CaptionSets:
    """The captions of several models for the same images, and the images' references.

    `files` are the names of the pictures. `warnings` name omitted captions and images.
    """

    models: Mapping[str, Mapping[str, str]]
    references: Mapping[str, Sequence[str]]
    files: Mapping[str, str]
    warnings: tuple[str, ...] = ()

    def measure(self, programs: JavaMetrics) -> dict[str, list[CaptionMeasure]]:
        """The text metrics of each model, then those of `programs`.

        Raises as `meteor_process`, its `measure` and `measure_spice` do.
        """
        tokens = self._tokens()
        measures = {model: measure_captions(images) for model, images in tokens.items()}
        for added in asyncio.run(_in_java(programs, tokens)):
            for model, measure in added.items():
                measures[model].append(measure)
        return measures

    def _tokens(self) -> dict[str, dict[str, ReferencedCaption]]:
        tokens = {
            image: [tokenize(text) for text in texts] for image, texts in self.references.items()
        }
        return {
            model: {
                image: ReferencedCaption(tokenize(caption), tokens[image])
                for image, caption in captions.items()
            }
            for model, captions in self.models.items()
        }


async def _in_java(
    programs: JavaMetrics, models: Mapping[str, Mapping[str, ReferencedCaption]]
) -> list[dict[str, CaptionMeasure]]:
    added = []
    if programs.meteor is not None:
        async with meteor_process(programs.java, programs.meteor) as meteor:
            added.append({model: await meteor.measure(images) for model, images in models.items()})
    if programs.spice is not None:
        added.append(await measure_spice(programs.java, programs.spice, models))
    return added


def read_caption_sets(
    paths: Sequence[Path], references: Path, names: Sequence[str] = ()
) -> CaptionSets:
    """Read captions, one file or folder per model, and their references.

    Models have the `names`, or those of their files. Raises InvalidInput naming file, line and
    field.
    """
    models: dict[str, Mapping[str, str]] = {}
    names = names or [path.name if path.is_dir() else path.stem for path in paths]
    if len(names) != len(paths):
        raise InvalidInput(f"{len(names)} names of {len(paths)} CAPTIONS", field="--name")
    for name, path in zip(names, paths, strict=True):
        if name in models:
            raise InvalidInput(f"two of CAPTIONS are named {name}", field="--name")
        models[name] = read_image_captions(path)
    return referenced_captions(models, references)


def referenced_captions(models: Mapping[str, Mapping[str, str]], references: Path) -> CaptionSets:
    """The captions of models by image, with their references.

    Only images that all of them and the references have are kept, so that figures are comparable.
    Raises InvalidInput naming file, line and field.
    """
    first = next(iter(models.values()))
    shared = [image for image in first if all(image in captions for captions in models.values())]
    reference_set = read_references(references)
    texts = reference_set.of(shared)
    if not texts:
        examples = f"captions of {', '.join(list(first)[:3])}; references of "
        examples += ", ".join(list(reference_set.texts)[:3])
        raise InvalidInput(
            f"no image has captions and references: {examples}", file=str(references)
        )
    return CaptionSets(
        {name: {image: captions[image] for image in texts} for name, captions in models.items()},
        texts,
        {image: reference_set.file_names.get(image, image) for image in texts},
        tuple(_warnings(models, shared, len(texts))),
    )


def _warnings(
    models: Mapping[str, Mapping[str, str]], shared: Sequence[str], measured: int
) -> Iterator[str]:
    for name, captions in models.items():
        if more := len(captions) - len(shared):
            yield f"{name}: left out, without a caption of another model: {more:,}"
    if more := len(shared) - measured:
        yield f"left out, without references: {more:,} images"
