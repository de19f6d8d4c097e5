"""Strict parsing of untrusted JSON, with the exact place of every error."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any, NoReturn

from caliper.core.errors import InvalidInput

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _AmbiguousError(ValueError):
    """JSON that Python accepts although its meaning is ambiguous."""

    def __init__(self, message: str, field: str = "") -> None:
        self.field = field
        super().__init__(message)


def read_json(path: Path) -> Any:
    """Parse a whole file.

    Raises InvalidInput if the file cannot be read, is not UTF-8, or is not JSON.
    """
    return parse(_content(path), path)


def read_entries(path: Path) -> tuple[Any, list[int]]:
    """Parse a whole file, and find the line on which each entry of its list or object begins.

    Raises like `read_json`.
    """
    text = _content(path)
    try:
        return _entries(text)
    except (ValueError, RecursionError):
        # Without entries, or broken: then this finds the exact place.
        return parse(text, path), []


def _content(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    content = data.removeprefix(BYTE_ORDER_MARK)
    if not content.strip():
        raise InvalidInput("the file is empty", file=str(path))
    return decode(content, path, offset=len(data) - len(content))


def unreadable(path: Path, error: OSError) -> InvalidInput:
    """The error for a file that cannot be opened or read."""
    return InvalidInput(f"cannot be read: {error.strerror or error}", file=str(path))


def decode(data: bytes, path: Path, *, line: int = 1, offset: int = 0) -> str:
    """Decode UTF-8. `line` and `offset` (bytes) are where `data` begins in the file.

    Individually encoded surrogates are accepted, since canonical JSON contains them. Raises
    InvalidInput with line and byte offset for anything else that is not UTF-8.
    """
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        byte, place = data[error.start], offset + error.start
        raise InvalidInput(
            f"not UTF-8: byte 0x{byte:02x} at offset {place}",
            file=str(path),
            line=line + data.count(b"\n", 0, error.start),
        ) from error


def parse(text: str, path: Path, line: int | None = None) -> Any:
    """Parse `text`, which is line `line` of the file, or the whole file if `line` is None.

    Besides broken JSON, this refuses duplicate keys in an object (which one counts?), NaN, and
    numbers beyond a double. Raises InvalidInput with line and column, or with the key.
    """
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"broken JSON at column {error.colno}: {error.msg}",
            file=str(path),
            line=line or error.lineno,
        ) from error
    except _AmbiguousError as error:
        raise InvalidInput(str(error), file=str(path), line=line, field=error.field) from error
    except RecursionError as error:
        raise InvalidInput("JSON nested too deeply", file=str(path), line=line) from error
    except ValueError as error:
        raise InvalidInput(f"unusable JSON: {error}", file=str(path), line=line) from error


def _entries(text: str) -> tuple[Any, list[int]]:
    """A list or object, and the line of each entry. Raises ValueError if it is neither, is empty,
    or is broken.
    """
    opening = _matched(_OPENING, text, 0)
    closing = "]" if opening[1] == "[" else "}"
    place, line, counted, separator = opening.end(), 1, 0, ","
    pairs: list[tuple[str, Any]] = []
    lines: list[int] = []
    while separator == ",":
        line, counted = line + text.count("\n", counted, place), place
        lines.append(line)
        key = ""
        if closing == "}":
            key, place = _DECODER.raw_decode(text, place)
            if not isinstance(key, str):
                raise ValueError("a key is not text")
            place = _matched(_COLON, text, place).end()
        value, place = _DECODER.raw_decode(text, place)
        pairs.append((key, value))
        after = _matched(_SEPARATOR, text, place)
        separator, place = after[1], after.end()
    if separator != closing or place < len(text):
        raise ValueError("broken after an entry")
    return (_object(pairs) if closing == "}" else [value for _, value in pairs]), lines


def _matched(pattern: re.Pattern[str], text: str, place: int) -> re.Match[str]:
    match = pattern.match(text, place)
    if match is None:
        raise ValueError("broken between entries")
    return match


_OPENING = re.compile(r"[ \t\n\r]*([\[{])[ \t\n\r]*")
_COLON = re.compile(r"[ \t\n\r]*:[ \t\n\r]*")
_SEPARATOR = re.compile(r"[ \t\n\r]*([,\]}])[ \t\n\r]*")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _AmbiguousError("the key appears twice in one JSON object", field=repr(key))
            seen.add(key)
    return fields


def _constant(name: str) -> NoReturn:
    raise _AmbiguousError(f"{name} is not JSON")


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise _AmbiguousError(f"the number {digits:.40} is too large")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
