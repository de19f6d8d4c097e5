"""Messages between the stages of a run: jobs, verdicts and events."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from caliper.core.caption import Caption
from caliper.core.outcome import Verdict
from caliper.core.question import Item
from caliper.core.run import RunState
from caliper.core.terms import TokenCap


@dataclass(frozen=True, slots=True)
class PlanJob:
    """Plan the questions of a run, whose spec is in the store."""

    run: str


@dataclass(frozen=True, slots=True)
class CaptionJob:
    """One sample for the checkpoint: either to caption, with all questions about the caption in
    `items`, or to answer `items` directly from the media. `cap` limits the tokens of the run;
    None means unlimited.
    """

    run: str
    benchmark: str
    sample: str
    items: tuple[Item, ...]
    cap: TokenCap | None = None


@dataclass(frozen=True, slots=True)
class ExamineJob:
    """All questions of one benchmark about one caption, kept together.

    `caption` is None if none was supplied, and for questions about the media. `cap` as in
    `CaptionJob`.
    """

    run: str
    benchmark: str
    sample: str
    caption: Caption | None
    items: tuple[Item, ...]
    cap: TokenCap | None = None


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The verdicts of one job, at least one."""

    run: str
    benchmark: str
    sample: str
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class PlanMade:
    """The plan of a run is complete. `questions` counts its (question, repeat) pairs.

    `start` is the start of the run that was planned, counted from 1. A cap on calls leaves out
    the indices from `asked` on; None without a cap. `shards` are those of the start's job queue in
    the store; 0 if the planner publishes the jobs itself.
    """

    run: str
    questions: int
    start: int = 0
    asked: int | None = None
    shards: int = 0


@dataclass(frozen=True, slots=True)
class RunCancelled:
    """The run was cancelled. Only earlier releases publish this, and it has no effect: the store
    records which runs are cancelled (`pipeline.store.runs.is_cancelled`).
    """

    run: str


@dataclass(frozen=True, slots=True)
class RunFailed:
    """The run failed with an error that a retry would not avoid.

    `start` is the start that failed, counted from 1; 0 in messages of earlier releases.
    """

    run: str
    error: str
    start: int = 0


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The run is over. `error` is empty unless it failed. `report` is the SHA-256 of its
    report.json, empty without one.
    """

    run: str
    state: RunState
    error: str = ""
    report: str = ""


RunEvent = PlanMade | RunCancelled | RunFailed | RunEnded


class EventKind(StrEnum):
    """The kind of a run event. The topic keeps the last event of each kind."""

    PLAN = "plan"
    CANCEL = "cancel"
    FAIL = "fail"
    END = "end"


_KINDS: dict[type[RunEvent], EventKind] = {
    PlanMade: EventKind.PLAN,
    RunCancelled: EventKind.CANCEL,
    RunFailed: EventKind.FAIL,
    RunEnded: EventKind.END,
}


def kind_of(event: RunEvent) -> EventKind:
    """The kind of the event."""
    return _KINDS[type(event)]


def event_key(event: RunEvent) -> str:
    """The key of the event's message."""
    return f"{event.run}/{kind_of(event)}"


StreamMessage = PlanJob | CaptionJob | ExamineJob | Verdicts | RunEvent


MessageValue = bytes | StreamMessage
"""The value in a stream: bytes between processes, the message itself within a process."""
