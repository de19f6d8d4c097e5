"""The outcome of a question: a score, or the reason why it has none.

A failure of the instrument (no reply, unreadable reply, dead backend) is a value of its own: never
a zero, and never missing from the counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from caliper.core.keys import canonical_json


class Reason(StrEnum):
    """Why a question has no score. The list is closed."""

    NO_CAPTION = "no_caption"
    BAD_INPUT = "bad_input"
    MEDIA_MISSING = "media_missing"
    BAD_GROUND_TRUTH = "bad_ground_truth"
    NO_REPLY = "no_reply"
    REFUSED = "refused"
    UNREADABLE = "unreadable"
    TRUNCATED = "truncated"
    BACKEND = "backend"
    TIMEOUT = "timeout"
    BUDGET = "budget"
    INTERNAL = "internal"
    NOT_DRAWN = "not_drawn"
    """In a run that is judged in part, the question is not asked. This is not a failure, and no
    figure counts it.
    """


RETRYABLE = frozenset(
    {Reason.BACKEND, Reason.TIMEOUT, Reason.INTERNAL, Reason.BUDGET, Reason.MEDIA_MISSING}
)
"""Transient reasons: a later retry may succeed, for example when an endpoint is back or a missing
picture was added. All others are final.
"""


@dataclass(frozen=True, slots=True)
class Scored:
    """An exact score. The benchmark defines its range.

    `mentioned` is False if the caption does not mention the subject of the question, which was
    then scored without a call. `labels` counts the labels listed by a judge that may list several:
    0 if it lists none, and in verdicts older than this count.
    """

    score: Fraction
    mentioned: bool = True
    labels: int = 0


@dataclass(frozen=True, slots=True)
class Unscored:
    """No score, and why."""

    reason: Reason


Outcome = Scored | Unscored
UNDRAWN = Unscored(Reason.NOT_DRAWN)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The basis of an outcome, for people who inspect single verdicts.

    `reply` is the raw reply. `explanation` is the judge's, or describes the failure. `repaired`:
    the reply broke its format but was still readable.
    """

    reply: str = ""
    explanation: str = ""
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one (question, repeat), by its dense index in the plan of the run."""

    index: int
    outcome: Outcome
    evidence: Evidence = field(default_factory=Evidence)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `from_json` reads it back to an equal verdict."""
        row: dict[str, Any] = {"index": self.index}
        if isinstance(self.outcome, Scored):
            row["score"] = str(self.outcome.score)
            if not self.outcome.mentioned:
                row["mentioned"] = False
            if self.outcome.labels:
                row["labels"] = self.outcome.labels
        else:
            row["unscored"] = str(self.outcome.reason)
        if self.evidence.reply:
            row["reply"] = self.evidence.reply
        if self.evidence.explanation:
            row["explanation"] = self.evidence.explanation
        if self.evidence.repaired:
            row["repaired"] = True
        return row

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Verdict:
        """The verdict that `to_json` wrote. Raises ValueError for anything else."""
        try:
            outcome: Outcome
            if "score" in row:
                numerator, _, denominator = row["score"].partition("/")
                score = Fraction(int(numerator), int(denominator or "1"))
                labels = int(row.get("labels", 0))
                outcome = Scored(score, row.get("mentioned", True), labels)
            else:
                outcome = Unscored(Reason(row["unscored"]))
            evidence = Evidence(
                row.get("reply", ""), row.get("explanation", ""), row.get("repaired", False)
            )
            return cls(int(row["index"]), outcome, evidence)
        except (KeyError, TypeError, AttributeError, ArithmeticError) as error:
            raise ValueError(f"not a verdict: {error!r}") from error


def better(first: Verdict, second: Verdict) -> Verdict:
    """The verdict to keep, of two about the same index.

    Scored beats Unscored, a final reason beats a transient one, and any other transient reason
    beats a spent budget; ties go to the smaller canonical bytes. Commutative and associative, so
    redelivery and order change nothing.
    """
    return min(first, second, key=_rank)


def _rank(verdict: Verdict) -> tuple[int, bytes]:
    return _precedence(verdict.outcome), canonical_json(verdict.to_json())


def _precedence(outcome: Outcome) -> int:
    """The precedence among outcomes for one index: the smallest is kept."""
    if isinstance(outcome, Scored):
        return 0
    if outcome.reason not in RETRYABLE:
        return 1
    return 3 if outcome.reason is Reason.BUDGET else 2
