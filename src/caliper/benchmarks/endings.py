"""Detect truncated replies, and whether they answered before the cut (ours).

A reply cut at its token limit may have quoted the caption, listed the options or begun to
reason. An option mentioned along the way is not an answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from caliper.benchmarks.restatements import has_other_words
from caliper.benchmarks.statements import Statement

# A final quotation mark after a space opens a quotation that is never closed.
_OPEN = re.compile(
    r"(?:(?:\A|[\s(])(?:\"(?!\s)[^\"\n]*+|'(?!\s)[^'\n]*+)|\s[\"']|\u201c[^\u201d]*+|\([^()]*+)\s*+\Z"
)
_LONGEST_TAIL = 2000
_LONGEST_WITHOUT_STOP = 80
_CLOSING = " \t\r\n\"'`*_)]}\u201d\u2019\u2026"
_FINAL = frozenset(".!?\u3002\uff01\uff1f")
_UNFINISHED_END = re.compile(
    r"(?:\b(?:the|an?|of|in|at|to|with|and|or|but|is|are|was|were|be|been"
    r"|has|have|had|that|which|who|its|his|her|their|my|our|says|mentions|describes|states|so|as"
    r"|because|since|for|from|while|where|not|plus|also|then|would|could|can|may|might|will"
    r"|should|must|between|than|if|whether|into|only|still|very|both|either|means|seems"
    r"|(?:and|that|but|so|because|as|then)\s(?:it|he|she|they|there|this))|[.!?,]\s(?:It|He|She|They|There|This))\Z"
)
_SENTENCE_END = re.compile(r"[.!?\n](?!\w)|[;\u3002\uff01\uff1f]")
_CONTRAST = re.compile(r"\b(?:but|however|although|though)\b", re.IGNORECASE)
_LIMITED_TO_A_PART = re.compile(
    r"\b(?:but|however|yet|although|though|directly|explicitly|clue|hint|first|second|last|third|next"
    r"|sentence|paragraph|part|beginning|opening)\b",
    re.IGNORECASE,
)


def unclosed_at(text: str) -> int:
    """Return the offset of an unclosed quotation or bracket; the text's length if there is none."""
    match = _OPEN.search(text, max(0, len(text) - _LONGEST_TAIL))
    return match.start() if match else len(text)


def is_cut_off(text: str) -> bool:
    """Whether the text ends without final punctuation or in an unclosed quotation or bracket."""
    stripped = text.rstrip(_CLOSING)
    return unclosed_at(text) < len(text) or stripped.endswith("...") or stripped[-1:] not in _FINAL


def has_answer(
    text: str, mentions: Sequence[Statement[int]], options: Sequence[str], cannot: int | None
) -> bool:
    """Whether a truncated text answers nevertheless through its mentions.

    It does if its last sentence seems complete except for the full stop, or if its first
    sentence says that the caption does not state the answer.
    """
    end = _SENTENCE_END.search(text)
    if end and not _LIMITED_TO_A_PART.search(text, 0, end.start()):
        first = (mention for mention in mentions if mention.at < end.start())
        if any(mention.value is not None and mention.value == cannot for mention in first):
            return True
    stripped = text.rstrip(_CLOSING + ".")
    last = max(stripped.rfind(mark) for mark in (". ", ".\n", "! ", "? ", ";", "\n", "\u3002")) + 1
    last_mentions = [mention for mention in mentions if mention.at >= last]
    if not last_mentions or unclosed_at(text) < len(text) or stripped[-1] in ",:;-\u2013\u2014":
        return False
    place = last_mentions[-1].value
    if place is not None and place == cannot:
        return _CONTRAST.search(stripped, last_mentions[-1].at + len("but ")) is None
    if place is not None and not has_other_words(stripped.rpartition(" ")[2], options[place]):
        return True
    if len(stripped) - last > _LONGEST_WITHOUT_STOP:
        return False
    return not _UNFINISHED_END.search(stripped, max(0, len(stripped) - 24))
