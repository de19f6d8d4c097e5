"""The states of a checkpoint in a suite, and the one table of their transitions."""

from __future__ import annotations

from enum import StrEnum

from caliper.core.notice_marks import NoticeKind
from caliper.core.transitions import Transition


class EntryState(StrEnum):
    """The state of an entry. `evaluated`: it has scores, but there was no baseline or gate."""

    REGISTERED = "registered"
    WAITING = "waiting"
    EVALUATING = "evaluating"
    EVALUATED = "evaluated"
    PASSED = "passed"
    REGRESSED = "regressed"
    INCONCLUSIVE = "inconclusive"
    FAILED = "failed"
    SOURCE_GONE = "source-gone"
    SKIPPED = "skipped"


OPEN_STATES = frozenset({EntryState.REGISTERED, EntryState.WAITING, EntryState.EVALUATING})
"""The states that a loop works on. All others are final until somebody retries."""
COMPARED_STATES = frozenset({EntryState.PASSED, EntryState.REGRESSED, EntryState.INCONCLUSIVE})
"""The states of entries that a gate judged."""


class EntryCause(StrEnum):
    """A cause of an entry's change of state."""

    CLAIM = "a loop takes its lease"
    SERVING = "its server is ready"
    START = "its run begins"
    INTERRUPTION = "the loop is interrupted"
    TROUBLE = "an endpoint does not answer"
    BUDGET = "the budget of the month is used up"
    NO_GATE = "complete, without a gate or a baseline"
    SUCCESS = "the gate passes"
    REGRESSION = "the gate finds a regression"
    DOUBT = "incomplete, or the gate is inconclusive"
    FAILURE = "it cannot be evaluated"
    LOSS = "the source is gone, or has changed"
    RETURN = "the source is delivered again"
    RETRY = "retried"
    SKIP = "skipped"
    NEW_VERSION = "the suite has another version"


_ENDS = "evaluated passed regressed inconclusive failed source-gone skipped"
_LOOP = "the loop that holds the lease; another one, six seconds after a crash"

ENTRY_TRANSITIONS = (
    Transition(EntryCause.CLAIM, "registered waiting evaluating", "evaluating", "a loop"),
    Transition(EntryCause.SERVING, "evaluating", "evaluating", _LOOP),
    Transition(EntryCause.START, "evaluating", "evaluating", _LOOP),
    Transition(EntryCause.INTERRUPTION, "evaluating", "registered", _LOOP),
    Transition(EntryCause.TROUBLE, "evaluating", "waiting", _LOOP + "; failed at the fifth time"),
    Transition(EntryCause.BUDGET, "registered waiting evaluating", "waiting", "a loop, next month"),
    Transition(EntryCause.NO_GATE, "evaluating", "evaluated", _LOOP),
    Transition(EntryCause.SUCCESS, "evaluating", "passed", _LOOP),
    Transition(EntryCause.REGRESSION, "evaluating", "regressed", _LOOP),
    Transition(EntryCause.DOUBT, "evaluating", "inconclusive", _LOOP),
    Transition(EntryCause.FAILURE, "evaluating", "failed", _LOOP),
    Transition(EntryCause.LOSS, "registered waiting evaluating", "source-gone", "a loop"),
    Transition(EntryCause.RETURN, "source-gone", "registered", "whoever delivers it"),
    Transition(EntryCause.RETRY, _ENDS + " waiting", "registered", "a person"),
    Transition(EntryCause.SKIP, "registered waiting evaluating failed", "skipped", "a person"),
    Transition(EntryCause.NEW_VERSION, "registered waiting evaluating", "skipped", "a loop"),
)
"""All transitions, with the owner of each."""

ENTRY_AFTER = {
    (EntryState(state), each.cause): EntryState(each.after)
    for each in ENTRY_TRANSITIONS
    for state in each.before.split()
}
NOTICE_KINDS = {
    EntryCause.CLAIM: NoticeKind.STARTED,
    EntryCause.SERVING: NoticeKind.SERVING,
    EntryCause.NO_GATE: NoticeKind.DECIDED,
    EntryCause.DOUBT: NoticeKind.DECIDED,
    EntryCause.SUCCESS: NoticeKind.PASSED,
    EntryCause.REGRESSION: NoticeKind.REGRESSED,
    EntryCause.FAILURE: NoticeKind.FAILED,
    EntryCause.LOSS: NoticeKind.SOURCE_GONE,
    EntryCause.RETURN: NoticeKind.REGISTERED,
    EntryCause.RETRY: NoticeKind.REGISTERED,
}
UNDER_WAY = {EntryCause.SERVING, EntryCause.START}
"""Causes during an evaluation that do not change the state."""
NEW_ROUND = {EntryCause.RETURN, EntryCause.RETRY}
MOST_ATTEMPTS = 5
"""The maximum number of attempts while an endpoint does not answer."""
MOST_CRASHES = 12
"""How many loops may crash during an entry's evaluation before the entry counts as the cause."""
