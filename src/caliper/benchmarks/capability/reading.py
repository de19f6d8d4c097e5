"""Read a judge's reply: a score, or the categories that the caption states.

`strict` accepts what the released script does: one JSON or Python literal, possibly in code
fences; a score as a number or one of "-1", "0", "1"; labels as a text, a list, or a text that
contains a list. Labels are trimmed and lower-cased, and a repeated "name: explanation" line
counts as the name. The annotation copied by the judge is not compared.

`lenient` also accepts the following, marked `repaired`: a trailing comma, prose around the
object, a bare score or label, "Score: 1", labels separated by commas, reasoning before the
answer. Several verdicts must agree (`settle`): one that the judge calls its own or final
outranks earlier ones, and a quotation is not a verdict, nor is a rubric (`confirmed`). If any
object in the reply is incomplete or repeats a key, there is no verdict, because a quotation inside
or before it must not replace the judge's own. A truncated reply must have declared its verdict.

A label outside the task's list counts as a wrong label, as in the released script. Neither mode
ever raises, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from caliper.benchmarks.capability.tasks import NOT_STATED, TASKS
from caliper.benchmarks.literals import literal_list, objects_in, read_literal
from caliper.benchmarks.replies import answer_text, strip_code_fence
from caliper.benchmarks.score_statements import confirmed
from caliper.benchmarks.statements import Stance, Statement, Voices
from caliper.benchmarks.truncation import mark_of_object, settle_reply

Value = TypeVar("Value")
_SCORES = {"-1": -1, "0": 0, "1": 1}
_LOOSE_SCORES = _SCORES | {"+1": 1, "1.0": 1, "0.0": 0, "-1.0": -1}
_WRAPPING = " \t\r\n\"'`.*"
_SCORE_STATEMENT = re.compile(
    r"\b(?:(?:(?:the|my|final|overall)\s){0,3}(?:score|rating)\b[\"'*_\s]{0,4}(?:is\b|[:=])"
    r"|I(?:['\u2019]d|\swould)?\s(?:rate|score|give|assign)\s(?:it|this|the)\b[^0-9\n.;+-]{0,30}?)"
    r"[\"'*_\s]{0,4}(?P<score>[+-]?[0-9]{1,9}(?:\.[0-9]{1,9})?)(?![A-Za-z0-9%]|[.,][0-9])"
    r"(?P<other>[\"'*_]{0,4}\s?(?:/|-|\u2013|\bor\b|\bto\b|\bout\sof\b)\s?[+-]?[0-9])?",
    re.IGNORECASE,
)
# Elsewhere an object quotes, gives an example, or recalls the rubric.
_NESTED = re.compile(
    r"(?:(?:final|my|your)[_ ])?(?:result|verdict|answer|output|response|reply|decision|final|score"
    r"|evaluation|judge?ment|assessment|data|json)s?|" + "|".join(name.casefold() for name in TASKS)
)
_LIST = re.compile(r"\[\s{0,4}[\"'][^\[\]\n]{1,400}\]")


@dataclass(frozen=True, slots=True)
class ReplyValue(Generic[Value]):
    """A value read from a reply, the judge's reason, and whether the format was broken."""

    value: Value
    reason: str = ""
    repaired: bool = False


Extract = Callable[[Mapping[Any, Any]], ReplyValue[Value] | None]
"""Extract the value from an object in a reply; None if it has none."""


def read_score(text: str, *, lenient: bool, truncated: bool = False) -> ReplyValue[int] | None:
    """Read the score of an open task: -1, 0 or 1; None if the reply has none."""
    extract = partial(_score, lenient=lenient)
    prose = partial(_score_statements, truncated=truncated)
    reading = _from_objects(text, extract, prose, lenient=lenient, truncated=truncated)
    if reading is None and lenient:
        bare = _LOOSE_SCORES.get(strip_code_fence(answer_text(text)).strip(_WRAPPING))
        return None if bare is None else ReplyValue(bare, repaired=True)
    return reading


def read_labels(
    text: str, categories: tuple[str, ...], *, lenient: bool, truncated: bool = False
) -> ReplyValue[tuple[str, ...]] | None:
    """Read the labels of a category task, in lower case; None if there are none.

    `categories` are the task's; a bare label must be one of them or N/A.
    """

    def extract(fields: Mapping[Any, Any]) -> ReplyValue[tuple[str, ...]] | None:
        reading = _labels(fields.get("pred"), categories, lenient=lenient)
        return reading and ReplyValue(reading.value, _reason(fields), reading.repaired)

    def labels_in_prose(text: str, voices: Voices) -> list[Statement[tuple[str, ...]]]:
        return list(_label_statements(text, voices, categories))

    reading = _from_objects(text, extract, labels_in_prose, lenient=lenient, truncated=truncated)
    if reading is None and lenient:
        bare = _labels(strip_code_fence(answer_text(text)), categories, lenient=True)
        if bare and set(bare.value) <= {*categories, NOT_STATED}:
            return ReplyValue(bare.value, repaired=True)
    return reading


