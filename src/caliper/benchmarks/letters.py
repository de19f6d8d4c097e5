"""Which of the options that it was shown a reply chooses, as a person would read it.

Shared by the default readings of CaptionQA and CompreQA; what a released script reads stays
with its benchmark. Nothing here raises, whatever the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from caliper.benchmarks.replies import own_words, told


def chosen(reply: str, shown: Sequence[str]) -> int | None:
    """The place of the chosen option among those shown, which are lettered from A.

    In this order: a letter alone, an option's text alone, a letter alone on the last line, one
    that opens the reply, one that it calls its answer, the only one in a sentence, the only
    option that is named. Of the last three what the writer says itself comes first: a letter
    that is quoted, denied ("not B"), or that a caption orders counts only where no other
    stands. Thoughts are not read; JSON is read as JSON.
    """
    text = told(reply).strip()
    named = from_json(text)
    if named is None:
        named = _broken_off(text)
    text = text if named is None else named
    own = _NEGATED.sub(" ", own_words(text))
    for step in _AT_ITS_PLACE:
        if (place := step(text, shown)) is not None:
            return place
    steps = ((step, part) for part in (own, text) for step in _ANYWHERE)
    places = (step(part, shown) for step, part in steps)
    return next((place for place in places if place is not None), None)


_FENCE = "```"
_ANSWER_KEYS = ("answer", "letter", "choice", "option", "selected", "response")


def from_json(text: str) -> str | None:
    """The answer inside JSON: a string, a list of one, or an object that names or is one."""
    if text.startswith(_FENCE) and text.endswith(_FENCE):
        text = text.strip("`").removeprefix("json")
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        by_name = {str(key).casefold(): inner for key, inner in value.items()}
        named = [by_name[key] for key in _ANSWER_KEYS if key in by_name]
        value = named[:1] or list(value.values())
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else None


_KEY = "|".join(_ANSWER_KEYS)
_FIRST_ANSWER = re.compile(rf"\{{\s*[\"'](?:{_KEY})[\"']\s*:\s*[\"']?\(?([A-Z])\b", re.IGNORECASE)


def _broken_off(text: str) -> str | None:
    """The letter of an object that opens the reply and is no JSON: what it names first."""
    found = _FIRST_ANSWER.match(text)
    if found is None:
        return None
    try:
        json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return found[1].upper()
    return None


_SINGLE_LETTER = re.compile(r"[\W_]*([A-Za-z])[\W_]*")
# "B. red", "(B) red", "**B**: ...", "B" and a reason on the next line.
_LEADING = re.compile(
    r"[\s(\[{*\"'`]*([A-Z])(?:[)\]}*\"'`]*[.:,;)\]*]|[ \t]*(?:\n|$|[-=\u2013\u2014] ))"
)
# "A" before a word is the article, unless the word goes on about the letter.
_ARTICLE = r"A\s+(?!(?:is|as|because|since|and|or|but|seems|fits|matches)\b)[a-z]"
_PRONOUN = r"I,?\s+[a-z]"
_PICKED = (
    r"\bI(?:['\u2019](?:d|ll)|\s+would|\s+will)?\s+(?:pick|choose|select|go with|say|answer)\b"
)
_NAMED = re.compile(
    rf"(?:\b(?i:answer|option|choice|letter)\b(?:\s+(?i:is|was|would\s+be))?|{_PICKED})"
    rf"(?:[\s:=(\[{{*\"'`]*(?!{_ARTICLE}|{_PRONOUN})([A-Z])(?![\w'\u2019])"
    # A small letter is no article in brackets or at the end.
    r"|[\s:=*\"'`]*(?:\(([a-z])\)|(?<![a-z])([a-z])[.\s*\"'`]*$))"
)
_NEGATED = re.compile(
    rf"\b(?i:not|isn['\u2019]t|neither|nor|never|rather than|instead of)\s+"
    rf"(?i:option\s+|answer\s+|choice\s+|letter\s+)?\(?(?!{_ARTICLE})[A-Z]\b\)?"
)
_IN_SENTENCE = re.compile(rf"(?<![\w'\u2019])(?!{_ARTICLE}|{_PRONOUN})([A-Z])(?![\w'\u2019])")


# "No idea" and "no dog" do not say no.
_NO = re.compile(r"\bno\b(?!\s+\w)", re.IGNORECASE)


def _single(text: str, shown: Sequence[str]) -> int | None:
    """The reply is one letter, with or without punctuation."""
    return _in_range(_SINGLE_LETTER.fullmatch(text), shown)


def _whole_text(text: str, shown: Sequence[str]) -> int | None:
    """The reply is the text of one option, or has the same words."""
    said, words = text.casefold(), _words(text)
    same = _only(place for place, option in enumerate(shown) if option.strip().casefold() == said)
    if same is not None or not words:
        return same
    return _only(place for place, option in enumerate(shown) if _words(option) == words)


def _last_line(text: str, shown: Sequence[str]) -> int | None:
    """A letter alone on the last line: the verdict, whatever was quoted or listed before it."""
    before, _, last = text.rpartition("\n")
    return _single(last, shown) if before else None


def _leading(text: str, shown: Sequence[str]) -> int | None:
    """A letter that opens the reply, set off from what follows."""
    return _in_range(_LEADING.match(text), shown)


def _named(text: str, shown: Sequence[str]) -> int | None:
    """A letter that the reply calls its answer; the last one stands."""
    found = [_in_range(match, shown) for match in _NAMED.finditer(text)]
    return next((place for place in reversed(found) if place is not None), None)


def _in_sentence(text: str, shown: Sequence[str]) -> int | None:
    """The only letter in range that is neither the article A, the pronoun I nor in an option."""
    for option in map(str.strip, shown):
        # "Vitamin C" names no letter; an option that is a letter itself does.
        text = text.replace(option, " ") if len(option) > 1 else text
    places = {_in_range(match, shown) for match in _IN_SENTENCE.finditer(text)}
    return _only(places - {None})


def _option_inside(text: str, shown: Sequence[str]) -> int | None:
    """The only option whose text stands in the reply; a longer one hides those inside it."""
    reply = f" {_words(text)} "
    inside = {place: f" {_words(option)} " for place, option in enumerate(shown)}
    inside = {place: words for place, words in inside.items() if words.strip() and words in reply}
    if not _NO.search(text):
        inside = {place: words for place, words in inside.items() if words != " no "}
    return _only(
        place
        for place, words in inside.items()
        if not any(words != other and words in other for other in inside.values())
    )


_AT_ITS_PLACE: tuple[Callable[[str, Sequence[str]], int | None], ...] = (
    _single,
    _whole_text,
    _last_line,
    _leading,
)
_ANYWHERE = (_named, _in_sentence, _option_inside)


def _in_range(match: re.Match[str] | None, shown: Sequence[str]) -> int | None:
    if match is None:
        return None
    letter = next(filter(None, match.groups()), "")
    place = ord(letter.upper()) - ord("A")
    return place if place < len(shown) else None


def _words(text: str) -> str:
    """The words of a text, lower-cased, one space between them."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _only(places: Iterable[int | None]) -> int | None:
    found = list(places)
    return found[0] if len(found) == 1 else None
