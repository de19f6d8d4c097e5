"""Where a reply breaks off, and whether it had answered by then (ours).

A reply that was cut at its token limit has quoted the caption, listed the options or begun to
reason. An option that it only mentions on the way is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from caliper.benchmarks.spellings import stem, tokens
from caliper.benchmarks.statements import Statement

# A last quotation mark behind a space opens a quotation, which nothing closes.
_OPEN = re.compile(
    r"(?:(?:\A|[\s(])[\"'](?![\s\"'])[^\"'\n]*+|[\s(][\"']|\u201c[^\u201d]*+|\([^()]*+)\s*+\Z"
)
_LONGEST_TAIL = 2000
_CLOSING = " \t\r\n\"'`*_)]}\u201d\u2019\u2026"
_FINAL = frozenset(".!?\u3002\uff01\uff1f")
_GOING_ON = re.compile(
    r"(?:[,:;([{*\u2013\u2014-]|\b(?:the|an?|of|in|on|at|to|with|and|or|but|is|are|was|were|be|been"
    r"|has|have|had|that|which|who|its|his|her|their|my|our|says|mentions|describes|states|so|as"
    r"|because|since|by|for|from|while|where|not|plus|also|then|would|could|can|may|might|will"
    r"|should|must|does|do|between|than|if|whether|into|only|still|very|both|either|means|seems"
    r"|(?:and|that|but|so|because|as)\s(?:it|he|she|they|there|this))|[.!?,]\s(?:It|He|She|They|There|This))\Z"
)
_SENTENCE_END = re.compile(r"[.!?;\n\u3002](?!\w)|,?\s(?:which|because|as|since)\b")
_LAST_SENTENCE = re.compile(r"[.!?\n](?!\w)|[;\u3002\uff01\uff1f]")
_CONTRAST = re.compile(r"\b(?:but|however|although|though)\b", re.IGNORECASE)
_OF_A_PART = re.compile(
    r"\b(?:but|however|yet|although|though|directly|explicitly|clue|hint|first|second|last|third|next"
    r"|sentence|paragraph|part|beginning|opening)\b",
    re.IGNORECASE,
)
_SAYING_LITTLE = frozenset(
    (
        *("a", "an", "the", "of", "to", "in", "on", "at", "with", "by", "it", "its", "he", "she"),
        *("they", "there", "this", "that", "is", "are", "was", "were", "has", "have", "so"),
    )
)


def breaks_off(text: str) -> bool:
    """Whether the text ends without a final mark, or in a quotation or bracket left open."""
    if _OPEN.search(text, max(0, len(text) - _LONGEST_TAIL)):
        return True
    kept = text.rstrip(_CLOSING)
    return kept.endswith("...") or kept[-1:] not in _FINAL


def decided(
    text: str,
    mentions: Sequence[Statement[int]],
    options: Sequence[str],
    question: str,
    cannot: int | None,
) -> bool:
    """Whether a text that breaks off answers all the same by what it mentions.

    Its last sentence does where all but its full stop seems to be there, and so does a first
    sentence that has no words but an option's and the question's.
    """
    end = _SENTENCE_END.search(text)
    if end and any(
        each.at < end.start() and _is_answer(text[: end.start()], each, options, question, cannot)
        for each in mentions
    ):
        return True
    written = text.rstrip(_CLOSING + ".")
    last = max((match.end() for match in _LAST_SENTENCE.finditer(written)), default=0)
    inside = [each for each in mentions if each.at >= last]
    if not inside or _OPEN.search(text, max(0, len(text) - _LONGEST_TAIL)):
        return False
    place = inside[-1].value
    if place is not None and place == cannot:
        return _CONTRAST.search(written, inside[-1].at) is None
    is_option = place is not None and not _beyond(written.rpartition(" ")[2], options[place], ())
    return is_option or not _GOING_ON.search(written, max(0, len(written) - 24))


def _is_answer(
    sentence: str,
    mention: Statement[int],
    options: Sequence[str],
    question: str,
    cannot: int | None,
) -> bool:
    if mention.value is None:
        return False
    if mention.value == cannot:
        return _OF_A_PART.search(sentence) is None
    return not _beyond(sentence, f"{options[mention.value]} {question}")


def _beyond(said: str, known: str, free: Collection[str] = _SAYING_LITTLE) -> bool:
    """Whether words are said that are neither free nor among the known."""
    words = {stem(token.word) for token in tokens(known)}
    return any(token.word not in free and stem(token.word) not in words for token in tokens(said))
