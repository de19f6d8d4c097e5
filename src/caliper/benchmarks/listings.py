"""Ignore options that a reply merely lists with their letters (ours)."""

from __future__ import annotations

import re
from collections.abc import Sequence

_TICKS = "\u2705\u2611\u2713\u2714"
_CROSSES = "\u274c\u2716-\u2718"
_LINE_START = re.compile(rf"(?:\A|\n)[\s*>\u2022\ufe0f{_TICKS}{_CROSSES}-]{{0,8}}\Z")
_TICK_BEFORE = re.compile(rf"[{_TICKS}]\ufe0f?[\s*]{{0,4}}\Z")
_TICK_BEHIND = re.compile(rf"[ \t*]{{0,4}}[{_TICKS}]")
_SEPARATOR = re.compile(r"[\s,;.)*/|]{0,6}(?:(?:and|or)\s)?")
_CROSS_BEFORE = re.compile(rf"[{_CROSSES}]\ufe0f?[\s*]{{0,4}}\Z")
_CROSS_BEHIND = re.compile(rf"[ \t*]{{0,4}}[{_CROSSES}]")
_REMARK = re.compile(r"\*{0,2}\s{0,2}(?:[:\u2013\u2014-]|is\b)\*{0,2}\s[^.\n]{0,300}")
_HYPOTHETICAL = re.compile(r"\bwould\s(?:have|need)\sto\b", re.IGNORECASE)
_APPROVAL = re.compile(
    r"(?!.{0,300}\b(?:not|no)\b|.{0,300}n['\u2019]t\b)"
    r".{0,300}?\b(?:yes|right|correct|true|match(?:es)?|fits|answer)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(r"(?:^|(?<=[\s(*]))\(?([A-Z])[.):]?[*\s]{1,3}\(?|\(([A-Z])\)\s?")
_LAST_ITEM = re.compile(
    r"(?:(?<!\n)\n[\s*>\u2022-]{0,6}|[,;]\s)\(?(?P<letter>[A-Z])[.):]{0,2}(?![^\s.):])[*\s]{0,3}(?P<begun>[^\n]{0,60}?)\s{0,3}\Z"
)

_LIST_OPENING = re.compile(
    r"\b(?:options|choices|each\soption|one\sby\sone)\b[^.:\n]{0,40}[.:]\s{1,3}(?P<item>[-*\s(]{0,6}A[.):]?(?:\s[^\n.]{0,60}[,;:][^\n.]{0,60})?)\s{0,3}\Z"
)


def place_of(label: str) -> int:
    """Return the index of a label: A is 0, and numbers count from 1."""
    return int(label) - 1 if label.isdigit() else ord(label.upper()) - ord("A")


def has_cross_mark(text: str, start: int, end: int) -> bool:
    """Whether a cross mark precedes or follows the span."""
    before = _CROSS_BEFORE.search(text, max(0, start - 6), start)
    return before is not None or _CROSS_BEHIND.match(text, end) is not None


def blank_listings(text: str, options: Sequence[str]) -> str:
    """Blank out two or more options that the text only repeats with their letters.

    The options are side by side, or each is on its own line. A remark on the same line is
    blanked too, but an option whose remark approves of it stays.
    """
    labelled: list[tuple[int, int, str]] = []
    for match in _LABEL.finditer(text):
        letter = match[1] or match[2]
        place = ord(letter) - ord("A")
        own = options[place].strip() if place < len(options) else ""
        end = match.end() + len(own)
        if own and text[match.end() : end].casefold() == own.casefold():
            labelled.append((match.start(), end, letter))
    listings: list[tuple[int, int, str]] = []
    hypothetical = False
    for at, (start, end, letter) in enumerate(labelled):
        opens_line = _LINE_START.search(text, max(0, start - 8), start)
        beside = at + 1 < len(labelled) and _SEPARATOR.fullmatch(text, end, labelled[at + 1][0])
        behind = at > 0 and _SEPARATOR.fullmatch(text, labelled[at - 1][1], start)
        remark = _REMARK.match(text, end)
        approved = _APPROVAL.match(remark[0]) if remark else _TICK_BEHIND.match(text, end)
        approved = approved or _TICK_BEFORE.search(text, max(0, start - 6), start)
        if (opens_line or beside or behind) and not approved:
            listings.append((start, remark.end() if remark else end, letter))
            hypothetical |= remark is not None and _HYPOTHETICAL.search(remark[0]) is not None
    if opening := _LIST_OPENING.search(text, max(0, len(text) - 200)):
        return text[: opening.start("item")]
    if len({letter for _, _, letter in listings}) > 1 or hypothetical:
        listings += _partial_item(text, options, listings[-1])
        blanked = list(text)
        for start, end, _ in listings:
            blanked[start:end] = " " * (end - start)
        return "".join(blanked)
    return text


def _partial_item(
    text: str, shown: Sequence[str], last: tuple[int, int, str]
) -> list[tuple[int, int, str]]:
    """Return the last list item if the text ends inside it: "A. Red, B. Blue, C. Gr"."""
    item = _LAST_ITEM.search(text, max(last[1], len(text) - 80))
    place = place_of(last[2]) + 1
    if item is None or place_of(item["letter"]) != place or place >= len(shown):
        return []
    prefix, whole = item["begun"].casefold(), shown[place].strip().casefold()
    return (
        [(item.start(), len(text), item["letter"])]
        if prefix != whole and whole.startswith(prefix)
        else []
    )
