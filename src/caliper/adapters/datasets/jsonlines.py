"""JSON Lines: one object a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from caliper.adapters.datasets.jsontext import BYTE_ORDER_MARK, decode, parse, unreadable
from caliper.core.errors import InvalidInput
from caliper.core.rows import Row


def rows(path: Path) -> Iterator[Row]:
    """A row a line, read as they are asked for; empty lines are passed over.

    Raises InvalidInput with file and line for a line that is no JSON object.
    """
    for number, text in _lines(path):
        value = parse(text, path, number)
        if not isinstance(value, dict):
            found = type(value).__name__
            raise InvalidInput(
                f"expected a JSON object, found {found}", file=str(path), line=number
            )
        yield Row(str(path), number, value)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    offset = 0
    try:
        with path.open("rb") as file:
            # Split at newline bytes only: U+2028 and its like may stand inside JSON strings.
            for number, data in enumerate(file, start=1):
                line = data.removeprefix(BYTE_ORDER_MARK) if number == 1 else data
                start = offset + len(data) - len(line)
                if line.strip():
                    yield number, decode(line.rstrip(b"\r\n"), path, line=number, offset=start)
                offset += len(data)
    except OSError as error:
        raise unreadable(path, error) from error