def _from_objects(
    text: str,
    extract: Extract[Value],
    prose: Callable[[str, Voices], list[Statement[Value]]],
    *,
    lenient: bool,
    truncated: bool,
) -> ReplyValue[Value] | None:
    inner = strip_code_fence(text)
    whole = read_literal(inner, duplicates=not lenient)
    if whole and whole.end == len(inner) and isinstance(whole.value, dict) and not whole.repaired:
        unique_keys = not lenient or len(_plain_keys(whole.value)) == len(whole.value)
        reading = extract(whole.value) if unique_keys else None
        if reading:
            return reading
    if not lenient:
        return None
    objects = objects_in(answer_text(text))
    if objects is None:
        return None
    voices = Voices.of(objects[1])
    readings = [
        (candidate, Statement(candidate.value, at, mark_of_object(voices, at, truncated=truncated)))
        for at, literal in objects[0]
        for candidate in _values(literal.value, extract)
    ]
    statements = [*(statement for _, statement in readings), *prose(objects[1], voices)]
    value = settle_reply(statements, voices, truncated=truncated)
    reasons = (candidate.reason for candidate, _ in readings if candidate.value == value)
    return None if value is None else ReplyValue(value, next(reasons, ""), repaired=True)


def _score_statements(text: str, voices: Voices, *, truncated: bool) -> list[Statement[int]]:
    """Return the scores stated in prose ("Score: -1"). An ambiguous one has no value."""
    statements = (
        confirmed(
            Statement(
                None if match["other"] else _LOOSE_SCORES.get(match["score"]),
                match.start(),
                voices.mark(match.start(), final="final" in match[0].lower()),
            ),
            text,
            match.span("score"),
            truncated=truncated,
        )
        for match in _SCORE_STATEMENT.finditer(text)
    )
    return [statement for statement in statements if statement]


def _label_statements(
    text: str, voices: Voices, categories: tuple[str, ...]
) -> Iterator[Statement[tuple[str, ...]]]:
    """Yield label lists that prose attributes to the judge or to others: "My answer: ["up"]"."""
    for match in _LIST.finditer(text):
        mark = voices.mark_of_object(match.start())
        labels = _labels(match[0], categories, lenient=True) if mark is not Stance.STATED else None
        if labels and set(labels.value) <= {*categories, NOT_STATED}:
            yield Statement(labels.value, match.start(), mark)


def _values(value: object, extract: Extract[Value]) -> Iterator[ReplyValue[Value]]:
    """Yield the value of an object, or else of the objects nested in it as its verdict."""
    fields = _plain_keys(value) if isinstance(value, dict) else {}
    if reading := extract(fields):
        yield reading
        return
    nested = [inner for key, inner in fields.items() if _NESTED.fullmatch(key)]
    for inner in value if isinstance(value, list) else nested:
        yield from _values(inner, extract)


def _plain_keys(fields: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Fold the keys to lower case; empty if that makes two keys equal."""
    plain = {str(key).casefold(): value for key, value in fields.items()}
    return plain if len(plain) == len(fields) else {}


def _reason(fields: Mapping[Any, Any]) -> str:
    reason = fields.get("reason")
    return reason if isinstance(reason, str) else ""


def _score(fields: Mapping[Any, Any], *, lenient: bool) -> ReplyValue[int] | None:
    value = fields.get("score")
    if not isinstance(value, int | float | str):
        return None
    score_text = value if isinstance(value, str) else str(value)
    exact = _SCORES.get(score_text)
    if exact is not None:
        return ReplyValue(exact, _reason(fields))
    loose = _LOOSE_SCORES.get(score_text.strip(_WRAPPING)) if lenient else None
    return None if loose is None else ReplyValue(loose, _reason(fields), repaired=True)


def _labels(
    value: object, categories: tuple[str, ...], *, lenient: bool
) -> ReplyValue[tuple[str, ...]] | None:
    labels = literal_list(value) if isinstance(value, str) else value
    if labels is None:
        labels = [value]
    if not isinstance(labels, list) or not labels:
        return None
    if not all(isinstance(label, str) and label.strip() for label in labels):
        return None
    exact = tuple(_normalized_label(label) for label in labels)
    if not lenient or set(exact) <= {*categories, NOT_STATED}:
        return ReplyValue(exact)
    commas = (part.strip(_WRAPPING) for label in labels for part in label.split(","))
    parts = tuple(_normalized_label(part) for part in commas if part)
    if parts and set(parts) <= {*categories, NOT_STATED}:
        return ReplyValue(parts, repaired=True)
    return ReplyValue(exact)


def _normalized_label(label: str) -> str:
    return label.split(":", 1)[0].strip().lower()
