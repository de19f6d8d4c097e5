"""Messages on the stream, and the port that turns them into bytes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from caliper.core.caption import Caption
from caliper.core.outcome import Verdict
from caliper.core.question import Item


@dataclass(frozen=True, slots=True)
class CaptionJob:
    """One sample to caption. `items` hold all questions about its caption."""

    run: str
    benchmark: str
    sample: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class ExamineJob:
    """All questions of one benchmark about one caption, kept together.

    `caption` is None when none was supplied, and for questions asked from the media.
    """

    run: str
    benchmark: str
    sample: str
    caption: Caption | None
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The verdicts of one job."""

    run: str
    benchmark: str
    sample: str
    verdicts: tuple[Verdict, ...]


class EventKind(StrEnum):
    """What a message on the topic runs tells. Its key is `<run>/<kind>`; each has one writer."""

    PLAN = "plan"
    CANCEL = "cancel"
    FAIL = "fail"
    END = "end"


@dataclass(frozen=True, slots=True)
class RunEvent:
    """Something that became of a run.

    PLAN: the plan is whole and its jobs come, for the first time or taken up again. CANCEL:
    acknowledge its jobs without work. FAIL: a worker met what another attempt would meet
    again; `error` says what. END, written by the aggregator alone: `state` is the run's,
    `report` the SHA-256 of its report.json, empty when there is none.
    """

    run: str
    kind: EventKind
    state: str = ""
    error: str = ""
    report: str = ""

    @property
    def key(self) -> str:
        """The key of its message."""
        return f"{self.run}/{self.kind}"


class Codec(Protocol):
    """Writes messages as bytes and reads them back. Reading raises NewerSchema or
    InvalidInput for bytes that hold no such message.
    """

    def write(self, message: CaptionJob | ExamineJob | Verdicts | RunEvent) -> bytes: ...

    def read_caption_job(self, data: bytes) -> CaptionJob: ...

    def read_examine_job(self, data: bytes) -> ExamineJob: ...

    def read_verdicts(self, data: bytes) -> Verdicts: ...

    def read_event(self, kind: EventKind, data: bytes) -> RunEvent:
        """The event; the key of its message says of which kind it is."""
        ...
