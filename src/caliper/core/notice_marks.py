"""Marks on an entry of a suite: which of its transitions people are told of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from caliper.core.keys import fields_of

MOST_MARKS = 24
"""Marks that an entry keeps, the last ones: eight rounds of three."""


class NoticeKind(StrEnum):
    """What people are told. `decided`: evaluated or inconclusive, so neither of the next two."""

    REGISTERED = "registered"
    STARTED = "started"
    DECIDED = "decided"
    PASSED = "passed"
    REGRESSED = "regressed"
    FAILED = "failed"
    SOURCE_GONE = "source-gone"


@dataclass(frozen=True, slots=True)
class NoticeMark:
    """A transition that is told. It is written with the transition, so none is lost by a crash.

    `round` counts how often the entry was retried or delivered again: in a round, each kind
    happens once.
    """

    kind: NoticeKind
    round: int
    time: str
    state: str
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        return fields_of(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> NoticeMark:
        """Read a mark. Raises KeyError, TypeError or ValueError."""
        texts = {name: str(values[name]) for name in ("time", "state", "reason")}
        return cls(NoticeKind(values["kind"]), int(values["round"]), **texts)


def with_mark(marks: tuple[NoticeMark, ...], mark: NoticeMark) -> tuple[NoticeMark, ...]:
    """The marks and another one, unless its kind is marked in its round: a claim after a crash
    starts nothing again.
    """
    if any((each.kind, each.round) == (mark.kind, mark.round) for each in marks):
        return marks
    return (*marks, mark)[-MOST_MARKS:]
