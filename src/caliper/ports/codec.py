"""The port that turns messages into what a stream carries."""

from __future__ import annotations

from typing import Protocol

from caliper.core.messages import (
    CaptionJob,
    ExamineJob,
    MessageValue,
    PlanJob,
    RunEvent,
    StreamMessage,
    Verdicts,
)


class Codec(Protocol):
    """Turns messages into what a stream carries, and back. Reading raises NewerSchema or
    InvalidInput for a value that is no such message.
    """

    def write(self, message: StreamMessage) -> MessageValue: ...

    def read_plan_job(self, value: MessageValue, /) -> PlanJob: ...

    def read_caption_job(self, value: MessageValue, /) -> CaptionJob: ...

    def read_examine_job(self, value: MessageValue, /) -> ExamineJob: ...

    def read_verdicts(self, value: MessageValue, /) -> Verdicts: ...

    def read_run_event(self, value: MessageValue, /) -> RunEvent: ...
