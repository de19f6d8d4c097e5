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


Scored = Mapping[tuple[str, str], Score]
"""Scores by dimension and metric."""


class Consuming(Protocol):
    """How a member of a group of consumers stands."""

    @property
    def lag(self) -> Mapping[int, int]:
        """Messages of each of its partitions that the group has still to settle."""
        ...

    @property
    def rebalances(self) -> int:
        """How often partitions came to it or were taken from it."""
        ...


class Gated(Protocol):
    """How an endpoint's gate stands."""

    @property
    def limit(self) -> int:
        """How many calls may be in flight; 0 while the endpoint is only probed."""
        ...

    @property
    def in_flight(self) -> int: ...


class CallTelemetry(Protocol):
    """Told of calls to the endpoints of models. `endpoint` is a model's configured name, with
    the number of the endpoint where it has several; never a URL.
    """

    def called(self, endpoint: str, error: BaseException | None, seconds: float) -> None:
        """A try at a call ended, well or with that error."""
        ...

    def asked_again(self, endpoint: str, error: BaseException) -> None:
        """A call is tried again."""
        ...

    def used(self, endpoint: str, usage: Usage) -> None:
        """What a call cost."""
        ...

    def gated(self, endpoint: str, gate: Gated) -> None:
        """From now on calls of the endpoint pass this gate."""
        ...


class StageTelemetry(CallTelemetry, Protocol):
    """Told what one stage does, as it does it. Must be quick and must not raise."""

    def job_taken(self) -> None:
        """A job was taken off its topic."""
        ...

    def job_left(self, end: JobEnd | None, seconds: float) -> None:
        """A try at a job ended, so many seconds after it was taken; None: it was broken off."""
        ...

    def job_again(self, error: BaseException) -> None:
        """A job is tried again."""
        ...

    def dead_letter(self, topic: str, error: BaseException) -> None:
        """A job of that topic was put aside."""
        ...

    def replied(self, *, cached: bool) -> None:
        """A reply was had from the store, or a model was asked for it."""
        ...

    def consumes(self, topic: str, member: Consuming) -> None:
        """From now on the stage takes jobs off that topic as this member."""
        ...


class ScoreTelemetry(Protocol):
    """Told what the aggregator knows. Must be quick and must not raise."""

    def entered(self, model: str, benchmark: str, scored: int, unscored: Mapping[str, int]) -> None:
        """So many outcomes are new: scores, and others by their reason."""
        ...

    def progressed(self, model: str, benchmark: str, questions: Mapping[str, int]) -> None:
        """How many questions of a model's latest run are planned, scored and unscored."""
        ...

    def started(self, model: str, timestamp: float) -> None:
        """A model's latest run started, in seconds since 1970."""
        ...

    def scored(self, model: str, benchmark: str, window: Window, scores: Scored) -> None:
        """The scores of a window, all there are."""
        ...

    def fresh(self, seconds: float) -> None:
        """So long after the stream had a verdict, the scores show it."""
        ...

    def applied(self, timestamp: float) -> None:
        """The newest record that was entered was published then, in seconds since 1970."""
        ...

    def waiting(self, topic: str, lag: Mapping[int, int]) -> None:
        """So many records of each partition of a topic are still to be entered."""
        ...

    def anchored(self, judge: str, benchmark: str, agreement: float) -> None:
        """On that share of its anchor set, 0 to 1, a judge says what it said of it before."""
        ...

    def kept(self, timestamp: float) -> None:
        """A snapshot was kept, in seconds since 1970."""
        ...

    def forgotten(self, model: str) -> None:
        """A model is watched no longer: nothing more is told of it."""
        ...


def reason_of(error: BaseException) -> str:
    """The label of an error, out of a closed set: its class in the tree of failures, such as
    `backend_overloaded`; `internal` for any other.
    """
    if not isinstance(error, CaliperError):
        return "internal"
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(error).__name__).lower()


class SilentStage:
    """A StageTelemetry that nobody reads."""

    def called(self, endpoint: str, error: BaseException | None, seconds: float) -> None:
        """Tell nobody."""

    def asked_again(self, endpoint: str, error: BaseException) -> None:
        """Tell nobody."""

    def used(self, endpoint: str, usage: Usage) -> None:
        """Tell nobody."""

    def gated(self, endpoint: str, gate: Gated) -> None:
        """Tell nobody."""

    def job_taken(self) -> None:
        """Tell nobody."""

    def job_left(self, end: JobEnd | None, seconds: float) -> None:
        """Tell nobody."""

    def job_again(self, error: BaseException) -> None:
        """Tell nobody."""

    def dead_letter(self, topic: str, error: BaseException) -> None:
        """Tell nobody."""

    def replied(self, *, cached: bool) -> None:
        """Tell nobody."""

    def consumes(self, topic: str, member: Consuming) -> None:
        """Tell nobody."""


SILENT: StageTelemetry = SilentStage()


class Telemetry(Protocol):
    """The telemetry of one process, which may host several stages."""

    def stage(self, name: str) -> StageTelemetry:
        """That of a stage: gateway, captioner, judge or qa_reader."""
        ...

    @property
    def scores(self) -> ScoreTelemetry | None:
        """That of the aggregator; None when nobody reads it, so that it need not be computed."""
        ...


class SilentTelemetry:
    """A Telemetry that nobody reads."""

    scores = None

    def stage(self, name: str) -> StageTelemetry:  # noqa: ARG002 - the port's
        """One that tells nobody."""
        return SILENT
