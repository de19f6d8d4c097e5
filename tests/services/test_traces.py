"""A run as a collector sees it: from its start through jobs, calls and verdicts to the report."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as pb
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as stubs
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import CollectorRegistry
from tests.fakes.chat_server import ChatServer
from tests.fakes.installation import installation, over
from tests.fakes.opinions import steadfast
from tests.fakes.sources import EXAMPLES

from caliper.adapters.metrics.prometheus import Metrics
from caliper.adapters.metrics.traces import Spans, TracedTelemetry
from caliper.adapters.stores.directory import DirectoryStore
from caliper.local.config import read_config
from caliper.local.submission import send
from caliper.ports.telemetry import Step, StepEnded
from caliper.serving.metrics import process_telemetry
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import JudgeSettings

SHARE = "OTEL_TRACES_SAMPLER_ARG"


async def traced(folder: Path) -> tuple[str, list[ReadableSpan]]:
    """A run, and the spans of it."""
    exporter = InMemorySpanExporter()
    spans = Spans(exporter)
    telemetry = TracedTelemetry(Metrics(CollectorRegistry()), spans)
    ground = replace(memory_ground(DirectoryStore(folder)), telemetry=telemetry)
    async with (
        ChatServer(otherwise=steadfast) as chat,
        installation(ground, JudgeSettings(model=f"tgi:{chat.url}")) as gateway,
    ):
        config = read_config(EXAMPLES / "careful.yaml")
        run = (await send(config, gateway)).spec.run_id
        await over(gateway, run)
    spans.close()
    return run, list(exporter.get_finished_spans())


def parent_of(span: ReadableSpan) -> int:
    assert span.parent is not None
    return span.parent.span_id


async def test_the_trace_of_a_run_has_its_id_and_leads_to_its_report(tmp_path: Path) -> None:
    run, spans = await traced(tmp_path)
    assert {format(span.context.trace_id, "032x") for span in spans} == {run * 2}
    by_name: dict[str, list[ReadableSpan]] = {}
    for span in spans:
        by_name.setdefault(span.name, []).append(span)
    root = int(run, 16)
    (start,) = by_name["start"]
    assert start.context.span_id == root
    assert {parent_of(span) for span in by_name["report"]} == {root}
    judged = {span.context.span_id: span for span in by_name["judge job"]}
    assert {parent_of(span) for span in judged.values()} == {root}
    # The calls of the judge check are about the run.
    assert {parent_of(call) for call in by_name["call"]} == {*judged, root}
    assert len(by_name["call"]) >= len(judged)
    entered = [span for span in by_name["entered"] if parent_of(span) in judged]
    assert len(entered) == len(judged)
    for span in entered:
        job = judged[parent_of(span)]
        assert span.attributes == job.attributes
        assert span.attributes is not None
        assert span.attributes["caliper.run"] == run


async def test_a_share_of_the_samples_is_traced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SHARE, "0")
    _, spans = await traced(tmp_path)
    assert {span.name for span in spans} == {"start", "report"}


class Collector(stubs.TraceServiceServicer):
    """A collector that keeps the names of the spans that it is sent."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def Export(  # noqa: N802 - named in the contract
        self, request: pb.ExportTraceServiceRequest, _: object
    ) -> pb.ExportTraceServiceResponse:
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                self.names += [span.name for span in scope.spans]
        return pb.ExportTraceServiceResponse()


@contextmanager
def collecting() -> Iterator[tuple[str, Collector]]:
    server, collector = grpc.server(ThreadPoolExecutor(1)), Collector()
    stubs.add_TraceServiceServicer_to_server(collector, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"http://127.0.0.1:{port}", collector
    finally:
        server.stop(None).wait()


def test_a_collector_that_the_environment_names_is_sent_spans(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with collecting() as (url, collector):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        telemetry = process_telemetry()
        telemetry.record(StepEnded("0123456789abcdef", Step.START, 1.0))
        assert isinstance(telemetry, TracedTelemetry)
        telemetry.close()
    assert collector.names == ["start"]
