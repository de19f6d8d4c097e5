"""The codec within one process: messages are passed as objects, without encoding."""

from __future__ import annotations

from typing import TypeVar

from caliper.core.errors import InvalidInput
from caliper.core.messages import (
    CaptionJob,
    ExamineJob,
    MessageValue,
    PlanJob,
    RunEvent,
    StreamMessage,
    Verdicts,
)

_Kind = TypeVar("_Kind", PlanJob, CaptionJob, ExamineJob, Verdicts)


class IdentityCodec:
    """ports.codec.Codec without encoding. A message of the wrong type raises InvalidInput."""

    def write(self, message: StreamMessage) -> StreamMessage:
        return message

    def read_plan_job(self, value: MessageValue) -> PlanJob:
        return _expect(value, PlanJob)

    def read_caption_job(self, value: MessageValue) -> CaptionJob:
        return _expect(value, CaptionJob)

    def read_examine_job(self, value: MessageValue) -> ExamineJob:
        return _expect(value, ExamineJob)

    def read_verdicts(self, value: MessageValue) -> Verdicts:
        return _expect(value, Verdicts)

    def read_run_event(self, value: MessageValue) -> RunEvent:
        if isinstance(value, RunEvent):
            return value
        raise InvalidInput("this message is not an event of a run")


def _expect(value: MessageValue, kind: type[_Kind]) -> _Kind:
    if isinstance(value, kind):
        return value
    raise InvalidInput(f"this message is not of type {kind.__name__}")
