"""Whole JSON files: a list of rows, or one object of key-value pairs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from caliper.adapters.datasets.jsontext import read_json
from caliper.core.errors import InvalidInput
from caliper.core.rows import Row


def list_rows(path: Path) -> Iterator[Row]:
    """Read one row per element of the file's list; `Row.line` is its position from 1.

    Raises InvalidInput if the file is not a list, or an element is not an object.
    """
    value = read_json(path)
    if not isinstance(value, list):
        raise _unexpected(path, "a JSON list of rows", value)
    for number, element in enumerate(value, start=1):
        if not isinstance(element, dict):
            kind = type(element).__name__
            raise InvalidInput(
                f"expected a JSON object at position {number} of the list, found {kind}",
                file=str(path),
            )
        yield Row(str(path), number, element)


def object_rows(path: Path) -> Iterator[Row]:
    """Read one row per key of the file's object, in file order, with fields `key` and `value`.

    `Row.line` is the key's position from 1. Raises InvalidInput if the file is not an object.
    """
    value = read_json(path)
    if not isinstance(value, dict):
        raise _unexpected(path, "one JSON object, key to value", value)
    for number, (key, entry) in enumerate(value.items(), start=1):
        yield Row(str(path), number, {"key": key, "value": entry})


def _unexpected(path: Path, expected: str, value: Any) -> InvalidInput:
    return InvalidInput(f"expected {expected}, found {type(value).__name__}", file=str(path))
