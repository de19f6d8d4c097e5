"""Reading a judge's score and the letter of a CompreQA answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from caliper.benchmarks.asking import UNREADABLE, Reading
from caliper.benchmarks.letters import chosen
from caliper.benchmarks.literals import read_literal
from caliper.benchmarks.replies import own_words, told, unfenced, unquoted
from caliper.core.outcome import Scored

_INTEGER = re.compile(r"(?<![\w.])-[0-9]+|[0-9]+")
_LONGEST = 18
_BRACE = re.compile(r"\{\s*[\"']")
_OPTION = re.compile(r"(?:^|(?<=\s))\(?([A-Z])[.):]\s+")
_SCALE = re.compile(r"(?<![0-9.])0\s*(?:to|-|\u2013)\s*5(?![0-9])")
_ALONE = re.compile(r"[\s*_`\"'(]*(-?[0-9]+)[\s*_`\"').]*")
# A score that opens the reply: a number, or "Score: 1" and an end.
_OPENING = re.compile(
    r"[\s*_`\"'(]*(?:(?=-?[0-9])|(?:score|rating)[*_\s]*(?:is|[:=])[*_\s]*"
    r"(?=-?[0-9]+(?:\s*/\s*5|\s+out\s+of\s+5)?[*_ \t]*(?:[.,;(\n]|$)))(-?[0-9]+)",
    re.IGNORECASE,
)
_STATED = re.compile(
    r"\b(?:score|rating)\b[*_\s]*(?:is|[:=])[*_\s]*(-?[0-9]+)"
    r"|\bI(?:['\u2019]d| would)? (?:rate|give|say|assign)\b[^0-9\n.;]{0,30}?(-?[0-9]+)",
    re.IGNORECASE,
)


def read_score(reply: str) -> Reading:
    """The integer that the reply states as its score, from 0 to 5.

    A reply that is an object, fenced or not, has it behind "score" or "rating". In prose it is
    one alone on the last line, one that opens the reply ("1", "Score: 1."), the last behind
    "score:" or "I rate", else the first. Outside 0 to 5 or absent it is unreadable. Prose
    around the number counts as repaired.

    What the judge quotes is not its verdict: an integer inside an object or a quotation, in an
    aside, or in what the judge says that a sentence says counts only if no other stands; of
    several objects then the last. Thoughts that end with "</think>" are no part of the answer,
    and those that do not end hide it.
    """
    found = _score_of(told(reply))
    if not found:
        return Reading(UNREADABLE, "the reply holds no integer")
    # A score has one digit, however many zeros stand before it; int() refuses endless ones.
    digits = found.lstrip("0") or "0"
    if digits not in {"0", "1", "2", "3", "4", "5"}:
        return Reading(UNREADABLE, f"the reply's integer, {digits[:20]}, is not 0 to 5")
    return Reading(Scored(Fraction(int(digits))), repaired=reply.strip() != digits)


def _score_of(answer: str) -> str:
    inner = unfenced(answer)
    whole = read_literal(inner)
    if whole and whole.end == len(inner) and (stated := _named(whole.value)) is not None:
        return stated
    prose = _SCALE.sub(" ", answer)
    if own := _own_score(own_words(prose)):
        return own
    literals = (read_literal(answer, brace.start()) for brace in _BRACE.finditer(answer))
    named = [stated for each in literals if each and (stated := _named(each.value))]
    return named[-1] if named else _own_score(unquoted(prose)) or _own_score(prose)


def _named(value: object) -> str | None:
    """The integer behind "score" or "rating", empty where it is none; None without them."""
    if not isinstance(value, dict):
        return None
    fields = {str(key).casefold(): inner for key, inner in value.items()}
    key = next((key for key in ("score", "rating") if key in fields), None)
    if key is None:
        return None
    found = None if isinstance(fields[key], bool) else _INTEGER.search(str(fields[key]))
    return found.group() if found else ""


def _own_score(text: str) -> str:
    """The integer that the text states as its own; empty when it holds none."""
    last = text.rstrip().rpartition("\n")[2]
    if found := _ALONE.fullmatch(last) or _OPENING.match(text):
        return found[1]
    stated = [match[1] or match[2] for match in _STATED.finditer(text)]
    first = _INTEGER.search(text)
    return stated[-1] if stated else first.group() if first else ""


def read_score_released(reply: str) -> Reading:
    """The first integer of the reply as it is, -1 where there is none (released script).

    A number of more than 18 digits is unreadable here too. An empty reply is none, and never
    gets here.
    """
    found = _INTEGER.search(reply)
    digits = found.group() if found else "-1"
    if len(digits) > _LONGEST:
        return Reading(UNREADABLE, "the reply's first integer is no score")
    explanation = "" if found else "the reply holds no integer: -1 by the released reading"
    return Reading(Scored(Fraction(int(digits))), explanation, repaired=reply.strip() != digits)


SCORE_READERS: Mapping[str, Callable[[str], Reading]] = {
    "bounded": read_score,
    "released": read_score_released,
}


def options(question: str) -> dict[str, str]:
    """The options that stand inside a CompreQA question, by letter.

    "Can it be seen? A. Yes. B. No." has {"A": "Yes", "B": "No"}: letters are taken in their
    order from A, so that an initial inside an option begins no other.
    """
    marks: list[re.Match[str]] = []
    for mark in _OPTION.finditer(question):
        if mark.group(1) == chr(ord("A") + len(marks)):
            marks.append(mark)
    ends = [*(mark.start() for mark in marks), len(question)]
    return {
        mark.group(1): question[mark.end() : end].strip().rstrip(".")
        for mark, end in zip(marks, ends[1:], strict=True)
    }


def read_letter(question: str, answer: str, reply: str) -> Reading:
    """Whether the reply chooses the option `answer`.

    Read as CaptionQA's default reading does (`letters.chosen`); anything else is unreadable. (The
    released example counts what it cannot read as wrong.)
    """
    shown = options(question)
    place = chosen(reply, tuple(shown.values()))
    if place is None:
        return Reading(UNREADABLE, "the reply chooses none of the options")
    letter = tuple(shown)[place]
    return Reading(Scored(Fraction(int(letter == answer))), repaired=reply.strip() != letter)
