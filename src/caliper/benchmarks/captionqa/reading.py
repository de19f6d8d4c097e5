"""Which option a reply chooses.

`released` is what the authors' script does, step by step. `lenient` reads what a person
would read as well: a letter before a reason, a letter in a sentence, the text of an
option, JSON. Neither ever raises.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Found:
    """The place of the chosen option among those shown, None when none could be read.

    `repaired` tells that the released reading finds another one, or none.
    """

    place: int | None
    repaired: bool = False


LetterReader = Callable[[str, Sequence[str]], Found]

_ANY_CAPITAL = re.compile(r"\b([A-Z])\b")
_ANY_NUMBER = re.compile(r"\b([1-9][0-9]?)\b")


def read_released(reply: str, shown: Sequence[str]) -> Found:
    """The released reading, in its order.

    Keep what follows the first "</think>", then the first "Answer: ", then, if a newline is
    left, the first newline. The first standalone capital of the upper-cased rest, if it is
    in range; else a standalone 1 to 99 as a place counted from 1; else nothing.
    """
    return Found(_released(reply, len(shown)))


def _released(reply: str, count: int) -> int | None:
    rest = reply
    for mark in ("</think>", "Answer: ", "\n"):
        rest = rest.partition(mark)[2] if mark in rest else rest
    rest = rest.upper()
    capital = _ANY_CAPITAL.search(rest)
    if capital and _place(capital[1]) < count:
        return _place(capital[1])
    number = _ANY_NUMBER.search(rest)
    if number and int(number[1]) <= count:
        return int(number[1]) - 1
    return None


def _place(letter: str) -> int:
    return ord(letter) - ord("A")


def read_lenient(reply: str, shown: Sequence[str]) -> Found:
    """The lenient reading: what `released` reads, and more.

    A reply that breaks off inside "<think>" has no answer: its reasoning is not read.
    """
    place = _lenient(reply, shown)
    return Found(place, repaired=place is not None and place != _released(reply, len(shown)))


def _lenient(reply: str, shown: Sequence[str]) -> int | None:
    if "</think>" not in reply and "<think>" in reply:
        return None
    text = reply.rpartition("</think>")[2].strip()
    answer = _from_json(text)
    for step in _STEPS:
        place = step(text if answer is None else answer, shown)
        if place is not None:
            return place
    return None if answer is not None else _released(reply, len(shown))


_FENCE = "```"
_ANSWER_KEYS = ("answer", "letter", "choice", "option", "selected", "response")


def _from_json(text: str) -> str | None:
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


_SINGLE_LETTER = re.compile(r"[\W_]*([A-Za-z])[\W_]*")
# "B. red", "(B) red", "**B**: ...", "B" and a reason on the next line.
_LEADING = re.compile(
    r"[\s(\[{*\"'`]*([A-Z])(?:[)\]}*\"'`]*[.:,;)\]*]|[ \t]*(?:\n|$|[-=\u2013\u2014] ))"
)
# "A" before a word is the article, unless the word goes on about the letter.
_ARTICLE = r"A\s+(?!(?:is|as|because|since|and|or|but|seems|fits|matches)\b)[a-z]"
_PRONOUN = r"I,?\s+[a-z]"
_NAMED = re.compile(
    r"\b(?i:answer|option|choice|letter)\b(?:\s+(?i:is|was|would\s+be))?"
    rf"[\s:=(\[{{*\"'`]*(?!{_ARTICLE})([A-Z])(?![\w'\u2019])"
)
_IN_SENTENCE = re.compile(rf"(?<![\w'\u2019])(?!{_ARTICLE}|{_PRONOUN})([A-Z])(?![\w'\u2019])")


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
    return _only(
        place
        for place, words in inside.items()
        if not any(words != other and words in other for other in inside.values())
    )


_STEPS: tuple[Callable[[str, Sequence[str]], int | None], ...] = (
    _single,
    _whole_text,
    _last_line,
    _leading,
    _named,
    _in_sentence,
    _option_inside,
    lambda text, shown: _released(text, len(shown)),
)


def _in_range(match: re.Match[str] | None, shown: Sequence[str]) -> int | None:
    if match is None:
        return None
    place = _place(match[1].upper())
    return place if place < len(shown) else None


def _words(text: str) -> str:
    """The words of a text, lower-cased, one space between them."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _only(places: Iterable[int | None]) -> int | None:
    found = list(places)
    return found[0] if len(found) == 1 else None


READERS: dict[str, LetterReader] = {"lenient": read_lenient, "released": read_released}
