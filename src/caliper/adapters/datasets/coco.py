"""Objects with masks in files: COCO's instances, or rows of pictures as CompreCap has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.datasets.jsontext import read_json
from caliper.core.layout import FileFormat, Layout
from caliper.core.rows import Row

_TABLE = Layout(FileFormat.TABLE)


def scene_rows(path: Path) -> Iterator[Row]:
    """One row per picture: `{image, info: [{category, ...}]}`.

    A file of COCO becomes such rows; their objects have a `segmentation` and perhaps `iscrowd`.
    Raises InvalidInput naming file, line and field.
    """
    if path.suffix.lower() == ".json" and path.is_file():
        values = read_json(path)
        if isinstance(values, Mapping):
            yield from _coco_rows(path, values)
            return
    yield from DatasetFiles(path).rows(_TABLE)


def _coco_rows(path: Path, values: Mapping[str, Any]) -> Iterator[Row]:
    images, notes, categories = (
        _entries(path, values, name) for name in ("images", "annotations", "categories")
    )
    names = {_id(row): row.text("name") for row in categories}
    objects: dict[str, list[dict[str, Any]]] = {_id(row): [] for row in images}
    for row in notes:
        image, category = (str(row.fields.get(name)) for name in ("image_id", "category_id"))
        if image not in objects:
            raise row.error("image_id", f"no such picture: {image:.60}")
        if category not in names:
            raise row.error("category_id", f"no such category: {category:.60}")
        objects[image].append({**row.fields, "category": names[category]})
    for row in images:
        fields = {"image": row.text("file_name"), "info": objects[_id(row)]}
        yield replace(row, fields=fields)


def _entries(path: Path, values: Mapping[str, Any], name: str) -> list[Row]:
    whole = Row(str(path), None, values)
    entries = values.get(name)
    if not isinstance(entries, list):
        raise whole.error(name, "expected a list, as in COCO's files")
    for place, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            raise whole.error(f"{name}[{place}]", f"expected an object, found {entry!r:.60}")
    return [Row(str(path), None, entry, place) for place, entry in enumerate(entries, start=1)]


def _id(row: Row) -> str:
    return row.text("id")
