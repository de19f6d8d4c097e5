"""Read a judge's score, and the letter of a CompreQA answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from caliper.benchmarks.exchanges import UNREADABLE, Reading
from caliper.benchmarks.literals import objects_in, read_literal
from caliper.benchmarks.replies import answer_text, strip_code_fence
from caliper.benchmarks.score_statements import confirmed
from caliper.benchmarks.statements import Stance, Statement, Voices
from caliper.benchmarks.truncation import certain_part, mark_of_object, settle_reply
from caliper.core.outcome import Scored
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    from caliper.benchmarks import letters
else:
    letters = lazy_module("caliper.benchmarks.letters")  # Its patterns take long to compile.

_FIELD = re.compile(
    r"[\s\"'`*]{0,4}(?P<score>[+-]?[0-9]+)(?:\.0+)?(?:\s?(?:/|\bout\sof\b|\bof\b)\s?5)?[\s\"'`*.]{0,4}"
    r"(?:\s?[(:\u2013-]\s?[A-Za-z][^0-9]*)?"
)
_ALONE = re.compile(r"[\s*_`\"'(]{0,8}-?[0-9]+(?:\s?/\s?5)?[\s*_`\"').]{0,8}")
_ANY_INTEGER = re.compile(r"\d+")
_LONGEST = 18
_OPTION = re.compile(r"(?:^|(?<=\s))\(?([A-Z])[.):]\s+")
_SCALE = re.compile(r"(?<![0-9.])0\s{0,3}(?:to|-|\u2013)\s{0,3}5(?![0-9])")
_CUE = re.compile(
    r"(?:\b(?:(?:the|my|final|overall|integer)\s){0,3}(?:score|rating|answer)\b[\"'*_\s]{0,4}"
    r"(?:is\b|[:=])[\"'*_\s]{0,4}"
    r"|\bI(?:['\u2019]d|\swould)?\s(?:rate|give|say|assign)\b[^0-9\n.;]{0,30}?)(?=-?[0-9])",
    re.IGNORECASE,
)
# A number before a noun counts things: "2 cups".
_NUMBER = re.compile(
    r"(?<![\w.])(?P<score>-?[0-9]+)(?![0-9])(?P<other>[.,][0-9]|\s?%"
    r"|[\"'*_]{0,4}\s?\(?(?:-|\u2013|\bor\b|\bto\b)\s?[0-9]|\s?(?:/|\bout\sof\b)\s?(?!5\b)[0-9])?"
    r"(?P<counted>\s(?!(?:out|of|points?|stars?|because|as|since|for|but|and|which|would|is)\b)[a-z])?"
)
_FIRST_OF_LIST = re.compile(r"1[.)]\s")
_CLOSING = re.compile(r"[.!?\n]\s{0,4}[*_`\"'(]{0,4}(?P<score>-?[0-9]+)[\s*_`\"').]{0,8}$")


def read_score(reply: str, *, truncated: bool = False) -> Reading:
    """Read the integer that the reply states as its score, from 0 to 5 (ours).

    In an object, fenced or not, it is the value of "score" or "rating". In prose it is an integer
    that opens the reply ("1", "Score: 1."), is alone in the last sentence, or follows "score:" or
    "I rate"; otherwise the only integer that is not a count of things. Several must agree
    (`settle`), and a quotation is not a verdict. A score that is absent or outside 0 to 5 is
    unreadable. Prose around the number counts as repaired. Reasoning that ends with "</think>" is
    ignored; if it does not end, there is no answer. A truncated reply must have declared its score.
    """
    integer = _score_of(answer_text(reply), truncated=truncated)
    if not integer:
        return Reading(UNREADABLE, "the reply states no integer, or several")
    # Strip leading zeros instead of calling int(), which rejects very long digit strings.
    digits = integer.lstrip("0") or "0"
    if digits not in {"0", "1", "2", "3", "4", "5"}:
        return Reading(UNREADABLE, f"the reply's integer, {digits[:20]}, is not 0 to 5")
    return Reading(Scored(Fraction(int(digits))), repaired=reply.strip() != digits)


def _score_of(answer: str, *, truncated: bool) -> str:
    inner = strip_code_fence(answer)
    whole = read_literal(inner)
    if whole and whole.end == len(inner) and (integer := _score_field(whole.value)) is not None:
        return integer
    truncated = truncated and not _ALONE.fullmatch(answer)
    objects, prose = objects_in(answer) or ([], answer)
    voices = Voices.of(prose)
    statements = [
        Statement(integer, at, mark_of_object(voices, at, truncated=truncated))
        for at, literal in objects
        if (integer := _score_field(literal.value)) is not None
    ]
    statements += _prose_statements(_SCALE.sub(_blank, prose), voices, truncated=truncated)
    return settle_reply(statements, voices, truncated=truncated) or ""


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _score_field(value: object) -> str | None:
    """Return the integer in "score" or "rating", "" if it is not one; None without such a key.

    An object with two spellings of a key ("score", "Score") gives "".
    """
    if not isinstance(value, dict):
        return None
    fields = {str(key).casefold(): inner for key, inner in value.items()}
    if len(fields) < len(value):
        return ""
    key = next((key for key in ("score", "rating") if key in fields), None)
    if key is None:
        return None
    text = str(fields[key])
    integer = None if isinstance(fields[key], bool) else _FIELD.fullmatch(text)
    if not integer:
        return ""
    stated = Statement(integer["score"].removeprefix("+"), 0, Stance.OWN)
    confirmed_score = confirmed(stated, text, integer.span("score"), truncated=False)
    return (confirmed_score and confirmed_score.value) or ""


def _prose_statements(text: str, voices: Voices, *, truncated: bool) -> Iterator[Statement[str]]:
    """Yield the integers in prose, each marked by how it is stated."""
    marks: dict[int, Stance] = {}
    for match in _CUE.finditer(text):
        mark = voices.mark(match.start(), final="final" in match[0].lower())
        marks[match.end()] = mark
    closing = _CLOSING.search(text, max(0, len(text.rstrip()) - 40))
    # The last number of a truncated text may go on, or begin an item of a list.
    if closing and not truncated:
        marks[closing.start("score")] = Stance.OWN
    for match in _NUMBER.finditer(text):
        opens = voices.is_at_start(match.start())
        mark = Stance.FINAL if opens else marks.get(match.start(), Stance.MENTIONED)
        if mark in (Stance.MENTIONED, Stance.FINAL) and match["counted"]:
            continue
        if mark is Stance.MENTIONED and voices.is_reported(match.start()):
            mark = Stance.QUOTED
        if truncated and opens and _FIRST_OF_LIST.match(text, match.start()):
            continue
        value = None if match["other"] else match["score"]
        found = Statement(value, match.start(), mark)
        if statement := confirmed(found, text, match.span("score"), truncated=truncated):
            yield statement


def read_score_released(reply: str) -> Reading:
    """Read the first integer of the reply verbatim, or -1 if there is none (released script).

    Its expression ignores minus signs ("-2" is 2) and accepts digits of any script. Numbers of
    more than 18 digits are unreadable here too.
    """
    integer = _ANY_INTEGER.search(reply)
    digits = integer.group() if integer else "-1"
    if len(digits) > _LONGEST:
        return Reading(UNREADABLE, "the reply's first integer is no score")
    explanation = "" if integer else "the reply holds no integer: -1 by the released reading"
    return Reading(Scored(Fraction(int(digits))), explanation, repaired=reply.strip() != digits)


SCORE_READERS: Mapping[str, Callable[[str], Reading]] = {
    "bounded": read_score,
    "released": read_score_released,
}


def options(question: str) -> dict[str, str]:
    """Parse the options inside a CompreQA question, by letter.

    "Can it be seen? A. Yes. B. No." gives {"A": "Yes", "B": "No"}. Letters must be consecutive
    from A, so that an initial inside an option does not start a new one.
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


def read_letter(question: str, answer: str, reply: str, *, truncated: bool = False) -> Reading:
    """Score whether the reply chooses the option `answer`.

    The reply is read as by CaptionQA's default reading (`letters.chosen`). If no option can be
    read, it is unreadable; the released example counts it as wrong.
    """
    shown = options(question)
    if truncated:
        reply = certain_part(reply, tuple(shown.values()))
    place = letters.choose_option(reply, tuple(shown.values()))
    if place is None:
        return Reading(UNREADABLE, "the reply chooses none of the options")
    letter = tuple(shown)[place]
    return Reading(Scored(Fraction(int(letter == answer))), repaired=reply.strip() != letter)
