"""Rows of JSON files: JSON Lines, a list of rows, or one object of key-value pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from caliper.adapters.datasets.jsontext import (
    BYTE_ORDER_MARK,
    decode,
    parse,
    read_entries,
    unreadable,
)
from caliper.core.errors import InvalidInput
from caliper.core.rows import Row


def line_rows(path: Path) -> Iterator[Row]:
    """Read one row per line, lazily; empty lines are skipped.

    Raises InvalidInput with file and line for a line that is not a JSON object.
    """
    for number, text in _lines(path):
        value = parse(text, path, number)
        if not isinstance(value, dict):
            raise _unexpected(path, "a JSON object", value, number)
        yield Row(str(path), number, value)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    offset = 0
    try:
        with path.open("rb") as file:
            # Split at newline bytes only: JSON strings may contain U+2028 and the like.
            for number, data in enumerate(file, start=1):
                line = data.removeprefix(BYTE_ORDER_MARK) if number == 1 else data
                start = offset + len(data) - len(line)
                if line.strip():
                    yield number, decode(line.rstrip(b"\r\n"), path, line=number, offset=start)
                offset += len(data)
    except OSError as error:
        raise unreadable(path, error) from error


def list_rows(path: Path) -> Iterator[Row]:
    """Read one row per element of the file's list.

    Raises InvalidInput if the file is not a list, or an element is not an object.
    """
    value, lines = read_entries(path)
    if not isinstance(value, list):
        raise _unexpected(path, "a JSON list of rows", value)
    for number, element in enumerate(value, start=1):
        if not isinstance(element, dict):
            raise _unexpected(path, f"a JSON object at position {number} of the list", element)
        yield _row(path, lines, number, element)


def object_rows(path: Path) -> Iterator[Row]:
    """Read one row per key of the file's object, in file order, with fields `key` and `value`.

    Raises InvalidInput if the file is not an object.
    """
    value, lines = read_entries(path)
    if not isinstance(value, dict):
        raise _unexpected(path, "one JSON object, key to value", value)
    for number, (key, entry) in enumerate(value.items(), start=1):
        yield _row(path, lines, number, {"key": key, "value": entry})


def _row(path: Path, lines: Sequence[int], number: int, fields: Mapping[str, Any]) -> Row:
    """The row of an entry, with its number if the one before begins on the same line."""
    line = lines[number - 1]
    alone = number == 1 or lines[number - 2] < line
    return Row(str(path), line, fields, None if alone else number)


def _unexpected(path: Path, expected: str, value: Any, line: int | None = None) -> InvalidInput:
    message = f"expected {expected}, found {type(value).__name__}"
    return InvalidInput(message, file=str(path), line=line)
