"""Figures and verdicts as OpenTelemetry events `gen_ai.evaluation.result`.

The event is in development: its attributes may change with the conventions for generative AI.
Events are in the trace of their run: figures at its start, verdicts at the job that wrote the
caption, or else at the one that judged it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from itertools import chain, islice
from urllib.parse import urlsplit

from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExportResult
from opentelemetry.sdk.environment_variables import (
    OTEL_EXPORTER_OTLP_ENDPOINT,
    OTEL_EXPORTER_OTLP_HEADERS,
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT,
    OTEL_EXPORTER_OTLP_LOGS_HEADERS,
    OTEL_SERVICE_NAME,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

from caliper.adapters.exports.sinks.selection import rankable_figures
from caliper.adapters.exports.sinks.tracker_content import mark_of
from caliper.core.errors import InvalidInput, StoreUnavailable
from caliper.core.report import VerdictRow
from caliper.pipeline.work.log_subject import job_span
from caliper.ports.sinks import Results

_EVENT = "gen_ai.evaluation.result"
_NAME = "gen_ai.evaluation.name"
_VALUE = "gen_ai.evaluation.score.value"
_LABEL = "gen_ai.evaluation.score.label"
_EXPLANATION = "gen_ai.evaluation.explanation"
_ERROR = "error.type"
_UID = "log.record.uid"
"""Events with the same one are duplicates, which may be removed."""
_BATCH = 500
"""Events per message: collectors take up to 4 MiB."""
_Attributes = dict[str, str | int | float | bool]


class OtelSink:
    """ports.sinks.Sink for a collector, reached over OTLP and gRPC: `URL`, or empty for the one
    that `OTEL_EXPORTER_OTLP_ENDPOINT` names.
    """

    def __init__(self, where: str) -> None:
        variable = OTEL_EXPORTER_OTLP_ENDPOINT
        if os.environ.get(OTEL_EXPORTER_OTLP_LOGS_ENDPOINT):
            variable = OTEL_EXPORTER_OTLP_LOGS_ENDPOINT
        named = urlsplit(os.environ.get(variable, ""))
        url = urlsplit(where) if where else named
        if not url.hostname or url.scheme not in ("http", "https"):
            message = f"name a collector: otel:http://HOST:4317, or set {variable}"
            raise InvalidInput(message)
        if "@" in url.netloc:
            message = (
                f"credentials belong in {OTEL_EXPORTER_OTLP_HEADERS}, not in a collector's URL"
            )
            raise InvalidInput(message)
        headers = (OTEL_EXPORTER_OTLP_LOGS_HEADERS, OTEL_EXPORTER_OTLP_HEADERS)
        # A run file may be somebody else's.
        if url[:2] != named[:2] and any(map(os.environ.get, headers)):
            message = f"{headers[1]} go only to the collector in {variable}: set it to this one"
            raise InvalidInput(message)
        self._url = where
        self._place = f"{url.scheme}://{url.netloc}"

    def write(self, results: Results) -> str:
        """Send an event per figure, and one per verdict if they may leave this machine. Collectors
        keep earlier events; equal events have equal ids. Raises StoreUnavailable.
        """
        exporter = OTLPLogExporter(endpoint=self._url or None)
        try:
            events = _events(results)
            while batch := list(islice(events, _BATCH)):
                if exporter.export(batch) is not LogRecordExportResult.SUCCESS:
                    raise StoreUnavailable(
                        f"the collector at {self._place} did not take the events"
                    )
        finally:
            exporter.shutdown()
        return self._place


def _events(results: Results) -> Iterator[ReadableLogRecord]:
    resource = Resource.create({"service.name": os.environ.get(OTEL_SERVICE_NAME, "caliper")})
    scope = InstrumentationScope("caliper", results.spec.version)
    ended = datetime.fromisoformat(results.ended) if results.ended else None
    records, mark = [_figures(results)], mark_of(results)[:16]
    if results.with_verdicts:
        records.append(_verdicts(results))
    for number, (attributes, span) in enumerate(chain(*records)):
        trace = int(results.run * 2, 16)
        flags = TraceFlags(TraceFlags.SAMPLED)
        place = SpanContext(trace, span, is_remote=True, trace_flags=flags)
        record = LogRecord(
            timestamp=None if ended is None else round(ended.timestamp()) * 10**9,
            context=set_span_in_context(NonRecordingSpan(place)),
            severity_number=SeverityNumber.INFO,
            attributes=attributes | {_UID: f"{results.run}-{mark}-{number}"},
            event_name=_EVENT,
        )
        yield ReadableLogRecord(record, resource, scope)


def _figures(results: Results) -> Iterator[tuple[_Attributes, int]]:
    for part in results.report.benchmarks:
        for path, value, estimate in rankable_figures(part):
            attributes: _Attributes = {
                _NAME: ".".join((part.name, *path)),
                _VALUE: float(value),
                **_about(results, part.name),
                "caliper.headline": path == part.headline,
            }
            if estimate.low is not None and estimate.high is not None:
                attributes |= {
                    "caliper.interval.low": estimate.low,
                    "caliper.interval.high": estimate.high,
                    "caliper.interval.method": estimate.method,
                }
            yield attributes, int(results.run, 16)


def _verdicts(results: Results) -> Iterator[tuple[_Attributes, int]]:
    writers = {part.name: part.captions is None for part in results.spec.benchmarks}
    for row in results.verdicts():
        subject = {"run": results.run, "benchmark": row.benchmark, "sample": row.sample}
        span = job_span(subject, "captioner" if writers[row.benchmark] else "")
        yield _verdict(results, row), span


def _verdict(results: Results, row: VerdictRow) -> _Attributes:
    scored: _Attributes = {_ERROR: row.reason} if row.score is None else {_VALUE: row.score}
    if row.explanation:
        scored[_EXPLANATION] = row.explanation
    return {
        _NAME: f"{row.benchmark}.{row.dimension}",
        _LABEL: row.outcome,
        **scored,
        **_about(results, row.benchmark),
        "caliper.sample": row.sample,
        "caliper.question": row.question_id,
        "caliper.repeat": row.repeat,
        "caliper.judge": row.judge,
    }


def _about(results: Results, benchmark: str) -> _Attributes:
    """Attributes that say whose figure it is, and whether the run is complete."""
    step: _Attributes = {} if results.step is None else {"caliper.step": results.step}
    return {
        "caliper.run": results.run,
        "caliper.checkpoint": results.report.name,
        "caliper.state": results.report.state,
        "caliper.benchmark": benchmark,
        **step,
    }
