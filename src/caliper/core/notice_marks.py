"""Marks on an entry of a suite: the transitions that people are notified of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from caliper.core.keys import fields_of

MOST_MARKS = 24
"""The maximum number of marks kept per entry, the latest: six rounds of four."""


class NoticeKind(StrEnum):
    """The kind of a notice. `serving`: the checkpoint's server is ready and its run begins.
    `decided`: evaluated or inconclusive, so neither of the next two.
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
    """A transition to notify people of. Written with the transition, so a crash loses none.

    `round` counts how often the entry was retried or delivered again; each kind happens once per
    round. Kinds that happen once per claim have the number of their `claim`, others 0.
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
    """The marks plus another one, unless its kind is already marked in its round and claim: a
    claim after a crash does not notify again.
    """
    new = (mark.kind, mark.round, mark.claim)
    if any((each.kind, each.round, each.claim) == new for each in marks):
        return marks
    return (*marks, mark)[-MOST_MARKS:]
