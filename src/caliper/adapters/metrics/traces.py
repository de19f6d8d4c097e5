"""Traces of runs, sent to an OpenTelemetry collector over OTLP.

No context travels with messages: a trace has the id of its run, twice, and the span of a start that
of the run. The span of a sample's job has an id from the sample's key, which its verdicts know too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.environment_variables import OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER_ARG
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from caliper.adapters.metrics.prometheus import Metrics, PrometheusTelemetry
from caliper.pipeline.work.log_subject import job_span, subject_ids
from caliper.ports import telemetry as events
from caliper.ports.telemetry import Event, reason_of

_CAPTIONER = "captioner"


class SpanIds(RandomIdGenerator):
    """Random ids, but for the next span if it is given one."""

    def __init__(self) -> None:
        self.next: int | None = None

    def generate_span_id(self) -> int:
        """The given id, once, or a random one."""
        span, self.next = self.next, None
        return super().generate_span_id() if span is None else span


class Spans:
    """Records spans of runs that have ended by the time they are recorded."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._ids = SpanIds()
        self._provider = TracerProvider(
            id_generator=self._ids,
            resource=Resource.create(
                {"service.name": os.environ.get(OTEL_SERVICE_NAME, "caliper")}
            ),
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("caliper")

    def add(
        self,
        name: str,
        seconds: float,
        subject: Mapping[str, str],
        error: str = "",
        *,
        span: int | None = None,
        parent: int | None = None,
    ) -> None:
        """Add a span of the run in `subject` that lasted `seconds` until now."""
        run = subject["run"]
        context = SpanContext(
            int(run * 2, 16), parent or int(run, 16), is_remote=True, trace_flags=TraceFlags(1)
        )
        end = time.time_ns()
        self._ids.next = span
        recorded = self._tracer.start_span(
            name,
            set_span_in_context(NonRecordingSpan(context)),
            attributes={f"caliper.{field}": value for field, value in subject.items()},
            start_time=end - round(seconds * 1e9),
        )
        if error:
            recorded.set_status(Status(StatusCode.ERROR, error))
        recorded.end(end)

    def close(self) -> None:
        """Send the spans that wait."""
        self._provider.shutdown()


class TracedTelemetry(PrometheusTelemetry):
    """Prometheus telemetry whose events about runs are recorded as spans, too.

    `OTEL_TRACES_SAMPLER_ARG` is the share of samples whose spans are recorded, by default all.
    """

    def __init__(self, metrics: Metrics, spans: Spans, stage: str = "") -> None:
        super().__init__(metrics, stage)
        self._spans, self._name = spans, stage
        self._share = float(os.environ.get(OTEL_TRACES_SAMPLER_ARG) or 1)

    def stage(self, name: str) -> TracedTelemetry:
        """The telemetry of a stage."""
        super().stage(name)
        return TracedTelemetry(self.metrics, self._spans, name)

    def record(self, event: Event) -> None:
        """Update the metrics, and add a span if the event is about a run."""
        super().record(event)
        if isinstance(event, events.StepEnded):
            root = int(event.run, 16) if event.step is events.Step.START else None
            self._spans.add(event.step, event.seconds, {"run": event.run}, span=root)
            return
        subject = subject_ids()
        if not subject or job_span(subject) >= self._share * 2**64:
            return
        if isinstance(event, events.JobAttemptEnded):
            error = "" if event.end is events.JobEnd.DONE else str(event.end or "aborted")
            span = self._span_of_job(subject)
            self._spans.add(f"{self._name} job", event.seconds, subject, error, span=span)
        elif isinstance(event, events.CallEnded):
            error = reason_of(event.error) if event.error else ""
            call = {**subject, "endpoint": event.endpoint}
            parent = self._span_of_job(subject)
            self._spans.add("call", event.seconds, call, error, parent=parent)
        elif isinstance(event, events.RecordsApplied):
            seconds = max(0.0, time.time() - event.time)
            self._spans.add("entered", seconds, subject, parent=job_span(subject))

    def close(self) -> None:
        """Send the spans that wait."""
        self._spans.close()

    def _span_of_job(self, subject: Mapping[str, str]) -> int:
        """The span of a stage's job; that of the stage that judges has its verdicts below it.

        Spans about the whole run, such as the judge check, are below its start.
        """
        if "sample" not in subject:
            return int(subject["run"], 16)
        prefix = self._name if self._name == _CAPTIONER else ""
        return job_span(subject, prefix)


def to_collector(metrics: Metrics) -> TracedTelemetry:
    """Telemetry that sends spans to the collector that `OTEL_EXPORTER_OTLP_ENDPOINT` names."""
    return TracedTelemetry(metrics, Spans(OTLPSpanExporter()))
