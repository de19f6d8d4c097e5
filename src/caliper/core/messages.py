"""What travels between the stages of a run: jobs, verdicts, events."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from caliper.core.caps import TokenCap
from caliper.core.caption import Caption
from caliper.core.outcome import Verdict
from caliper.core.question import Item
from caliper.core.run import RunState


@dataclass(frozen=True, slots=True)
class PlanJob:
    """Lay out the questions of a run, whose spec is in the store."""

    run: str


@dataclass(frozen=True, slots=True)
class CaptionJob:
    """One sample that the checkpoint is shown: to caption it, where `items` hold all questions
    about its caption, or to answer `items`, which are asked from the media. `cap` is what the
    run may use, None for any number of tokens.
    """

    run: str
    benchmark: str
    sample: str
    items: tuple[Item, ...]
    cap: TokenCap | None = None


@dataclass(frozen=True, slots=True)
class ExamineJob:
    """All questions of one benchmark about one caption, kept together.

    `caption` is None when none was supplied, and for questions asked from the media. `cap` as
    of a CaptionJob.
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
    """The plan of a run is whole: so many (question, repeat) pairs.

    `start` says which start of the run it answers, counted from 1. Indices from `asked` on are
    left out by a cap on calls; None where there is none.
    """

    run: str
    questions: int
    start: int = 0
    asked: int | None = None


@dataclass(frozen=True, slots=True)
class RunCancelled:
    """Jobs of the run are acknowledged without work."""

    run: str


@dataclass(frozen=True, slots=True)
class RunFailed:
    """Another attempt at the run would meet the same error."""

    run: str
    error: str


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The run is over. `error` says why when it failed, `report` is the SHA-256 of its
    report.json, empty when there is none.
    """

    run: str
    state: RunState
    error: str = ""
    report: str = ""


RunEvent = PlanMade | RunCancelled | RunFailed | RunEnded


class EventKind(StrEnum):
    """What a message about a run tells. Of each kind the topic keeps the last."""

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
    """What the event tells."""
    return _KINDS[type(event)]


def event_key(event: RunEvent) -> str:
    """The key of its message."""
    return f"{event.run}/{kind_of(event)}"


StreamMessage = PlanJob | CaptionJob | ExamineJob | Verdicts | RunEvent


MessageValue = bytes | StreamMessage
"""What a stream carries: bytes between processes, the message itself within one."""
