"""Read answers of the model under test to questions about the media.

The protocol does not specify how to read letters and judge open answers. These rules are ours,
deterministic, and need no model:

- Multiple choice, strict: the reply is a letter in range ("B", "(B)", "B."), a letter with its
  option's text ("B. 7"), or an option's text. Lenient also accepts whatever CaptionQA's default
  reading does (`letters.chosen`). Any other reply is unreadable.
- Open (object_color, OCR, character_identification): texts are compared after Unicode
  compatibility folding, ignoring case, accents, punctuation and articles. A colour is right if
  the reply contains all its words; a text or name if its words occur consecutively (anywhere,
  without word boundaries, in scripts written without spaces). The work a character is from
  ("... from the game ...") need not be named.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from caliper.benchmarks.truncation import certain_part
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    from caliper.benchmarks import letters
else:
    letters = lazy_module("caliper.benchmarks.letters")  # Its patterns take long to compile.


_LETTER_ALONE = re.compile(r"\(?([A-Z])\)?[.):]?")
_LETTERED = re.compile(r"\(?([A-Z])\)?[.):]\s*(.*)", re.DOTALL)
_ARTICLES = frozenset(("a", "an", "the", "and"))
_FROM = re.compile(r"\sfrom\s", re.IGNORECASE)
_FIRST_UNSPACED_SCRIPT = "\u2e80"


@dataclass(frozen=True, slots=True)
class LetterChoice:
    """The letter a reply chooses; `repaired` if only the lenient reading found it."""

    letter: str
    repaired: bool = False


def right_letter(answer: str, options: Sequence[str]) -> str | None:
    """Return the letter of the right option; None if `answer` matches none."""
    return _plain_choice(answer, _folded_texts(options))


def read_choice(
    text: str, options: Sequence[str], *, lenient: bool, truncated: bool = False
) -> LetterChoice | None:
    """Read the letter a reply chooses among lettered options; None if unreadable."""
    letter = _plain_choice(text, _folded_texts(options))
    if letter is not None:
        return LetterChoice(letter)
    if not lenient:
        return None
    lettered = _texts_by_letter(options)
    if truncated:
        text = certain_part(text, tuple(lettered.values()))
    labels = [chr(code) for code in range(ord("A"), ord(max(lettered)) + 1)]
    place = letters.choose_option(text, [lettered.get(each, "") for each in labels])
    lenient_letter = None if place is None else labels[place]
    return LetterChoice(lenient_letter, repaired=True) if lenient_letter in lettered else None


def _texts_by_letter(options: Sequence[str]) -> dict[str, str]:
    """Map letters to option texts; an option without a letter gets that of its position."""
    matches = [_LETTERED.fullmatch(option.strip()) for option in options]
    return {
        match[1] if match else chr(ord("A") + place): match[2] if match else option
        for place, (match, option) in enumerate(zip(matches, options, strict=True))
    }


def _folded_texts(options: Sequence[str]) -> dict[str, str]:
    """Map letters to folded option texts."""
    return {letter: " ".join(words(text)) for letter, text in _texts_by_letter(options).items()}


def _plain_choice(text: str, texts: dict[str, str]) -> str | None:
    text = text.strip()
    if (match := _LETTER_ALONE.fullmatch(text)) and match[1] in texts:
        return match[1]
    if (match := _LETTERED.fullmatch(text)) and texts.get(match[1]) == " ".join(words(match[2])):
        return match[1]
    matches = [
        letter for letter, option in texts.items() if option and option == " ".join(words(text))
    ]
    return matches[0] if len(matches) == 1 else None


def open_answer_right(task: str, expected: str, answer: str) -> bool:
    """Whether an open answer contains the expected one, by the rules above."""
    if task == "character_identification":
        expected = _FROM.split(expected, maxsplit=1)[0]
    expected_words, answer_words = words(expected), words(answer)
    if not expected_words:
        return expected.strip() != "" and expected.strip() in answer
    if task == "object_color":
        return set(expected_words) <= set(answer_words)
    if any(character >= _FIRST_UNSPACED_SCRIPT for word in expected_words for character in word):
        return "".join(expected_words) in "".join(answer_words)
    return f" {' '.join(expected_words)} " in f" {' '.join(answer_words)} "


def words(text: str) -> list[str]:
    """Split a text into folded words, without articles and "and" unless nothing else is left."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    characters = (
        " " if unicodedata.category(character)[0] in "PSZC" else character
        for character in folded
        if not unicodedata.combining(character)
    )
    parts = "".join(characters).split()
    return [word for word in parts if word not in _ARTICLES] or parts
