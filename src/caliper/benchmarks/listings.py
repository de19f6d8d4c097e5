"""Options that a reply only lists, with their letters (ours)."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LINE_START = re.compile(r"(?:\A|\n)[\s*>\u2022-]{0,6}\Z")
_BESIDE = re.compile(r"[\s,;.)*/|]{0,6}(?:(?:and|or)\s)?")
_REMARK = re.compile(r"\s{0,2}(?:[:\u2013\u2014-]|is\b)\s[^.\n]{0,300}")
_APPROVAL = re.compile(
    r"(?!.{0,300}\b(?:not|no)\b|.{0,300}n['\u2019]t\b)"
    r".{0,300}?\b(?:yes|right|correct|true|match(?:es)?|fits|answer)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(r"(?:^|(?<=[\s(*]))\(?([A-Z])[.):]?[*\s]{1,3}\(?|\(([A-Z])\)\s?")


def place_of(label: str) -> int:
    """The place of a label: A is 0, and a number counts from 1."""
    return int(label) - 1 if label.isdigit() else ord(label.upper()) - ord("A")


def without_listing(text: str, shown: Sequence[str]) -> str:
    """The text with spaces for options that it only repeats, two or more with their letters.

    They stand side by side, or each in a line of its own. Each goes with what is remarked on it
    in its line, unless that approves of it.
    """
    found: list[tuple[int, int, str]] = []
    for match in _LABEL.finditer(text):
        letter = match[1] or match[2]
        place = ord(letter) - ord("A")
        own = shown[place].strip() if place < len(shown) else ""
        end = match.end() + len(own)
        if own and text[match.end() : end].casefold() == own.casefold():
            found.append((match.start(), end, letter))
    listed: list[tuple[int, int, str]] = []
    for at, (start, end, letter) in enumerate(found):
        opens_line = _LINE_START.search(text, max(0, start - 8), start)
        beside = at + 1 < len(found) and _BESIDE.fullmatch(text, end, found[at + 1][0])
        behind = at > 0 and _BESIDE.fullmatch(text, found[at - 1][1], start)
        remark = _REMARK.match(text, end)
        approved = _APPROVAL.match(remark[0]) if remark else None
        if (opens_line or beside or behind) and not approved:
            listed.append((start, remark.end() if remark else end, letter))
    if len({letter for _, _, letter in listed}) > 1:
        for start, end, _ in listed:
            text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text
