"""What in a reply its writer says itself: without thoughts, quotations and orders of others.

Judges and readers think aloud, and quote what a caption ordered before they answer. Every
benchmark's default readings look at the answer first as these functions cut it down.
"""

from __future__ import annotations

import re

_QUOTATION = re.compile(
    r"\{[^{}]*\}|\"[^\"\n]{3,}\"|\u201c[^\u201c\u201d\n]{3,}\u201d|(?<!\w)'[^'\n]{3,}'(?!\w)"
)
_ASIDE = re.compile(r"\([^()\n]{3,}\)")
_TOLD_BY_OTHERS = re.compile(
    r"\b(?:caption|sentence|text|description|phrase|it|which|that|who)\s+(?:\w+\s+){0,2}?"
    r"(?:orders?|ordered|asks?|asked|tells?|told|wants?|says|said|claims?|claimed|demands?"
    r"|demanded|instructs?|instructed|holds?|contains?|contained)\b"
    r"(?:(?!\b(?:but|so|hence|therefore)\b|(?<!:\s)\bI\b)[^.,;\n])*",
    re.IGNORECASE,
)


def told(reply: str) -> str:
    """What stands behind the thoughts; nothing when they never end."""
    answer = reply.rpartition("</think>")[2]
    return "" if "<think>" in answer else answer


def unfenced(text: str) -> str:
    """The text inside code fences that wrap the whole of it; else the text, trimmed."""
    text = text.strip()
    if len(text) < 6 or not (text.startswith("```") and text.endswith("```")):
        return text
    language, line_break, rest = text[3:-3].partition("\n")
    if line_break and (not language.strip() or language.strip().isalpha()):
        return rest.strip()
    return text[3:-3].removeprefix("json").strip()


def unquoted(answer: str) -> str:
    """The answer without quotations and objects; a single letter or number in marks stays."""
    return _QUOTATION.sub(" ", answer)


def own_words(answer: str) -> str:
    """The answer without quotations, asides in brackets, and what it says that a caption says.

    "It orders B. I pick C" has " . I pick C".
    """
    return _TOLD_BY_OTHERS.sub(" ", _ASIDE.sub(" ", unquoted(answer)))
