"""What became of a question: a score, or the reason why there is none.

A failure of the instrument (no reply, unreadable reply, dead backend) is a value of its
own. It is never a zero, and never left out of the counts.
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


PASSING = frozenset(
    {Reason.BACKEND, Reason.TIMEOUT, Reason.INTERNAL, Reason.BUDGET, Reason.MEDIA_MISSING}
)
"""The reasons that may have passed when the same job is tried again at another time: an endpoint
comes back, a picture is put where it was missing. The others are final.
"""


@dataclass(frozen=True, slots=True)
class Scored:
    """A score, exact. What its range means is the benchmark's business.

    `mentioned` is False where the caption does not even mention what was asked about, and
    the score was given without asking. `labels` counts the labels that a judge listed who may list
    several; 0 where it lists none, and in verdicts of before they were counted.
    """

    score: Fraction
    mentioned: bool = True
    labels: int = 0


@dataclass(frozen=True, slots=True)
class Unscored:
    """No score, and why."""

    reason: Reason


Outcome = Scored | Unscored


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an outcome rests on, for people who look at single verdicts.

    `reply` is the raw reply, `explanation` what the judge said or what went wrong,
    `repaired` tells that the reply broke its format and was still readable.
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
        written: dict[str, Any] = {"index": self.index}
        if isinstance(self.outcome, Scored):
            written["score"] = str(self.outcome.score)
            if not self.outcome.mentioned:
                written["mentioned"] = False
            if self.outcome.labels:
                written["labels"] = self.outcome.labels
        else:
            written["unscored"] = str(self.outcome.reason)
        if self.evidence.reply:
            written["reply"] = self.evidence.reply
        if self.evidence.explanation:
            written["explanation"] = self.evidence.explanation
        if self.evidence.repaired:
            written["repaired"] = True
        return written

    @classmethod
    def from_json(cls, written: dict[str, Any]) -> Verdict:
        """The verdict that `to_json` wrote. Raises ValueError for anything else."""
        try:
            outcome: Outcome
            if "score" in written:
                numerator, _, denominator = written["score"].partition("/")
                score = Fraction(int(numerator), int(denominator or "1"))
                labels = int(written.get("labels", 0))
                outcome = Scored(score, written.get("mentioned", True), labels)
            else:
                outcome = Unscored(Reason(written["unscored"]))
            evidence = Evidence(
                written.get("reply", ""),
                written.get("explanation", ""),
                written.get("repaired", False),
            )
            return cls(int(written["index"]), outcome, evidence)
        except (KeyError, TypeError, AttributeError, ArithmeticError) as error:
            raise ValueError(f"not a verdict: {error!r}") from error


def better(first: Verdict, second: Verdict) -> Verdict:
    """The one of two verdicts about the same index that stands.

    Scored beats Unscored, a final reason one that may have passed, what was asked what no budget
    was left for, then the smaller canonical bytes: commutative and associative, so redelivery
    and order change nothing.
    """
    return min(first, second, key=_rank)


def _rank(verdict: Verdict) -> tuple[int, bytes]:
    return _standing(verdict.outcome), canonical_json(verdict.to_json())


def _standing(outcome: Outcome) -> int:
    """How an outcome stands among others about its index: the smallest is kept."""
    if isinstance(outcome, Scored):
        return 0
    if outcome.reason not in PASSING:
        return 1
    return 3 if outcome.reason is Reason.BUDGET else 2
