"""Texts inside protobuf messages, whose strings are UTF-8.

A text may hold a lone surrogate, which has no UTF-8 form: it travels as U+FDD0, a code point that
no text uses, and its four hexadecimal digits. U+FDD0 itself travels in the same way.
"""

from __future__ import annotations

import re

from caliper.core.errors import InvalidInput

_MARK = "\ufdd0"
_UNSAFE = re.compile("[\ud800-\udfff\ufdd0]")
_ESCAPED = re.compile("\ufdd0(d[89a-f][0-9a-f]{2}|fdd0)?")


def to_wire(text: str) -> str:
    """The text as a message carries it."""
    return text if text.isascii() else _UNSAFE.sub(_escaped, text)


def from_wire(text: str) -> str:
    """The text that `to_wire` was given. Raises InvalidInput for an escape that it never writes."""
    return _ESCAPED.sub(_meant, text) if _MARK in text else text


def _escaped(found: re.Match[str]) -> str:
    return f"{_MARK}{ord(found[0]):04x}"


def _meant(found: re.Match[str]) -> str:
    if found[1] is None:
        raise InvalidInput("a text of a message holds a broken escape")
    return chr(int(found[1], 16))
