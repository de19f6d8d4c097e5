"""Escaping of texts for protobuf messages, whose strings are UTF-8.

A text may contain a lone surrogate, which UTF-8 cannot encode. It is written as U+FDD0, a
noncharacter, followed by its four hexadecimal digits. U+FDD0 itself is escaped in the same way.
"""

from __future__ import annotations

import re

from caliper.core.errors import InvalidInput

_MARK = "\ufdd0"
_UNSAFE = re.compile("[\ud800-\udfff\ufdd0]")
_ESCAPED = re.compile("\ufdd0(d[89a-f][0-9a-f]{2}|fdd0)?")


def to_wire(text: str) -> str:
    """Escape a text for a message."""
    if text.isascii():
        return text
    return _UNSAFE.sub(lambda match: f"{_MARK}{ord(match[0]):04x}", text)


def from_wire(text: str) -> str:
    """Undo `to_wire`. Raises InvalidInput for a malformed escape."""
    return _ESCAPED.sub(_unescape, text) if _MARK in text else text


def _unescape(match: re.Match[str]) -> str:
    if match[1] is None:
        raise InvalidInput("a text of a message holds a broken escape")
    return chr(int(match[1], 16))
