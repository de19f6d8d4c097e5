"""Events of evaluations, as a collector is sent them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as pb
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2_grpc as stubs
from tests.fakes.results import in_state, kept_results

from caliper.core.errors import InvalidInput, StoreUnavailable
from caliper.local.exports import export
from caliper.ports.sinks import Results

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


class Collector(stubs.LogsServiceServicer):
    """A collector that keeps records with the name of the service, or refuses them."""

    def __init__(self, *, refuses: bool) -> None:
        self.refuses = refuses
        self.records: list[Any] = []
        self.services: set[str] = set()

    def Export(  # noqa: N802 - named in the contract
        self, request: pb.ExportLogsServiceRequest, context: grpc.ServicerContext
    ) -> pb.ExportLogsServiceResponse:
        if self.refuses:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no")
        for resource in request.resource_logs:
            self.services |= {
                each.value.string_value
                for each in resource.resource.attributes
                if each.key == "service.name"
            }
            for scope in resource.scope_logs:
                self.records += scope.log_records
        return pb.ExportLogsServiceResponse()


@contextmanager
def collecting(*, refuses: bool = False) -> Iterator[tuple[str, Collector]]:
    server, collector = grpc.server(ThreadPoolExecutor(1)), Collector(refuses=refuses)
    stubs.add_LogsServiceServicer_to_server(collector, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"http://127.0.0.1:{port}", collector
    finally:
        server.stop(None).wait()


def attributes(record: Any) -> dict[str, Any]:
    return {
        each.key: getattr(each.value, each.value.WhichOneof("value")) for each in record.attributes
    }


async def sent(results: Results) -> Collector:
    with collecting() as (url, collector):
        assert await export(results, f"otel:{url}") == url
    return collector


async def test_a_figure_is_an_event_in_the_trace_of_its_run() -> None:
    results = await kept_results("judged")
    collector = await sent(results)
    assert collector.services == {"caliper"}
    assert {record.event_name for record in collector.records} == {"gen_ai.evaluation.result"}
    assert {record.trace_id.hex() for record in collector.records} == {results.run * 2}
    assert {record.span_id.hex() for record in collector.records} == {results.run}
    assert {record.time_unix_nano for record in collector.records} == {1795364074 * 10**9}
    events = {each["gen_ai.evaluation.name"]: each for each in map(attributes, collector.records)}
    assert len(events) == len(collector.records)
    (part, _, _) = results.report.benchmarks
    headline = part.estimates[part.headline]
    event = events["capability.average.f1"]
    assert event["gen_ai.evaluation.score.value"] == headline.value
    assert (event["caliper.interval.low"], event["caliper.interval.high"]) == (
        headline.low,
        headline.high,
    )
    assert event["caliper.headline"] is True
    assert (event["caliper.run"], event["caliper.state"]) == (results.run, "complete")
    assert "capability.tasks.object_color.n_scored" not in events


async def test_verdicts_are_sent_when_they_may_leave_the_machine() -> None:
    results = await kept_results("judged", with_verdicts=True)
    collector = await sent(results)
    events = [
        (record, found)
        for record in collector.records
        if "caliper.question" in (found := attributes(record))
    ]
    rows = list(results.verdicts())
    assert [found["caliper.question"] for _, found in events] == [row.question_id for row in rows]
    for (record, found), row in zip(events, rows, strict=True):
        assert found["gen_ai.evaluation.score.label"] == row.outcome
        assert found.get("gen_ai.evaluation.score.value") == row.score
        assert found.get("error.type", "") == row.reason
        # Another span than that of the run.
        assert record.span_id.hex() != results.run
    # The jobs of one sample, one that wrote the caption and one that judged it, are two spans.
    assert len({record.span_id for record, _ in events}) == len(
        {(row.benchmark, row.sample) for row in rows}
    )


async def test_what_is_sent_again_is_known_by_its_ids() -> None:
    results = await kept_results("judged")
    first, second = await sent(results), await sent(replace(results, with_verdicts=True))
    ids, more = (
        [attributes(record)["log.record.uid"] for record in collector.records]
        for collector in (first, second)
    )
    assert more[: len(ids)] == ids
    assert len(set(more)) == len(more) > len(ids)
    later = await sent(replace(results, step=7))
    assert not {attributes(record)["log.record.uid"] for record in later.records} & set(ids)


async def test_an_incomplete_run_says_so() -> None:
    collector = await sent(in_state(await kept_results("judged"), "finished"))
    assert {attributes(record)["caliper.state"] for record in collector.records} == {"finished"}


async def test_the_environment_may_name_the_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    with collecting() as (url, collector):
        monkeypatch.setenv(ENDPOINT, url)
        await export(await kept_results("first"), "otel")
    assert collector.records


async def test_events_that_are_not_taken_are_told() -> None:
    with (
        collecting(refuses=True) as (url, _),
        pytest.raises(StoreUnavailable, match="did not take"),
    ):
        await export(await kept_results("first"), f"otel:{url}")


async def test_credentials_are_not_in_a_url() -> None:
    with pytest.raises(InvalidInput, match="HEADERS") as raised:
        await export(await kept_results("first"), "otel:http://me:secret@127.0.0.1:1")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("name", ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_LOGS_HEADERS"])
async def test_a_run_file_draws_out_no_headers(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "api-key=sesame-4711")
    results = await kept_results("first")
    with collecting() as (url, collector):
        for named in ("", "http://127.0.0.1:1", url.replace("http:", "https:")):
            monkeypatch.setenv(ENDPOINT, named)
            with pytest.raises(InvalidInput, match=f"only to the collector in {ENDPOINT}") as told:
                await export(results, f"otel:{url}")
            assert "sesame-4711" not in str(told.value)
        assert collector.records == []
        monkeypatch.setenv(ENDPOINT, url)
        await export(results, f"otel:{url}")
    assert collector.records


@pytest.mark.parametrize("where", ["", ":localhost", ":localhost:4317"])
async def test_a_collector_has_a_url(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    monkeypatch.delenv(ENDPOINT, raising=False)
    with pytest.raises(InvalidInput, match="name a collector"):
        await export(await kept_results("first"), f"otel{where}")
