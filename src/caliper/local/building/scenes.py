"""Reads the objects of pictures, with their masks and descriptions."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caliper.adapters.datasets.coco import scene_rows
from caliper.adapters.datasets.jsonrows import line_rows
from caliper.adapters.files import encode_text, write_text
from caliper.adapters.media.bounds import MediaLimits
from caliper.benchmarks.comprecap.masks import PICTURE_LIMIT, Mask, atoms
from caliper.building.candidates import LONGEST_TEXT
from caliper.building.comprecap.scenes import ENDS, SceneObject, ScenePicture, object_names
from caliper.core.errors import InvalidInput, MediaMissing
from caliper.core.rows import Row
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    import numpy as np

    from caliper.adapters.media import images, masks
else:
    np = lazy_module("numpy")
    images = lazy_module("caliper.adapters.media.images")
    masks = lazy_module("caliper.adapters.media.masks")

_MOST_OBJECTS = 500
_DESCRIBED = ("short_description", "extend_description", "relation")


@dataclass(frozen=True, slots=True)
class SceneFile:
    """The pictures in the folder, by path, and the number of annotated ones that are not there."""

    pictures: Mapping[str, ScenePicture]
    absent: int


def read_scenes(
    scenes: Path,
    descriptions: Path | None,
    folder: Path,
    present: Collection[str],
    limits: MediaLimits,
) -> SceneFile:
    """Read all scenes of pictures that are `present` in the folder.

    Descriptions of objects in `descriptions` replace those in `scenes`. Raises InvalidInput naming
    file, line and field. An unusable mask affects only its object.
    """
    pictures: dict[str, ScenePicture] = {}
    images_read: set[str] = set()
    for row in scene_rows(scenes):
        image = row.text("image")
        if image in images_read:
            raise row.error("image", f"{image!r:.80} appears twice")
        images_read.add(image)
        if image in present:
            pictures[image] = _picture(row, image, folder / image, limits)
    if not pictures:
        raise InvalidInput(f"describes no picture of {folder}", file=str(scenes), field="image")
    if descriptions is not None:
        for row in line_rows(descriptions):
            if row.text("image") in present or row.text("image") not in images_read:
                _describe(row, pictures)
    return SceneFile(pictures, len(images_read) - len(pictures))


def write_scenes(path: Path, pictures: Mapping[str, ScenePicture]) -> None:
    """Write the masks of all objects, a line per picture. Raises StoreFull or StoreUnavailable."""
    lines = []
    for image, picture in pictures.items():
        objects = [{"name": each.name, "mask_out": each.mask} for each in picture.objects]
        lines.append(json.dumps({"image": image, "objects": objects}, ensure_ascii=False) + "\n")
    write_text(path, encode_text("".join(lines)).decode())


def _picture(row: Row, image: str, path: Path, limits: MediaLimits) -> ScenePicture:
    info = row.fields.get("info")
    if not isinstance(info, Sequence) or isinstance(info, str) or len(info) > _MOST_OBJECTS:
        raise row.error("info", f"expected a list of at most {_MOST_OBJECTS} objects")
    entries = [_entry(row, f"info[{place}]", entry) for place, entry in enumerate(info)]
    names = object_names([entry.text("category") for entry in entries])
    try:
        size, fault = images.picture_size(path, limits), ""
    except (InvalidInput, MediaMissing) as error:
        size, fault = (1, 1), str(error)
    pixels = size[0] * size[1]
    if pixels * len(entries) > PICTURE_LIMIT:
        fault, pixels = f"{len(entries)} masks of {pixels:,} pixels", 1
    objects: list[SceneObject] = []
    object_masks: list[Mask] = []
    for name, entry in zip(names, entries, strict=True):
        each, mask = _object(name, entry, size, fault)
        objects.append(each)
        object_masks.append(mask or Mask(np.zeros(-(-pixels // 8), np.uint8), pixels))
    try:
        overlaps = atoms(object_masks) if object_masks else ()
    except ValueError as error:
        overlaps = ()
        objects = [replace(each, mask="", fault=str(error)) for each in objects]
    return ScenePicture(image, pixels, tuple(objects), overlaps)


def _object(
    name: str, entry: Row, size: tuple[int, int], fault: str
) -> tuple[SceneObject, Mask | None]:
    described = _described(entry, SceneObject(name, ""))
    if entry.fields.get("iscrowd") == 1:
        fault = "a crowd, not an object"
    if fault:
        return replace(described, fault=fault), None
    try:
        pixels = masks.read_mask(entry.fields, size)
    except ValueError as error:
        return replace(described, fault=str(error)), None
    if not pixels.any():
        return replace(described, fault="the mask covers nothing"), None
    mask = Mask(np.packbits(pixels), pixels.size)
    return replace(described, mask=masks.encode_mask(pixels), box=masks.box(pixels)), mask


def _entry(row: Row, field: str, entry: Any) -> Row:
    if not isinstance(entry, Mapping):
        raise row.error(field, f"expected an object, found {entry!r:.60}")
    part = replace(row, fields=entry)
    category = part.text("category")
    if ENDS.strip() in category or len(category) > LONGEST_TEXT:
        raise row.error(f"{field}.category", f"not the name of a category: {category!r:.60}")
    return part


def _describe(row: Row, pictures: dict[str, ScenePicture]) -> None:
    """Replace an object's descriptions by those in the row."""
    image, name = row.text("image"), row.text("object")
    if image not in pictures:
        raise row.error("image", f"no such picture: {image!r:.80}")
    picture = pictures[image]
    names = [each.name for each in picture.objects]
    if name not in names:
        raise row.error("object", f"{image} has {', '.join(names)[:200]}, not {name!r:.60}")
    objects = tuple(
        _described(row, each) if each.name == name else each for each in picture.objects
    )
    pictures[image] = replace(picture, objects=objects)


def _described(row: Row, scene_object: SceneObject) -> SceneObject:
    short, extend = (_text(row, name) for name in _DESCRIBED[:2])
    relations = row.fields.get("relation") or ()
    texts = [relations] if isinstance(relations, str) else relations
    if not isinstance(texts, Sequence) or not all(
        isinstance(text, str) and len(text) <= LONGEST_TEXT for text in texts
    ):
        raise row.error("relation", f"expected a list of texts, found {relations!r:.60}")
    return replace(
        scene_object,
        short=short or scene_object.short,
        extend=extend or scene_object.extend,
        relations=tuple(text for text in texts if text.strip()) or scene_object.relations,
    )


def _text(row: Row, name: str) -> str:
    if row.fields.get(name) in (None, ""):
        return ""
    text = " ".join(row.text(name).split())
    if len(text) >= LONGEST_TEXT // 2:
        raise row.error(name, f"longer than {LONGEST_TEXT // 2 - 1:,} characters")
    return text
