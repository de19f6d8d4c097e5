"""Messages as canonical JSON with a schema number: the codec of the stream in memory."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from caliper.core.caps import TokenCap
from caliper.core.caption import Caption
from caliper.core.errors import InvalidInput
from caliper.core.keys import canonical_json
from caliper.core.outcome import Verdict
from caliper.core.question import Item
from caliper.core.run import SCHEMA, RunState, refuse_newer
from caliper.pipeline.items import decode_item, encode_item
from caliper.ports.codec import (
    CaptionJob,
    ExamineJob,
    PlanJob,
    PlanMade,
    RunCancelled,
    RunEnded,
    RunEvent,
    RunFailed,
    StreamMessage,
    Verdicts,
)

_OF_A_SAMPLE = ("benchmark", "sample")


class JsonCodec:
    """ports.codec.Codec over JSON."""

    def write(self, message: StreamMessage) -> bytes:
        return canonical_json({"schema": SCHEMA, "run": message.run, **_body(message)})

    def read_plan_job(self, data: bytes) -> PlanJob:
        return PlanJob(_read(data)["run"])

    def read_caption_job(self, data: bytes) -> CaptionJob:
        written = _read(data, *_OF_A_SAMPLE, "items")
        return CaptionJob(
            run=written["run"],
            benchmark=written["benchmark"],
            sample=written["sample"],
            items=_items(written),
            cap=_cap(written),
        )

    def read_examine_job(self, data: bytes) -> ExamineJob:
        written = _read(data, *_OF_A_SAMPLE, "items")
        caption = written.get("caption")
        try:
            found = None if caption is None else Caption(written["sample"], **caption)
        except TypeError as error:
            raise InvalidInput(f"this message holds no caption: {error}") from error
        return ExamineJob(
            run=written["run"],
            benchmark=written["benchmark"],
            sample=written["sample"],
            caption=found,
            items=_items(written),
            cap=_cap(written),
        )

    def read_verdicts(self, data: bytes) -> Verdicts:
        written = _read(data, *_OF_A_SAMPLE, "verdicts")
        try:
            verdicts = tuple(Verdict.from_json(verdict) for verdict in _list(written, "verdicts"))
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"this message holds no verdict: {error}") from error
        return Verdicts(written["run"], written["benchmark"], written["sample"], verdicts)

    def read_run_event(self, data: bytes) -> RunEvent:
        written = _read(data, "event")
        run: str = written["run"]
        try:
            match written["event"]:
                case "planned":
                    start, asked = int(written.get("start", 0)), written.get("asked")
                    return PlanMade(run, int(written["questions"]), start, asked)
                case "cancelled":
                    return RunCancelled(run)
                case "failed":
                    return RunFailed(run, written["error"])
                case "ended":
                    state, report = RunState(written["state"]), written.get("report", "")
                    return RunEnded(run, state, written["error"], report)
                case unknown:
                    raise InvalidInput(f"a message holds no known event: {unknown!r:.60}")
        except (KeyError, TypeError, ValueError, ArithmeticError) as error:
            raise InvalidInput(f"this message holds no event: {error!r}") from error


def _body(message: StreamMessage) -> dict[str, Any]:
    if isinstance(message, PlanJob):
        return {}
    if isinstance(message, RunEvent):
        return _event(message)
    written: dict[str, Any] = {"benchmark": message.benchmark, "sample": message.sample}
    if isinstance(message, Verdicts):
        return written | {"verdicts": [verdict.to_json() for verdict in message.verdicts]}
    written["items"] = [encode_item(item) for item in message.items]
    if message.cap is not None:
        written["cap"] = asdict(message.cap)
    if isinstance(message, ExamineJob) and message.caption is not None:
        written["caption"] = {"text": message.caption.text, "truncated": message.caption.truncated}
    return written


def _event(event: RunEvent) -> dict[str, Any]:
    match event:
        case PlanMade():
            cut = {} if event.asked is None else {"asked": event.asked}
            told = {"event": "planned", "questions": event.questions, "start": event.start}
            return told | cut
        case RunCancelled():
            return {"event": "cancelled"}
        case RunFailed():
            return {"event": "failed", "error": event.error}
        case RunEnded():
            how = {"state": str(event.state), "error": event.error, "report": event.report}
            return {"event": "ended", **how}


def _items(written: dict[str, Any]) -> tuple[Item, ...]:
    return tuple(decode_item(item) for item in _list(written, "items"))


def _cap(written: dict[str, Any]) -> TokenCap | None:
    found = written.get("cap")
    try:
        return None if found is None else TokenCap(**found)
    except TypeError as error:
        raise InvalidInput(f"this message holds no cap: {error}") from error


def _list(written: dict[str, Any], name: str) -> list[Any]:
    """A list of a message. Raises InvalidInput; a message without any entry is none."""
    found = written[name]
    if not isinstance(found, list) or not found:
        raise InvalidInput(f"a message lacks {name}")
    return found


def _read(data: bytes, *required: str) -> dict[str, Any]:
    try:
        written = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"a message is no JSON: {error}") from error
    if not isinstance(written, dict):
        raise InvalidInput("a message is no JSON object")
    refuse_newer(written.get("schema"), "message")
    missing = {"run", *required} - written.keys()
    if missing:
        raise InvalidInput(f"a message lacks {', '.join(sorted(missing))}")
    if not all(isinstance(written.get(name, ""), str) for name in ("run", *_OF_A_SAMPLE)):
        raise InvalidInput("a message's run, benchmark and sample are texts")
    return written
