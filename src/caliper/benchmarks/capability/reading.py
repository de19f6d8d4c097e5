"""What a judge's reply says: a score, or the categories that the caption states.

`strict` reads what the released script reads: code fences around one JSON or Python
literal; a score as a number or one of "-1", "0", "1"; labels as a text, a list, or a text
that holds a list, trimmed and lower-cased, a repeated "name: explanation" line counting as
the name. The annotation that the judge copied is not compared.

`lenient` also recovers, marked `repaired`: a trailing comma, prose around the object, a
bare score or label, labels parted by commas, thoughts before the answer; of several
well-formed verdicts the last, so that one quoted from the caption counts for nothing, nor does
one that the caption is said to hold. When any object in the reply breaks off there is none: what
was quoted inside it or before it must not stand in for the judge's own.

A label outside the task's list is a label that is not the annotated one, as in the
released script. Neither mode ever raises, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from caliper.benchmarks.capability.tasks import NOT_STATED
from caliper.benchmarks.literals import literal_list, read_literal
from caliper.benchmarks.replies import told, unfenced

Value = TypeVar("Value")
_SCORES = {"-1": -1, "0": 0, "1": 1}
_LOOSE_SCORES = _SCORES | {"+1": 1, "1.0": 1, "0.0": 0, "-1.0": -1}
_WRAPPING = " \t\r\n\"'`.*"
# "{x}" in prose is no object; whatever else begins with a brace is one, or breaks off.
_NO_OBJECT = re.compile(r"\{[^{}\"']*\}")
# "The caption says" right in front of an object.
_QUOTED = re.compile(
    r"\b(?:caption|text|it|which|that)\s+(?:\w+\s+){0,2}?(?:says|said|holds|held|contains"
    r"|contained|orders|ordered|asks|asked|wants|wanted|tells|told)"
    r"(?:\s+(?:an?|the|this|me|us|for|to|order|object|text|json|verdict|output|give|write|return"
    r"|answer|reply|with))*[\s:\"'`*\u201c]*(?:```(?:json)?\s*)?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Read(Generic[Value]):
    """A value out of a reply, the judge's reason, and whether the format was broken."""

    value: Value
    reason: str = ""
    repaired: bool = False


Extract = Callable[[Mapping[Any, Any]], Read[Value] | None]
"""The value in an object of a reply, None when it has none."""


def read_score(text: str, *, lenient: bool) -> Read[int] | None:
    """The score of an open task, -1, 0 or 1; None when the reply holds none."""
    found = _from_objects(text, partial(_score, lenient=lenient), lenient=lenient)
    if found is None and lenient:
        bare = _LOOSE_SCORES.get(unfenced(told(text)).strip(_WRAPPING))
        return None if bare is None else Read(bare, repaired=True)
    return found


def read_labels(
    text: str, known: tuple[str, ...], *, lenient: bool
) -> Read[tuple[str, ...]] | None:
    """The labels of a category task, lower case, at least one; None when there are none.

    `known` are the task's categories: a bare label has to be one of them or N/A.
    """

    def extract(fields: Mapping[Any, Any]) -> Read[tuple[str, ...]] | None:
        found = _labels(fields.get("pred"), known, lenient=lenient)
        return found and Read(found.value, _reason(fields), found.repaired)

    found = _from_objects(text, extract, lenient=lenient)
    if found is None and lenient:
        bare = _labels(unfenced(told(text)), known, lenient=True)
        if bare and set(bare.value) <= {*known, NOT_STATED}:
            return Read(bare.value, repaired=True)
    return found


def _from_objects(text: str, extract: Extract[Value], *, lenient: bool) -> Read[Value] | None:
    inner = unfenced(text)
    whole = read_literal(inner)
    if whole and whole.end == len(inner) and isinstance(whole.value, dict) and not whole.repaired:
        found = extract(whole.value)
        if found:
            return found
    if not lenient:
        return None
    own = [read for read, quoted in _verdicts(told(text), extract) if not quoted]
    return Read(own[-1].value, own[-1].reason, repaired=True) if own else None


def _verdicts(text: str, extract: Extract[Value]) -> list[tuple[Read[Value], bool]]:
    """The values of the objects in the text, and whether a caption is said to hold them.

    There are none when an object breaks off anywhere: what stands in it, or before it, may be
    what its writer quotes.
    """
    found: list[tuple[Read[Value], bool]] = []
    at = text.find("{")
    while at >= 0:
        literal = read_literal(text, at)
        if literal is None and not _NO_OBJECT.match(text, at):
            return []
        if literal:
            quoted = _QUOTED.search(text, max(0, at - 200), at) is not None
            found.extend((read, quoted) for read in _values(literal.value, extract))
        at = text.find("{", literal.end if literal else at + 1)
    return found


def _values(value: object, extract: Extract[Value]) -> Iterator[Read[Value]]:
    """The value of an object, or else those of the objects in it, but for those in its texts."""
    if isinstance(value, dict) and (found := extract(value)):
        yield found
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _values(inner, extract)


def _reason(fields: Mapping[Any, Any]) -> str:
    reason = fields.get("reason")
    return reason if isinstance(reason, str) else ""


def _score(fields: Mapping[Any, Any], *, lenient: bool) -> Read[int] | None:
    given = fields.get("score")
    if not isinstance(given, int | float | str):
        return None
    written = given if isinstance(given, str) else str(given)
    exact = _SCORES.get(written)
    if exact is not None:
        return Read(exact, _reason(fields))
    loose = _LOOSE_SCORES.get(written.strip(_WRAPPING)) if lenient else None
    return None if loose is None else Read(loose, _reason(fields), repaired=True)


def _labels(
    given: object, known: tuple[str, ...], *, lenient: bool
) -> Read[tuple[str, ...]] | None:
    listed = literal_list(given) if isinstance(given, str) else given
    if listed is None:
        listed = [given]
    if not isinstance(listed, list) or not listed:
        return None
    if not all(isinstance(label, str) and label.strip() for label in listed):
        return None
    exact = tuple(_folded(label) for label in listed)
    if not lenient or set(exact) <= {*known, NOT_STATED}:
        return Read(exact)
    commas = (part.strip(_WRAPPING) for label in listed for part in label.split(","))
    parts = tuple(_folded(part) for part in commas if part)
    if parts and set(parts) <= {*known, NOT_STATED}:
        return Read(parts, repaired=True)
    return Read(exact)


def _folded(label: str) -> str:
    return label.split(":", 1)[0].strip().lower()
