"""Captions and reference captions by image, in the forms that people have them.

Rows name their image by one of `IDENTIFIERS`:

    {"a.jpg": "A dog."}                             JSON, one caption, or a list of references
    {"image_id": 7, "caption": "A dog."}            JSON list, JSON Lines, CSV (COCO's results)
    {"image_id": 7, "references": ["A dog."]}       the same; a CSV has one reference per row
    {"images": [...], "annotations": [...]}         COCO's annotations
    OCR.jsonl: {"file_id": "OCR_0", "caption": ...} a folder of JSON Lines: the image is OCR/OCR_0
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from caliper.adapters.datasets.csvrows import read_csv
from caliper.adapters.datasets.jsonrows import line_rows, list_rows, object_rows
from caliper.adapters.datasets.jsontext import read_json
from caliper.core.errors import InvalidInput
from caliper.core.rows import Row

IDENTIFIERS = ("image_id", "file_id", "image", "id")
_TEXTS = ("references", "captions", "reference", "caption", "value")
_FORMS = "a .json, .jsonl or .csv file, or a folder of .jsonl files"


@dataclass(frozen=True, slots=True)
class ReferenceCaptions:
    """The references of each image, and the file names of COCO's image ids."""

    texts: Mapping[str, tuple[str, ...]]
    file_names: Mapping[str, str] = field(default_factory=dict)

    def of(self, images: Collection[str]) -> dict[str, tuple[str, ...]]:
        """The references of those images that have some, in the order of `images`.

        Images may be named by COCO's id or file name.
        """
        by_file = {name: image for image, name in self.file_names.items()}
        named = ((image, by_file.get(image, image)) for image in images)
        return {image: self.texts[key] for image, key in named if key in self.texts}


def read_image_captions(path: Path) -> dict[str, str]:
    """The caption of each image; images whose caption is null are left out.

    Raises InvalidInput naming file, line and field.
    """
    captions: dict[str, str] = {}
    images: set[str] = set()
    for row in _rows(path):
        image, name = image_of(row), "value" if "key" in row.fields else "caption"
        text = row.fields.get(name)
        if not isinstance(text, str | None) or name not in row.fields:
            raise row.error(name, _unexpected("a caption", row, name))
        if image in images:
            raise row.error(name, f"{image!r} has two captions")
        images.add(image)
        if text is not None:
            captions[image] = text
    if not captions:
        raise InvalidInput("no captions", file=str(path))
    return captions


def read_references(path: Path) -> ReferenceCaptions:
    """The references of each image. Raises InvalidInput naming file, line and field."""
    coco = _coco(path)
    rows = _rows(path) if coco is None else coco[0]
    texts: dict[str, tuple[str, ...]] = {}
    for row in rows:
        image = image_of(row)
        texts[image] = (*texts.get(image, ()), *_references(row))
    if not texts:
        raise InvalidInput("no references", file=str(path))
    return ReferenceCaptions(texts, {} if coco is None else coco[1])


def image_of(row: Row) -> str:
    """The image that a row is about. Raises InvalidInput if it names none."""
    if "key" in row.fields:
        return row.text("key")
    name = next((name for name in IDENTIFIERS if name in row.fields), None)
    if name is None:
        raise row.error(IDENTIFIERS[0], f"missing; so are {', '.join(IDENTIFIERS[1:])}")
    return row.text(name)


def _references(row: Row) -> tuple[str, ...]:
    name = next((name for name in _TEXTS if name in row.fields), None)
    if name is None:
        raise row.error("references", f"missing; so are {', '.join(_TEXTS[1:-1])}")
    value = row.fields[name]
    texts = value if isinstance(value, list) else [value]
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        raise row.error(name, _unexpected("a reference, or a list of them", row, name))
    return tuple(texts)


def _unexpected(expected: str, row: Row, name: str) -> str:
    actual = f"found {row.fields[name]!r:.60}" if name in row.fields else "there is none"
    return f"expected {expected}, {actual}"


def _rows(path: Path) -> Iterator[Row]:
    if path.is_dir():
        files = sorted(path.glob("[!.]*.jsonl"))
        if not files:
            raise InvalidInput("no .jsonl files in this folder", file=str(path))
        for file in files:
            for row in line_rows(file):
                image = f"{file.stem}/{image_of(row)}"
                yield replace(row, fields={**row.fields, IDENTIFIERS[0]: image})
        return
    match path.suffix.lower():
        case ".jsonl":
            yield from line_rows(path)
        case ".csv":
            table = read_csv(path)
            if not set(IDENTIFIERS) & set(table.columns):
                table.require(IDENTIFIERS[0])
            yield from table.rows
        case ".json":
            yield from list_rows(path) if isinstance(read_json(path), list) else object_rows(path)
        case _:
            raise InvalidInput(f"expected {_FORMS}", file=str(path))


def _coco(path: Path) -> tuple[list[Row], dict[str, str]] | None:
    """The annotations of a file in COCO's form, and its file names; None for another form."""
    whole: Any = read_json(path) if path.suffix.lower() == ".json" else None
    if not isinstance(whole, dict) or not isinstance(whole.get("annotations"), list):
        return None
    parts: dict[str, list[Row]] = {}
    for part in ("annotations", "images"):
        elements = whole.get(part, [])
        if not isinstance(elements, list) or not all(isinstance(one, dict) for one in elements):
            raise InvalidInput("expected a list of objects", file=str(path), field=part)
        parts[part] = [
            Row(str(path), None, one, place) for place, one in enumerate(elements, start=1)
        ]
    names = {row.text("id"): row.text("file_name") for row in parts["images"]}
    return parts["annotations"], names
