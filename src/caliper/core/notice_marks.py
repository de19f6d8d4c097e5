"""Marks on an entry of a suite: which of its transitions people are told of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from caliper.core.keys import fields_of

MOST_MARKS = 24
"""Marks that an entry keeps, the last ones: six rounds of four."""


class NoticeKind(StrEnum):
    """What people are told. `serving`: its server is ready, and its run begins. `decided`:
    evaluated or inconclusive, so neither of the next two.
    """

    REGISTERED = "registered"
    STARTED = "started"
    SERVING = "serving"
    DECIDED = "decided"
    PASSED = "passed"
    REGRESSED = "regressed"
    FAILED = "failed"
    SOURCE_GONE = "source-gone"


@dataclass(frozen=True, slots=True)
class NoticeMark:
    """A transition that is told. It is written with the transition, so none is lost by a crash.

    `round` counts how often the entry was retried or delivered again: in a round, each kind
    happens once. What happens once in each claim has the number of its `claim`, others 0.
    """

    kind: NoticeKind
    round: int
    time: str
    state: str
    reason: str = ""
    claim: int = 0

    def to_json(self) -> dict[str, Any]:
        return fields_of(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> NoticeMark:
        """Read a mark. Raises KeyError, TypeError or ValueError."""
        texts = {name: str(values[name]) for name in ("time", "state", "reason")}
        claim = int(values.get("claim", 0))
        return cls(NoticeKind(values["kind"]), int(values["round"]), **texts, claim=claim)


def with_mark(marks: tuple[NoticeMark, ...], mark: NoticeMark) -> tuple[NoticeMark, ...]:
    """The marks and another one, unless its kind is marked in its round and claim: a claim after
    a crash starts nothing again.
    """
    new = (mark.kind, mark.round, mark.claim)
    if any((each.kind, each.round, each.claim) == new for each in marks):
        return marks
    return (*marks, mark)[-MOST_MARKS:]
