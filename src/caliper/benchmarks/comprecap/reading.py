"""Reading a judge's score and the letter of a CompreQA answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from caliper.benchmarks.asking import UNREADABLE, Reading
from caliper.benchmarks.letters import chosen
from caliper.core.outcome import Scored

_INTEGER = re.compile(r"(?<![\w.])-[0-9]+|[0-9]+")
_LONGEST = 18
_OPTION = re.compile(r"(?:^|(?<=\s))\(?([A-Z])[.):]\s+")
_OBJECT = re.compile(r"\{[^{}]*\}")
_QUOTED = re.compile(_OBJECT.pattern + r"|\"[^\"\n]*\"|\u201c[^\u201c\u201d\n]*\u201d")
_LETTER = re.compile(r"[A-Za-z]")
_SCALE = re.compile(r"(?<![0-9.])0\s*(?:to|-|\u2013)\s*5(?![0-9])")
_ALONE = re.compile(r"[\s*_`\"'(]*(-?[0-9]+)[\s*_`\"').]*")
_OPENING = re.compile(r"[\s*_`\"'(]*(-?[0-9]+)")
_STATED = re.compile(
    r"\b(?:score|rating)\b[*_\s]*(?:is|[:=])[*_\s]*(-?[0-9]+)"
    r"|\bI(?:['\u2019]d| would)? (?:rate|give|say|assign)\b[^0-9\n.;]{0,30}?(-?[0-9]+)",
    re.IGNORECASE,
)


def read_score(reply: str) -> Reading:
    """The integer that the reply states as its score, from 0 to 5.

    That is one alone on the last line, one that opens the reply, the last behind "score:" or "I
    rate", else the first. Outside 0 to 5 or absent it is unreadable. Prose around the number
    counts as repaired.

    What the judge quotes is not its verdict: an integer inside an object or a quotation counts
    only if none stands outside, and of several objects then the last. Thoughts that end with
    "</think>" are no part of the answer, and those that do not end hide it.
    """
    told = reply.rpartition("</think>")[2]
    found = "" if "<think>" in told else _own_score(_SCALE.sub(" ", _unquoted(told)))
    if not found:
        return Reading(UNREADABLE, "the reply holds no integer")
    # A score has one digit, however many zeros stand before it; int() refuses endless ones.
    digits = found.lstrip("0") or "0"
    if digits not in {"0", "1", "2", "3", "4", "5"}:
        return Reading(UNREADABLE, f"the reply's integer, {digits[:20]}, is not 0 to 5")
    return Reading(Scored(Fraction(int(digits))), repaired=reply.strip() != digits)


def _own_score(text: str) -> str:
    """The integer that the text states as its own; empty when it holds none."""
    last = text.rstrip().rpartition("\n")[2]
    if found := _ALONE.fullmatch(last) or _OPENING.match(text):
        return found[1]
    stated = [match[1] or match[2] for match in _STATED.finditer(text)]
    first = _INTEGER.search(text)
    return stated[-1] if stated else first.group() if first else ""


def _unquoted(reply: str) -> str:
    # "4" in quotation marks is a score, and no prose.
    outside = _QUOTED.sub(lambda quoted: " " if _LETTER.search(quoted[0]) else quoted[0], reply)
    if _INTEGER.search(outside):
        return outside
    objects = [each for each in _OBJECT.findall(reply) if _INTEGER.search(each)]
    return objects[-1] if objects else reply


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
