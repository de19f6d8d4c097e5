"""JSON Lines: one object per line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from caliper.adapters.datasets.jsontext import BYTE_ORDER_MARK, decode, parse, unreadable
from caliper.core.errors import InvalidInput
from caliper.core.rows import Row


def rows(path: Path) -> Iterator[Row]:
    """Read one row per line, lazily; empty lines are skipped.

    Raises InvalidInput with file and line for a line that is not a JSON object.
    """
    for number, text in _lines(path):
        value = parse(text, path, number)
        if not isinstance(value, dict):
            kind = type(value).__name__
            raise InvalidInput(f"expected a JSON object, found {kind}", file=str(path), line=number)
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
