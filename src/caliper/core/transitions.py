"""The transitions between the states of a run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from caliper.core.run import RunState


class Cause(StrEnum):
    """A cause of a run's change of state."""

    START = "started again"
    PLAN = "the plan is complete"
    REFUSAL = "the data cannot be planned"
    CANCELLATION = "cancelled"
    QUIET = "no outcome for 5 s"
    LATE = "a plan or outcomes arrive late"
    OUTCOMES = "every question has an outcome"
    SCORES = "enough of the outcomes are scores"
    DECISION = "the answer needs no more questions"
    FAILURE = "a model changed, or an object is lost"


@dataclass(frozen=True, slots=True)
class Transition:
    """A change from any of the states `before` to `after`, and its owner."""

    cause: StrEnum
    before: str
    after: str
    owner: str


TRANSITIONS = (
    Transition(
        Cause.START, "running cancelling cancelled finished complete failed", "planning", "gateway"
    ),
    Transition(Cause.PLAN, "planning", "running", "planner"),
    Transition(Cause.REFUSAL, "planning", "failed", "planner"),
    Transition(Cause.CANCELLATION, "planning", "cancelled", "gateway"),
    Transition(Cause.CANCELLATION, "running", "cancelling", "gateway"),
    Transition(Cause.QUIET, "cancelling", "cancelled", "aggregator"),
    Transition(Cause.LATE, "cancelled", "cancelling", "aggregator"),
    Transition(Cause.LATE, "failed", "running", "aggregator"),
    Transition(Cause.OUTCOMES, "running cancelling", "finished", "aggregator"),
    Transition(Cause.SCORES, "running cancelling finished", "complete", "aggregator"),
    Transition(Cause.DECISION, "running", "decided", "aggregator"),
    Transition(Cause.FAILURE, "running cancelling", "failed", "aggregator"),
)
"""All transitions that callers can see."""

_AFTER = {
    (RunState(state), each.cause): RunState(each.after)
    for each in TRANSITIONS
    for state in each.before.split()
}


def state_after(state: RunState, cause: Cause) -> RunState:
    """The state of a run after `cause`; the same state if the cause does not change it."""
    return _AFTER.get((state, cause), state)
