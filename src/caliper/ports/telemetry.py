"""Ports to those who watch a run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from caliper.core.errors import CaliperError
from caliper.core.messages import ExamineJob, Verdicts
from caliper.core.plan import PlanSummary
from caliper.ports.models import Usage


class Watcher(Protocol):
    """Told what happens, as it happens. Must be quick and must not raise."""

    def planned(self, summary: PlanSummary) -> None:
        """The plan stands."""
        ...

    def warned(self, text: str) -> None:
        """Something about the inputs that people should know."""
        ...

    def resumed(self, benchmark: str, known: int) -> None:
        """So many outcomes are known from an earlier process."""
        ...

    def captioned(self, benchmark: str, sample: str) -> None:
        """A model wrote a caption."""
        ...

    def examined(self, job: ExamineJob, verdicts: Verdicts) -> None:
        """The verdicts of a job are out."""
        ...


class JobEnd(StrEnum):
    """What became of one try at a job."""

    DONE = "done"
    RETRIED = "retried"
    DEAD_LETTER = "dead_letter"


class Window(StrEnum):
    """What a score is taken over: a model's latest started run, its last verdicts, an hour."""

    RUN = "run"
    LAST = "last"
    HOUR = "hour"


@dataclass(frozen=True, slots=True)
class Score:
    """A figure in the paper's unit; `low` and `high` bound it at 95%, None where nothing does."""

    value: float
    low: float | None = None
    high: float | None = None


ScoreTable = Mapping[tuple[str, str], Score]
"""Scores by dimension and metric."""


class GroupMember(Protocol):
    """How a member of a group of consumers stands."""

    @property
    def lag(self) -> Mapping[int, int]:
        """Messages of each of its partitions that the group has still to settle."""
        ...

    @property
    def rebalances(self) -> int:
        """How often partitions came to it or were taken from it."""
        ...


class GateState(Protocol):
    """How an endpoint's gate stands."""

    @property
    def limit(self) -> int:
        """How many calls may be in flight; 0 while the endpoint is only probed."""
        ...

    @property
    def in_flight(self) -> int: ...


class Event:
    """Something that happened, for those who count it."""

    __slots__ = ()


# Of calls to models. An endpoint is a model's configured name, with the number of the endpoint
# where it has several; never a URL.


@dataclass(frozen=True, slots=True)
class CallEnded(Event):
    """A try at a call ended, well or with that error."""

    endpoint: str
    error: BaseException | None
    seconds: float


@dataclass(frozen=True, slots=True)
class TriedAgain(Event):
    """A call is tried again, or a job where no endpoint is named."""

    error: BaseException
    endpoint: str = ""


@dataclass(frozen=True, slots=True)
class TokensUsed(Event):
    """What a call cost."""

    endpoint: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class GateBuilt(Event):
    """From now on calls of the endpoint pass this gate."""

    endpoint: str
    gate: GateState


# Of the jobs of a stage.


@dataclass(frozen=True, slots=True)
class JobTaken(Event):
    """A job was taken off its topic."""


@dataclass(frozen=True, slots=True)
class JobLeft(Event):
    """A try at a job ended, so many seconds after it was taken; None: it was broken off."""

    end: JobEnd | None
    seconds: float


@dataclass(frozen=True, slots=True)
class DeadLetterSent(Event):
    """A job of that topic was put aside."""

    topic: str
    error: BaseException


@dataclass(frozen=True, slots=True)
class ReplyReceived(Event):
    """A reply was found in the store (`cached`), or a model gave it."""

    cached: bool


@dataclass(frozen=True, slots=True)
class GroupJoined(Event):
    """From now on the stage takes jobs off that topic as this member."""

    topic: str
    member: GroupMember


# Of the aggregator. Times are in seconds since 1970.


@dataclass(frozen=True, slots=True)
class VerdictsEntered(Event):
    """So many outcomes are new: scores, and others by their reason."""

    model: str
    benchmark: str
    scored: int
    unscored: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class QuestionsCounted(Event):
    """How many questions of a model's latest run are planned, scored and unscored."""

    model: str
    benchmark: str
    questions: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RunStarted(Event):
    """A model's latest run started."""

    model: str
    time: float


@dataclass(frozen=True, slots=True)
class ScoresComputed(Event):
    """The scores of a window, all there are."""

    model: str
    benchmark: str
    window: Window
    scores: ScoreTable


@dataclass(frozen=True, slots=True)
class VerdictShown(Event):
    """The scores show a verdict, so many seconds after the stream had it."""

    seconds: float


@dataclass(frozen=True, slots=True)
class RecordsApplied(Event):
    """The newest record that was entered was published then."""

    time: float


@dataclass(frozen=True, slots=True)
class RecordsWaiting(Event):
    """So many records of each partition of a topic are still to be entered."""

    topic: str
    lag: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class AnchorsJudged(Event):
    """A judge agrees with that share of its anchor set, 0 to 1."""

    judge: str
    benchmark: str
    agreement: float


@dataclass(frozen=True, slots=True)
class SnapshotKept(Event):
    """A snapshot was kept."""

    time: float


@dataclass(frozen=True, slots=True)
class ModelForgotten(Event):
    """A model is watched no longer: nothing more is recorded of it."""

    model: str


class Telemetry(Protocol):
    """Takes the events of a process, or of one of the stages that it hosts."""

    def record(self, event: Event) -> None:
        """Take note of what happened. Must be quick and must not raise."""
        ...

    def stage(self, name: str) -> Telemetry:
        """That of a stage: gateway, captioner, judge or qa_reader."""
        ...


class Silence:
    """A Telemetry that nobody reads."""

    def record(self, event: Event) -> None:
        """Forget it."""

    def stage(self, name: str) -> Telemetry:  # noqa: ARG002 - the port's
        """The same."""
        return self


SILENT: Telemetry = Silence()


def reason_of(error: BaseException) -> str:
    """The label of an error, out of a closed set: its class in the tree of failures, such as
    `backend_overloaded`; `internal` for any other.
    """
    if not isinstance(error, CaliperError):
        return "internal"
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(error).__name__).lower()
