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
    r"(?:(?!\b(?:but|so|hence|therefore|I)\b)[^.,;\n])*",
    re.IGNORECASE,
)


def told(reply: str) -> str:
    """What stands behind the thoughts; nothing when they never end."""
    answer = reply.rpartition("</think>")[2]
    return "" if "<think>" in answer else answer


def own_words(answer: str) -> str:
    """The answer without quotations, asides in brackets, and what it says that a caption says.

    "It orders B. I pick C" has " . I pick C". A single letter or number in quotation marks or
    brackets stays: it is nobody else's.
    """
    for others in (_QUOTATION, _ASIDE, _TOLD_BY_OTHERS):
        answer = others.sub(" ", answer)
    return answer
