"""Messages as canonical JSON with a schema number: the codec of the stream in memory."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from caliper.core.caption import Caption
from caliper.core.errors import InvalidInput
from caliper.core.keys import canonical_json
from caliper.core.outcome import Verdict
from caliper.core.question import Item
from caliper.core.run import SCHEMA, refuse_newer
from caliper.pipeline.items import decode_item, encode_item
from caliper.ports.codec import CaptionJob, EventKind, ExamineJob, RunEvent, Verdicts

_OF_EVENTS = ("state", "error", "report")


class JsonCodec:
    """ports.codec.Codec over JSON."""

    def write(self, message: CaptionJob | ExamineJob | Verdicts | RunEvent) -> bytes:
        if isinstance(message, RunEvent):
            return canonical_json({"schema": SCHEMA, **asdict(message)})
        written: dict[str, Any] = {
            "schema": SCHEMA,
            "run": message.run,
            "benchmark": message.benchmark,
            "sample": message.sample,
        }
        if isinstance(message, Verdicts):
            written["verdicts"] = [verdict.to_json() for verdict in message.verdicts]
        else:
            written["items"] = [encode_item(item) for item in message.items]
        if isinstance(message, ExamineJob) and message.caption is not None:
            written["caption"] = {
                "text": message.caption.text,
                "truncated": message.caption.truncated,
            }
        return canonical_json(written)

    def read_caption_job(self, data: bytes) -> CaptionJob:
        written = _read(data, "items")
        return CaptionJob(written["run"], written["benchmark"], written["sample"], _items(written))

    def read_examine_job(self, data: bytes) -> ExamineJob:
        written = _read(data, "items")
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
        )

    def read_verdicts(self, data: bytes) -> Verdicts:
        written = _read(data, "verdicts")
        try:
            verdicts = tuple(Verdict.from_json(verdict) for verdict in written["verdicts"])
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"this message holds no verdict: {error}") from error
        return Verdicts(written["run"], written["benchmark"], written["sample"], verdicts)

    def read_event(self, kind: EventKind, data: bytes) -> RunEvent:
        written = _read_object(data, {"run", "kind", *_OF_EVENTS})
        if written["kind"] != kind:
            raise InvalidInput(f"a message tells {written['kind']!r} under the key of {kind}")
        return RunEvent(written["run"], kind, **{name: written[name] for name in _OF_EVENTS})


def _items(written: dict[str, Any]) -> tuple[Item, ...]:
    """The items of a job. Raises InvalidInput; a job without any is none."""
    if not isinstance(written["items"], list) or not written["items"]:
        raise InvalidInput("a message lacks items")
    return tuple(decode_item(item) for item in written["items"])


def _read(data: bytes, kind: str) -> dict[str, Any]:
    return _read_object(data, {"run", "benchmark", "sample", kind})


def _read_object(data: bytes, fields: set[str]) -> dict[str, Any]:
    try:
        written = json.loads(data)
    except ValueError as error:
        raise InvalidInput(f"a message is no JSON: {error}") from error
    if not isinstance(written, dict):
        raise InvalidInput("a message is no JSON object")
    refuse_newer(written.get("schema"), "message")
    missing = fields - written.keys()
    if missing:
        raise InvalidInput(f"a message lacks {', '.join(sorted(missing))}")
    if not all(isinstance(written[name], str) for name in fields - {"items", "verdicts"}):
        raise InvalidInput("a message names something by what is no text")
    return written
