"""The audit trail: one line per change and per refused call, and none for reads."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.fakes.loopback_server import (
    OPTIONS,
    TOKENS,
    bearer,
    calling,
    code_of,
    forever,
    judging,
    stub_of,
    token_file,
)
from tests.fakes.methods import CONTRACTS, methods, path_of
from tests.fakes.telemetry import RecordedTelemetry, until

from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.api.judge.v1 import judge_pb2
from caliper.api.suites.v1 import suites_pb2
from caliper.core.errors import AlreadyExists, NotFound
from caliper.core.owners import DEFAULT_TEAM
from caliper.ports.security_events import CallRefused
from caliper.ports.telemetry import SILENT
from caliper.serving.audit import (
    CHANGES,
    INCOMPLETE,
    LOGGER,
    AuditLine,
    AuditRecord,
)
from caliper.serving.grpc_server import Service
from caliper.serving.lifecycle import ServiceParts, merge_parts
from caliper.serving.permissions import RULES
from caliper.serving.tokens import Caller, Role
from caliper.wiring.grounds import memory_ground
from caliper.wiring.logs import JsonFormatter
from caliper.wiring.service_settings import JudgeSettings
from caliper.wiring.startup import with_metrics

RUN = "0123456789abcdef"
EVALUATE = "/caliper.api.evaluate.v1.EvaluateService"
JUDGE = "/caliper.api.judge.v1.JudgeService/Judge"
MODEL_CALLS = {
    "/caliper.api.captioner.v1.CaptionerService/Caption",
    JUDGE,
    "/caliper.api.qa_reader.v1.QaReaderService/Answer",
}
"""They leave nothing behind."""
TEAM, READER = bearer(TOKENS["evaluate"]), bearer(TOKENS["read"])
ANYBODY = Caller("", Role.ADMIN)
LINE = AuditLine("", "10.0.0.1", JUDGE, "", "UNAUTHENTICATED")


class Evaluating:
    """EvaluateService with one run."""

    def __init__(self) -> None:
        self.starting = asyncio.Event()
        self.is_partial = False

    async def StartEvaluation(self, request: Any, context: Any) -> Any:  # noqa: N802 - its name
        if request.name == "slow":
            self.starting.set()
            await forever()
        if not request.benchmarks:
            await context.abort(grpc.StatusCode.ALREADY_EXISTS, "used before")
        return pb.StartEvaluationResponse(evaluation=pb.Evaluation(run=RUN))

    async def CancelEvaluation(self, request: Any, context: Any) -> Any:  # noqa: N802 - its name
        raise NotFound("no such run")

    async def GetEvaluation(self, request: Any, context: Any) -> Any:  # noqa: N802 - its name
        return pb.GetEvaluationResponse()

    async def UploadDataset(self, requests: Any, context: Any) -> Any:  # noqa: N802 - its name
        if not [each async for each in requests if each.WhichOneof("part") == "content"]:
            if self.is_partial:
                return pb.UploadDatasetResponse(dataset="b" * 64, missing=["c" * 64])
            raise AlreadyExists("stands for other content")
        return pb.UploadDatasetResponse(dataset="b" * 64)

    async def UploadCaptions(self, requests: Any, context: Any) -> Any:  # noqa: N802 - its name
        assert [request async for request in requests]
        return pb.UploadCaptionsResponse(captions="a" * 64)


@pytest.fixture
def servicer() -> Evaluating:
    return Evaluating()


@pytest.fixture
async def stub(servicer: Evaluating, tmp_path: Path) -> AsyncIterator[Any]:
    service = Service(CONTRACTS["EvaluateService"], servicer)
    options = replace(OPTIONS, tokens=token_file(tmp_path))
    async with calling(service, options=options) as channel:
        yield stub_of("EvaluateService", channel)


@pytest.fixture(autouse=True)
def _every_level(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.INFO, LOGGER):
        yield


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [json.loads(record.getMessage()) for record in caplog.records if record.name == LOGGER]


def ends(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str, str]]:
    """The method, object and outcome of each line."""
    return [
        (line["method"].removeprefix(f"{EVALUATE}/"), line["object"], line["outcome"])
        for line in lines(caplog)
    ]


def test_every_method_that_needs_more_than_reading_is_audited() -> None:
    changing = {path for path, rule in RULES.items() if rule.role is Role.EVALUATE}
    assert changing == {*CHANGES, *MODEL_CALLS}


@pytest.mark.parametrize("path", CHANGES)
def test_the_fields_that_name_an_object_exist(path: str) -> None:
    (method,) = (method for method in methods() if path_of(method) == path)
    for dotted in CHANGES[path]:
        first, _, second = dotted.partition(".")
        sides = (method.input_type, method.output_type)
        (field,) = {side.fields_by_name.get(first) for side in sides} - {None}
        assert not second or second in field.message_type.fields_by_name


def test_a_checkpoint_without_a_name_is_its_revision() -> None:
    record = AuditRecord("/caliper.api.suites.v1.CheckpointService/RegisterCheckpoint", ANYBODY)
    checkpoint = suites_pb2.Checkpoint(revision="abc")
    record.name_object(suites_pb2.RegisterCheckpointRequest(checkpoint=checkpoint))
    assert record.object == "abc"


async def test_changes_have_lines_and_reads_have_none(
    stub: Any, caplog: pytest.LogCaptureFixture
) -> None:
    start = pb.StartEvaluationRequest(name="step-1\n000", benchmarks=[pb.BenchmarkRequest()])
    await stub.StartEvaluation(start, metadata=TEAM)
    start.ClearField("benchmarks")
    await code_of(stub.StartEvaluation(start, metadata=TEAM))
    await code_of(stub.CancelEvaluation(pb.CancelEvaluationRequest(run=RUN), metadata=TEAM))
    await stub.GetEvaluation(pb.GetEvaluationRequest(run=RUN), metadata=TEAM)
    caption = pb.UploadedCaption(sample="a", text="A text of somebody.")
    upload = iter([pb.UploadCaptionsRequest(caption=caption)])
    await stub.UploadCaptions(upload, metadata=TEAM)
    assert ends(caplog) == [
        ("StartEvaluation", RUN, "OK"),
        ("StartEvaluation", "step-1\n000", "ALREADY_EXISTS"),
        ("CancelEvaluation", RUN, "NOT_FOUND"),
        ("UploadCaptions", "a" * 64, "OK"),
    ]
    assert {(line["caller"], line["team"], line["peer"]) for line in lines(caplog)} == {
        ("a-evaluate", DEFAULT_TEAM, "127.0.0.1")
    }
    assert caption.text not in caplog.text


async def test_a_pushed_dataset_has_its_name_in_the_line(
    stub: Any, caplog: pytest.LogCaptureFixture
) -> None:
    content = [pb.UploadDatasetRequest(content=pb.DatasetContent(data=b"rows"))]
    for name, more in (("ours@v1", content), ("", content), ("ours@v1", [])):
        header = pb.UploadDatasetRequest(header=pb.DatasetHeader(name=name))
        await code_of(stub.UploadDataset(iter([header, *more]), metadata=TEAM))
    # A refusal is written after the answer.
    await until(lambda: len(ends(caplog)) == 3)
    assert ends(caplog) == [
        ("UploadDataset", "ours@v1", "OK"),
        ("UploadDataset", "b" * 64, "OK"),
        ("UploadDataset", "ours@v1", "ALREADY_EXISTS"),
    ]


async def test_a_push_is_ok_only_once_nothing_is_missing(
    stub: Any, servicer: Evaluating, caplog: pytest.LogCaptureFixture
) -> None:
    servicer.is_partial = True
    header = pb.UploadDatasetRequest(header=pb.DatasetHeader(name="ours@v1"))
    content = pb.UploadDatasetRequest(content=pb.DatasetContent(data=b"rows"))
    for parts in ([header], [header, content]):
        await stub.UploadDataset(iter(parts), metadata=TEAM)
    assert ends(caplog) == [
        ("UploadDataset", "ours@v1", INCOMPLETE),
        ("UploadDataset", "ours@v1", "OK"),
    ]


async def test_a_change_whose_caller_leaves(
    stub: Any, servicer: Evaluating, caplog: pytest.LogCaptureFixture
) -> None:
    logged = asyncio.Event()

    class Notice(logging.Filter):
        def filter(self, record: logging.LogRecord) -> bool:
            logged.set()
            return True

    with caplog.filtering(Notice()):
        call = stub.StartEvaluation(pb.StartEvaluationRequest(name="slow"), metadata=TEAM)
        await servicer.starting.wait()
        call.cancel()
        await logged.wait()
    assert ends(caplog) == [("StartEvaluation", "slow", "CANCELLED")]


async def test_refused_calls_have_lines_and_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(RULES, JUDGE, replace(RULES[JUDGE], in_flight=0))  # type: ignore[arg-type]
    options, telemetry = replace(OPTIONS, tokens=token_file(tmp_path)), RecordedTelemetry()
    async with calling(judging(forever), options=options, telemetry=telemetry) as channel:
        judge, request = stub_of("JudgeService", channel).Judge, judge_pb2.JudgeRequest()
        for metadata in (bearer("token-of-nobody"), READER, TEAM):
            await code_of(judge(request, metadata=metadata))
        await code_of(channel.unary_unary("/of.nobody/x")(b""))
    assert [(line["caller"], line["method"], line["outcome"]) for line in lines(caplog)] == [
        ("", JUDGE, "UNAUTHENTICATED"),
        ("a-read", JUDGE, "PERMISSION_DENIED"),
        ("a-evaluate", JUDGE, "RESOURCE_EXHAUSTED"),
        ("", "/of.nobody/x", "UNAUTHENTICATED"),
    ]
    assert telemetry.of(CallRefused) == [
        CallRefused("JudgeService/Judge", "unauthenticated"),
        CallRefused("JudgeService/Judge", "permission_denied"),
        CallRefused("JudgeService/Judge", "resource_exhausted"),
        CallRefused("unknown", "unauthenticated"),
    ]
    tokens = (*TOKENS.values(), "token-of-nobody")
    assert not any(token in caplog.text for token in tokens)


async def test_wrong_tokens_of_an_address_lock_nobody_out(
    stub: Any, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(25):
        call = stub.GetEvaluation(pb.GetEvaluationRequest(), metadata=bearer(f"no{number}"))
        assert await code_of(call) is grpc.StatusCode.UNAUTHENTICATED
    await stub.GetEvaluation(pb.GetEvaluationRequest(), metadata=READER)
    assert len(lines(caplog)) == 20


async def test_a_server_that_stops_tells_of_the_rest(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    options = replace(OPTIONS, tokens=token_file(tmp_path))
    async with calling(judging(forever), options=options) as channel:
        for _ in range(23):
            await code_of(channel.unary_unary(JUDGE)(b""))
    (*_, last) = lines(caplog)
    assert (last["peer"], last["outcome"], last["calls"]) == ("127.0.0.1", "UNAUTHENTICATED", 3)


@pytest.mark.parametrize("formatter", [logging.Formatter("%(message)s"), JsonFormatter()])
def test_what_a_caller_chooses_stays_in_its_field(formatter: logging.Formatter) -> None:
    line = replace(LINE, object='x"\n\u2028\x1b[0m\ud800', method="/" + "m" * 5000)
    fields = {"name": LOGGER, "msg": line, "created": 1.5, "levelname": "INFO"}
    text = formatter.format(logging.makeLogRecord(fields))
    assert text.isascii()
    assert text.isprintable()
    found = json.loads(text)
    assert found["object"] == 'x"\n\u2028\x1b[0m?'
    assert len(found["method"]) < 1100
    if isinstance(formatter, JsonFormatter):
        common = {"time": "1970-01-01T00:00:01.500+00:00", "level": "INFO", "logger": LOGGER}
        assert found == common | {"message": "audit"} | line.fields()


def test_a_service_counts_in_its_own_telemetry() -> None:
    ground = replace(memory_ground(Any), telemetry=RecordedTelemetry())  # type: ignore[arg-type]
    assert with_metrics(ServiceParts(()), ground, JudgeSettings()).telemetry is ground.telemetry
    assert merge_parts([ServiceParts(()), ServiceParts(())]).telemetry is SILENT
