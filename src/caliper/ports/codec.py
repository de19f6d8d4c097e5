"""Port to the codec of stream messages."""

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
    """Encodes messages for a stream, and decodes them. Reading raises NewerSchema or InvalidInput
    for a value that is not a message of the type.
    """

    def write(self, message: StreamMessage) -> MessageValue: ...

    def read_plan_job(self, value: MessageValue, /) -> PlanJob: ...

    def read_caption_job(self, value: MessageValue, /) -> CaptionJob: ...

    def read_examine_job(self, value: MessageValue, /) -> ExamineJob: ...

    def read_verdicts(self, value: MessageValue, /) -> Verdicts: ...

    def read_run_event(self, value: MessageValue, /) -> RunEvent: ...
