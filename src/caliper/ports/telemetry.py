"""Port to metrics and traces."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from caliper.core.errors import CaliperError
from caliper.ports.models import Usage
from caliper.ports.stream import Backlog, GroupMember


class JobEnd(StrEnum):
    """The result of one attempt at a job."""

    DONE = "done"
    RETRIED = "retried"
    DEAD_LETTER = "dead_letter"


class Window(StrEnum):
    """The window of a score: a model's latest started run, its last verdicts, or the last hour."""

    RUN = "run"
    LAST = "last"
    HOUR = "hour"


@dataclass(frozen=True, slots=True)
class Score:
    """A figure in the paper's unit; `low` and `high` are its 95% interval, None without one."""

    value: float
    low: float | None = None
    high: float | None = None


ScoreTable = Mapping[tuple[str, str], Score]
"""Scores by dimension and metric."""


class GateState(Protocol):
    """The state of an endpoint's gate."""

    @property
    def limit(self) -> int:
        """The limit on calls in flight; 0 while the endpoint is only probed."""
        ...

    @property
    def in_flight(self) -> int: ...


class Event:
    """Base class of telemetry events."""

    __slots__ = ()


# Model calls. An endpoint is a model's configured name, plus the endpoint's number if there are
# several; never a URL.


@dataclass(frozen=True, slots=True)
class CallEnded(Event):
    """A call attempt ended, with `error` if it failed."""

    endpoint: str
    error: BaseException | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Retried(Event):
    """A call is retried, or a job if no endpoint is named."""

    error: BaseException
    endpoint: str = ""


@dataclass(frozen=True, slots=True)
class TokensUsed(Event):
    """The tokens of a call."""

    endpoint: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class GateBuilt(Event):
    """Calls to the endpoint pass this gate from now on."""

    endpoint: str
    gate: GateState


# Jobs of a stage.


@dataclass(frozen=True, slots=True)
class JobReceived(Event):
    """A job was received from its topic."""


@dataclass(frozen=True, slots=True)
class JobAttemptEnded(Event):
    """A job attempt ended, `seconds` after the job was received. `end` is None if aborted."""

    end: JobEnd | None
    seconds: float


@dataclass(frozen=True, slots=True)
class DeadLetterSent(Event):
    """A job of the topic was dead-lettered."""

    topic: str
    error: BaseException


@dataclass(frozen=True, slots=True)
class ReplyReceived(Event):
    """A reply came from the store (`cached`) or from a model."""

    cached: bool


@dataclass(frozen=True, slots=True)
class GroupJoined(Event):
    """The stage receives jobs from the topic as this member from now on."""

    topic: str
    member: GroupMember


@dataclass(frozen=True, slots=True)
class BacklogRead(Event):
    """The backlog of the workers that share a topic, according to the stream."""

    topic: str
    backlog: Backlog


# Steps of a run.


class Step(StrEnum):
    """A step of a run that is not a job of a stage."""

    START = "start"
    REPORT = "report"


@dataclass(frozen=True, slots=True)
class StepEnded(Event):
    """A step of a run ended, `seconds` after it began."""

    run: str
    step: Step
    seconds: float


# The aggregator. Times are in seconds since 1970. A model belongs to a `team`, empty without teams.


@dataclass(frozen=True, slots=True)
class VerdictsEntered(Event):
    """Counts of new outcomes: scored, and unscored by reason."""

    model: str
    benchmark: str
    scored: int
    unscored: Mapping[str, int]
    team: str = ""


@dataclass(frozen=True, slots=True)
class QuestionsCounted(Event):
    """Counts of planned, scored and unscored questions of a model's latest run."""

    model: str
    benchmark: str
    questions: Mapping[str, int]
    team: str = ""


@dataclass(frozen=True, slots=True)
class RunStarted(Event):
    """A model's latest run started."""

    model: str
    time: float
    team: str = ""


@dataclass(frozen=True, slots=True)
class ScoresComputed(Event):
    """All scores of a window."""

    model: str
    benchmark: str
    window: Window
    scores: ScoreTable
    team: str = ""


@dataclass(frozen=True, slots=True)
class VerdictVisible(Event):
    """The scores include a verdict, `seconds` after it was published to the stream."""

    seconds: float


@dataclass(frozen=True, slots=True)
class RecordsApplied(Event):
    """The publication time of the record applied last."""

    time: float


@dataclass(frozen=True, slots=True)
class RecordsWaiting(Event):
    """Records of a topic that are not yet applied, per partition."""

    topic: str
    lag: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class AnchorsJudged(Event):
    """The share of its anchor set with which a judge agrees, 0 to 1."""

    judge: str
    benchmark: str
    agreement: float


@dataclass(frozen=True, slots=True)
class CheckpointScored(Event):
    """The scores of a suite's latest checkpoint, by benchmark. `step` is the training step,
    `judged` the share of its questions that was judged.
    """

    suite: str
    step: int | None
    scores: Mapping[str, ScoreTable]
    judged: float = 1.0


@dataclass(frozen=True, slots=True)
class SnapshotSaved(Event):
    """A snapshot was saved."""

    time: float


@dataclass(frozen=True, slots=True)
class ModelForgotten(Event):
    """A model is no longer watched: nothing more is recorded for it."""

    model: str
    team: str = ""


class Telemetry(Protocol):
    """Records events of a process, or of one of the stages that it hosts."""

    def record(self, event: Event) -> None:
        """Record an event. Must be quick and must not raise."""
        ...

    def stage(self, name: str) -> Telemetry:
        """The telemetry of a stage: gateway, captioner, judge or qa_reader."""
        ...


class Silence:
    """A Telemetry that discards events."""

    def record(self, event: Event) -> None:
        """Discard the event."""

    def stage(self, name: str) -> Telemetry:  # noqa: ARG002 - the port's
        """This telemetry itself."""
        return self


SILENT: Telemetry = Silence()


def reason_of(error: BaseException) -> str:
    """The metric label of an error: its class in snake case, such as `backend_overloaded`, or
    `internal` for errors that are not Caliper's. The set of labels is closed.
    """
    if not isinstance(error, CaliperError):
        return "internal"
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(error).__name__).lower()
