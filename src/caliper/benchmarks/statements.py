"""Weigh the statements of a reply and decide which one is the answer (ours).

Judges and readers think aloud, repeat the options, and quote instructions from a caption. Every
default reading therefore collects all statements of an answer, each with a mark, and one rule
decides. No reading takes the last statement merely because it is the last.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Generic, TypeVar

from caliper.lazy import lazy_module

if TYPE_CHECKING:
    from caliper.benchmarks import attributions
else:
    attributions = lazy_module(
        "caliper.benchmarks.attributions"
    )  # Its patterns take long to compile.

Value = TypeVar("Value")


class Stance(IntEnum):
    """How clearly a statement is the writer's own answer, weakest first."""

    QUOTED = 0
    """In quotation marks or brackets, or attributed to another text."""
    MENTIONED = 1
    """An option or letter in a sentence, not called the answer."""
    STATED = 2
    """Called the answer inside a longer sentence."""
    OWN = 3
    """Called the answer in a clause of its own: "the answer is B", "I rate it 2"."""
    FINAL = 4
    """At the start of the reply, or called the final answer."""


@dataclass(frozen=True, slots=True)
class Statement(Generic[Value]):
    """A value stated at the offset `at`; None is an answer outside the choices."""

    value: Value | None
    at: int
    mark: Stance


def settle(statements: Iterable[Statement[Value]], voices: Voices) -> Value | None:
    """Return the answer on which the statements agree; None if they disagree or there is none.

    The first statement with the strongest mark outranks all earlier ones, and later ones must
    agree with it. A quotation is never an answer, but it can prevent one: if no statement is a
    clause of its own, an earlier quotation with a different value leaves the reply without an
    answer. Statements that the writer retracts ("wait") are ignored.
    """
    ordered = sorted(statements, key=lambda statement: statement.at)
    last = ordered[-1].at if ordered else 0
    start = max((at for at, sure in voices.corrections if sure or at <= last), default=0)
    ordered = [statement for statement in ordered if statement.at >= start]
    strongest = max((statement.mark for statement in ordered), default=Stance.QUOTED)
    if strongest is Stance.QUOTED:
        return None
    first = next(statement for statement in ordered if statement.mark is strongest)
    if strongest is Stance.MENTIONED:
        rivals = [statement for statement in ordered if statement.mark is Stance.MENTIONED]
    else:
        rivals = [
            statement
            for statement in ordered
            if statement.mark >= Stance.STATED and statement.at >= first.at
        ]
        if strongest is Stance.STATED:
            rivals += [
                statement
                for statement in ordered
                if statement.at < first.at and statement.mark is Stance.QUOTED
            ]
    return first.value if all(rival.value == first.value for rival in rivals) else None


