"""Decide whether a number that a judge writes is its verdict (ours).

Judges also recall the scale, weigh a condition, ask themselves, or deny a score: "the highest
score is 5", "the score is 1 if the caption names it", "Score: 4? No", "it does not deserve a 5".
"""

from __future__ import annotations

import re
from dataclasses import replace

from caliper.benchmarks.statements import Stance, Statement, Value

_LONGEST_BEFORE = 100
_DENIED = re.compile(
    r"(?:\bnot|n['\u2019]t|\bcannot|\bnever)(?:\s(?:an?|the|it|this|that|sentence|caption|phrase|be|been"
    r"|giv(?:e|en|ing)|deserv(?:e|es|ing)|merit|warrant|earn|get|reach|rated?|scored?|assign|worth|think|say|is|quite"
    r"|really|even|as|of|rating|full|perfect)\b){0,8}[\s*_\"'(]{1,4}\Z",
    re.IGNORECASE,
)
# "The maximum score is 5", "Max score: 5"; but "it earns the maximum score: 5" is a verdict.
_LIMIT_NAME = (
    r"(?:max(?:im(?:um|al))?\b\.?|min(?:im(?:um|al))?\b\.?|highest|lowest"
    r"|(?:best|perfect|possible|ideal)\s(?=possible|score|rating|mark))"
    r"(?:\s?(?:possible|scores?|rating|mark|value|number|points?)\b){0,3}"
)
_LIMIT = re.compile(
    r"(?:\bout\sof(?:\s(?:an?|the|total|possible|max(?:imum)?|of)\b){0,4}"
    r"|(?<!\badd\s)(?<!\badds\s)\bup\sto"
    rf"|\b{_LIMIT_NAME}\s(?:here\s)?(?:is|are|was|(?:would|could|can)\sbe)"
    rf"|(?<![A-Za-z] )\b(?:the\s|an?\s)?{_LIMIT_NAME}[*_]{{0,2}}\s?[:=][*_]{{0,2}}"
    r"|\b(?:otherwise|else),?|\bstep"
    r"|(?<=\w\s)(?<!\bthe\s)(?<!\bmy\s)(?<!\bsingle\s)(?<!\binteger\s)number(?:\sis)?"
    r")[\s*_\"'(]{1,4}\Z",
    re.IGNORECASE,
)
_ASKED = re.compile(r"[\"'*_)\]]{0,4}[ \t]?\?")
_CONDITION = re.compile(
    r"[\"'*_)\]]{0,4}(?:,?[ \t]\(?(?:only[ \t])?"
    r"(?:if\b(?![ \t](?:I[ \t](?:had|have|must)|only)\b|[ \t]any(?:thing)?[.,)])"
    r"|when(?:ever)?\b|unless\b|provided\b|as[ \t]long[ \t]as\b)"
    r"|[ \t]only[ \t]for\b|[ \t](?:means?|requires?|would[ \t](?:mean|require|need))\b|[ \t]?="
    r"|[ \t]?(?:\([^()\n]{1,40}\)|for[ \t][^.,;\n]{1,40}),[ \t](?:and[ \t]|or[ \t])?"
    r"[+-]?[0-9][ \t]?(?:\(|=|(?:for|if|otherwise)\b))",
    re.IGNORECASE,
)
# "If everything agreed, I would give 5"
_HYPOTHESIS = re.compile(
    r"(?:\A|[.!?\n]\s{0,3})(?:if\s(?!(?:I|we|you)\b)|had\s)[^.!?\n]{1,90}\bwould\b"
    r"(?:(?!\b(?:but|so)\b)[^.!?\n]){0,40}\Z",
    re.IGNORECASE,
)
_LONGEST_HYPOTHESIS = 160
# The number and the clause have ended: "4\n", "4. The", "4, as", "**4**", "4/5".
_COMPLETE = re.compile(
    r"[\"'`)\]]{0,3}(?:[*_]|[ \t]?\n|[.!;][\"')*_]{0,3}\s|\s?(?:/|out\sof\s)\s?5(?![0-9])"
    r"|,?\s(?:because|as|since|due|but|given)\b|,\s?[\"']\w"
    r"|,\s(?!(?:and|or|to|otherwise|else|maybe|perhaps)\b)[a-z]{2})",
    re.IGNORECASE,
)


def confirmed(
    statement: Statement[Value], text: str, span: tuple[int, int], *, truncated: bool
) -> Statement[Value] | None:
    """Return the statement of the number at `span`, as far as the words around it allow.

    None if it is denied, asked, or the end of a scale. One with a condition or in a list of the
    scale's values is a mention without a value. In a truncated text a number whose clause has
    not ended has no value: a digit or a condition may follow.
    """
    start, end = span
    before = max(0, start - _LONGEST_BEFORE)
    if any(words.search(text, before, start) for words in (_DENIED, _LIMIT)):
        return None
    if _ASKED.match(text, end):
        return None
    hypothesis = _HYPOTHESIS.search(text, max(0, start - _LONGEST_HYPOTHESIS), start)
    if hypothesis or _CONDITION.match(text, end):
        return replace(statement, value=None, mark=min(statement.mark, Stance.MENTIONED))
    if truncated and not _COMPLETE.match(text, end):
        return replace(statement, value=None)
    return statement
