"""Parse JSON or Python literals embedded in text.

Judges answer in either notation, or mix them: `{'score': 1, "reason": null,}`. Each standard
parser knows only one notation and cannot start inside prose, and `ast` warns about escapes in
untrusted text. This grammar covers both notations and reports what it had to repair.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_SPACE = re.compile(r"\s*")
_STRING = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"' r"|'([^'\\]*(?:\\.[^'\\]*)*)'", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_NAME = re.compile(r"[A-Za-z]+")
_NO_OBJECT = re.compile(r"\{[^{}\"']*+\}")
_NAMES = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_ESCAPE = re.compile(
    r"\\(?:u([0-9A-Fa-f]{4})|U00((?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(.))",
    re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", '"': '"', "'": "'"}
_ESCAPES |= {"\\": "\\", "\n": ""}
_CLOSERS = {"{": "}", "[": "]", "(": ")"}
_MAX_DEPTH = 16


@dataclass(frozen=True, slots=True)
class Literal:
    """A parsed value, its end offset, and flags for malformed notation.

    Tuples become lists. `repaired`: there was a trailing comma, or a bare line break in a
    string. `duplicated`: an object repeats a key; the last value wins, as in JSON and Python.
    """

    value: Any
    end: int
    repaired: bool = False
    duplicated: bool = False


def read_literal(text: str, start: int = 0, *, duplicates: bool = False) -> Literal | None:
    """Parse the literal at `start`, skipping white space; None if there is none.

    A literal with a repeated object key is rejected unless `duplicates` is set.
    """
    try:
        literal = _value(text, _skip(text, start), _MAX_DEPTH)
    except _NoLiteralError:
        return None
    return literal if duplicates or not literal.duplicated else None


def objects_in(text: str) -> tuple[list[tuple[int, Literal]], str] | None:
    """Return the objects in a text with their offsets, and the text with them blanked out.

    None if an object is incomplete: its content, or the text before it, may be a quotation.
    "{x}" in prose is not an object; anything else that begins with a brace is.
    """
    objects: list[tuple[int, Literal]] = []
    prose, end = [], 0
    at = text.find("{")
    while at >= 0:
        literal = read_literal(text, at)
        if literal is None and not _NO_OBJECT.match(text, at):
            return None
        if literal:
            objects.append((at, literal))
            prose += [text[end:at], " " * (literal.end - at)]
            end = literal.end
        at = text.find("{", literal.end if literal else at + 1)
    return objects, "".join([*prose, text[end:]])


def literal_list(text: str) -> list[Any] | None:
    """Parse `text` as a single list; None if it is anything else."""
    literal = read_literal(text)
    if literal is None or text[literal.end :].strip() or not isinstance(literal.value, list):
        return None
    return literal.value


class _NoLiteralError(Exception):
    pass


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _value(text: str, at: int, depth: int) -> Literal:
    opener = text[at : at + 1]
    if opener == "{" and depth:
        return _container(text, at, depth, pairs=True)
    if opener in ("[", "(") and depth:
        return _container(text, at, depth, pairs=False)
    return _scalar(text, at)


def _scalar(text: str, at: int) -> Literal:
    if match := _STRING.match(text, at):
        raw = match[1] if match[1] is not None else match[2]
        return Literal(_unescape(raw), match.end(), "\n" in raw or "\r" in raw)
    if match := _NUMBER.match(text, at):
        number = int(match[0]) if _INTEGER.fullmatch(match[0]) else float(match[0])
        return Literal(number, match.end())
    if (match := _NAME.match(text, at)) and match[0] in _NAMES:
        return Literal(_NAMES[match[0]], match.end())
    raise _NoLiteralError


def _container(text: str, at: int, depth: int, *, pairs: bool) -> Literal:
    """Parse a dict (`pairs`) or a list. A closer right after a comma is a trailing comma."""
    closer, elements, repaired, duplicated = _CLOSERS[text[at]], [], False, False
    at = _skip(text, at + 1)
    while text[at : at + 1] != closer:
        element = _pair(text, at, depth - 1) if pairs else _value(text, at, depth - 1)
        elements.append(element.value)
        repaired |= element.repaired
        duplicated |= element.duplicated
        at = _skip(text, element.end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
            repaired |= text[at : at + 1] == closer
        elif text[at : at + 1] != closer:
            raise _NoLiteralError
    if not pairs:
        return Literal(elements, at + 1, repaired, duplicated)
    fields = dict(elements)
    return Literal(fields, at + 1, repaired, duplicated or len(fields) < len(elements))


def _pair(text: str, at: int, depth: int) -> Literal:
    key = _scalar(text, at)
    at = _skip(text, key.end)
    if text[at : at + 1] != ":":
        raise _NoLiteralError
    value = _value(text, _skip(text, at + 1), depth)
    repaired = key.repaired or value.repaired
    return Literal((key.value, value.value), value.end, repaired, value.duplicated)


def _unescape(raw: str) -> str:
    if "\\" not in raw:
        return raw
    plain = _ESCAPE.sub(_character, raw)
    # JSON escapes characters beyond the basic plane as surrogate pairs: join them.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _character(match: re.Match[str]) -> str:
    if digits := match[1] or match[2] or match[3]:
        return chr(int(digits, 16))
    return _ESCAPES.get(match[4], match[0])