_QUOTATION = re.compile(
    r"\"(?![\s}\],:])[^\"\n]{3,}+\"(?!\s?:)|\u201c[^\u201c\u201d\n]{3,}+\u201d|(?<!\w)'[^'\n]{3,}+'(?!\w)"
    r"|\([^()\n]{3,}+\)"
)
_BEFORE_OBJECT = " \t\r\n:\"'`*\u201c"
_OWN_OBJECT = re.compile(
    r"(?:(?:^|[.!?,;)\n]\s{0,4}|\b(?:is|'s|and|so)\s)"
    r"(?:my|the|final|own)(?:\s\w{1,12}){0,2}?\s?|(?<=\n))(?:verdict|answer|score|judge?ment|evaluation"
    r"|output|rating|assessment|decision|result|response|reply)(?:\s(?:is|as follows))?$"
    r"|\b(?:final|corrected|revised)$"
    r"|(?:^|[.!?,;)\n]\s{0,4})I\s(?:answer|output|respond|reply|return|say|give|conclude)"
    r"(?:\swith)?$",
    re.IGNORECASE,
)
_OWN_LINE = re.compile(r"[.!?]\s{0,4}\n\s{0,8}$")
_SENTENCE = re.compile(r"[^.!?\n]++")
_CORRECTION = re.compile(
    r"\b(?:(?P<sure>(?:wait|hold\son)(?=\s?[,.!:;\u2013\u2014\u2026-]|\s(?:no|actually|I|let|a\s\w{3,7})\b)"
    r"|correction(?=\s?[:,.!\u2013\u2014-])|(?:scratch|strike)\sthat|I\stake\s(?:that|it)\sback"
    r"|I(?:['\u2019](?:m|ve)|\sam|\shave)?\schang(?:ed?|ing)\smy\s(?:mind|answer|verdict)"
    r"|I\smis(?:read|spoke|typed)|I\swas\swrong|I\smeant\b|(?:my\smistake|my\sbad|oops)(?=\W)|no,\ssorry"
    r"|(?:not\ssure|unsure|uncertain)\swhich)"
    r"|on\s(?:second\sthoughts?|reflection)|sorry(?=\s?[,.!:;\u2013\u2014-])|I\smean\b"
    r"|(?:or\s)?rather(?=,)|make\sthat|let\sme\s(?:correct|revise|reconsider|recheck|re-?read)|actually)",
    re.IGNORECASE,
)
# "May be" is no answer, and it withdraws the statements before it.
_MAY_BE = re.compile(
    r"\W{0,4}(?:\w{1,12}\s){0,3}(?:may|might|could|maybe|perhaps)\b", re.IGNORECASE
)
# Two spaces mark a blanked-out object.
_BEFORE_CORRECTION = re.compile(
    r"(?:^|[.!?,;:\n)\u2013\u2014\u2026]|\s-|\s\s|\b(?:no|hmm|oh|but|ah|I\sam|I['\u2019]m))"
    r"[\s\"'*_`]{0,4}$",
    re.IGNORECASE,
)
_SUBJECT = r"(?:the|it|he|she|they|there|this|that|an?)\b"
# "If the door is open, the answer is B"; "if I had to guess" is no condition unless a letter
# precedes: "E, but if I had to guess, A".
_CONDITION = re.compile(
    rf"(?:(?:\A|[.!?\n]\s{{0,3}})(?:if|unless|had|were)\s{_SUBJECT}"
    r"|\A\W{0,8}[A-Z]\W{1,4}(?:(?:but|though|although|still|however),?\s)?"
    r"if\s(?:I|one|we|you|forced|pressed|pushed)\b)"
    r"(?:(?!,\s(?:but|so|hence|therefore|thus)\b)[^.!?;\n])*\Z",
    re.IGNORECASE,
)
_CONDITION_BEHIND = re.compile(
    rf"[)*\"'`]{{0,3}}\s(?:only\s)?(?:if|unless)(?:\s{_SUBJECT}|\W{{0,4}}\Z)", re.IGNORECASE
)
_LONGEST_CONDITION = 160
_CLAUSE_START = re.compile(
    r"(?:^|[.!?,;\n\u3002\uff0c\uff01]|\b(?:but|so|hence|therefore|thus)(?=\s))"
    r"[\s*\"'`#>_~()\u2705-]{0,12}$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Voices:
    """The parts of a text that are quotations or report another text."""

    text: str
    first: int
    quotations: Sequence[tuple[int, int]]
    reports: Sequence[tuple[int, int]]
    quoted_spans: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, text: str) -> Voices:
        """Analyze the voices of a text."""
        first = next((at for at, character in enumerate(text) if character.isalnum()), len(text))
        return cls(
            text,
            first,
            [match.span() for match in _QUOTATION.finditer(text)],
            [match.span() for match in attributions.REPORTED.finditer(text)],
            [
                (match.start() - 1, match.end())
                for match in _SENTENCE.finditer(text)
                if attributions.DISOWNED.search(text, match.start(), match.end())
            ],
        )

    @property
    def corrections(self) -> list[tuple[int, bool]]:
        """Offsets of corrections, and whether each certainly retracts the text before it."""
        return [
            (len(self.text), True)
            if _MAY_BE.match(self.text, match.end())
            else (match.start(), match["sure"] is not None)
            for match in _CORRECTION.finditer(self.text)
            if _BEFORE_CORRECTION.search(self.text, max(0, match.start() - 12), match.start())
            and not self.is_quoted(match.start())
        ]

    def is_at_start(self, at: int) -> bool:
        """Whether the offset is at the start: no letter or digit precedes it."""
        return at <= self.first and not is_inside(at, self.quoted_spans)

    def is_quoted(self, at: int) -> bool:
        """Whether the offset lies inside quotation marks or brackets, after the opening one."""
        return is_inside(at, self.quotations)

    def is_reported(self, at: int) -> bool:
        """Whether the offset lies in a quotation, a reported statement or a condition."""
        return (
            self.is_quoted(at)
            or is_inside(at, self.reports)
            or is_inside(at, self.quoted_spans)
            or self.is_conditional(at)
        )

    def is_conditional(self, at: int) -> bool:
        """Whether the sentence before the offset is a condition: "if the door is open, ..."."""
        begin = max(0, at - _LONGEST_CONDITION)
        return _CONDITION.search(self.text, begin, at) is not None

    def starts_clause(self, at: int) -> bool:
        """Whether a sentence or clause starts at the offset."""
        return _CLAUSE_START.search(self.text, max(0, at - 40), at) is not None

    def mark(self, at: int, *, final: bool = False) -> Stance:
        """Return the mark of a statement that starts at `at`; `final` if it calls itself final."""
        if self.is_at_start(at):
            return Stance.FINAL
        if self.is_reported(at):
            return Stance.QUOTED
        if not self.starts_clause(at):
            return Stance.STATED
        return Stance.FINAL if final else Stance.OWN

    def mark_of_object(self, at: int) -> Stance:
        """Return the mark of an object that starts at `at`, judged by the words before it."""
        if is_inside(at, self.quoted_spans):
            return Stance.QUOTED
        own_line = _OWN_LINE.search(self.text, max(0, at - 16), at)
        before = self.text[max(0, at - 200) : at].rstrip(_BEFORE_OBJECT)
        before = before.removesuffix("json").rstrip(_BEFORE_OBJECT)
        if at <= 200 and not any(character.isalnum() for character in before):
            return Stance.FINAL
        if attributions.QUOTED_OBJECT.search(before):
            return Stance.QUOTED
        if own := _OWN_OBJECT.search(before):
            return Stance.FINAL if "final" in own[0].lower() else Stance.OWN
        if own_line:
            return Stance.OWN
        return Stance.QUOTED if self.is_quoted(at) else Stance.STATED


def is_inside(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a span starts before `at` and ends after it; spans are sorted and disjoint."""
    place = bisect_left(spans, (at, 0)) - 1
    return place >= 0 and at < spans[place][1]


def is_limited(text: str, end: int) -> bool:
    """Whether a condition follows the answer that ends at `end`: "A if it were red"."""
    return _CONDITION_BEHIND.match(text, end) is not None
