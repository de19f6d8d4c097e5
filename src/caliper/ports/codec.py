"""Messages on the stream, and the port that turns them into bytes."""

from __future__ import annotations

from dataclasses import dataclass
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


class Codec(Protocol):
    """Writes messages as bytes and reads them back. Reading raises NewerSchema or
    InvalidInput for bytes that hold no such message.
    """

    def write(self, message: CaptionJob | ExamineJob | Verdicts) -> bytes: ...

    def read_caption_job(self, data: bytes) -> CaptionJob: ...

    def read_examine_job(self, data: bytes) -> ExamineJob: ...

    def read_verdicts(self, data: bytes) -> Verdicts: ...
