"""Whole JSON files: a list of rows, or one object from key to value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from caliper.adapters.datasets.jsontext import read_json
from caliper.core.errors import InvalidInput
from caliper.core.rows import Row


def list_rows(path: Path) -> Iterator[Row]:
    """A row an element of the file's list; `Row.line` is its position from 1.

    Raises InvalidInput when the file holds no list, or an element is no object.
    """
    value = read_json(path)
    if not isinstance(value, list):
        raise _unexpected(path, "a JSON list of rows", value)
    for number, element in enumerate(value, start=1):
        if not isinstance(element, dict):
            found = type(element).__name__
            raise InvalidInput(
                f"expected a JSON object at position {number} of the list, found {found}",
                file=str(path),
            )
        yield Row(str(path), number, element)


def object_rows(path: Path) -> Iterator[Row]:
    """A row a key of the file's object, with the fields `key` and `value`, in file order.

    `Row.line` is the key's position from 1. Raises InvalidInput when the file holds no object.
    """
    value = read_json(path)
    if not isinstance(value, dict):
        raise _unexpected(path, "one JSON object, key to value", value)
    for number, (key, held) in enumerate(value.items(), start=1):
        yield Row(str(path), number, {"key": key, "value": held})


def _unexpected(path: Path, expected: str, value: Any) -> InvalidInput:
    return InvalidInput(f"expected {expected}, found {type(value).__name__}", file=str(path))
