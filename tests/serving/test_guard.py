import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from grpc_status import rpc_status
from tests.fakes.loopback_server import (
    OPTIONS,
    TOKENS,
    bearer,
    calling,
    failure,
    forever,
    judging,
    raising,
    stub_of,
    token_file,
)
from tests.fakes.methods import CONTRACTS

from caliper.api.evaluate.v1 import evaluate_pb2
from caliper.api.judge.v1 import judge_pb2
from caliper.core import errors
from caliper.core.errors import ERROR_POLICIES, InvalidInput, UnknownName
from caliper.pipeline.work.log_subject import subject_ids
from caliper.serving.audit import Audit
from caliper.serving.calls import remaining_seconds
from caliper.serving.grpc_server import MAX_RECEIVED, Service
from caliper.serving.guard import Guard
from caliper.serving.statuses import status_of

REQUEST = judge_pb2.JudgeRequest()


async def rich(error: Exception) -> tuple[grpc.aio.AioRpcError, Any]:
    """What a caller sees of `error`, and its google.rpc.Status."""
    async with calling(judging(raising(error))) as channel:
        found = await failure(stub_of("JudgeService", channel).Judge(REQUEST))
    return found, rpc_status.from_call(found)


async def test_a_field_violation() -> None:
    error = InvalidInput("no text", file="/srv/data/rows.jsonl", line=3, field="rows[2].task")
    found, status = await rich(error)
    assert found.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert found.details() == status.message == "rows.jsonl:3: rows[2].task: no text"
    (detail,) = status.details
    told = BadRequest()
    assert detail.Unpack(told)
    assert [(each.field, each.description) for each in told.field_violations] == [
        ("rows[2].task", "no text")
    ]


@pytest.mark.parametrize(("asked", "seconds"), [(None, 1.0), (0.25, 0.25), (30.0, 30.0)])
async def test_when_to_come_back(asked: float | None, seconds: float) -> None:
    found, status = await rich(errors.BackendOverloaded("too many", asked))
    assert found.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    told = RetryInfo()
    assert status.details[0].Unpack(told)
    assert told.retry_delay.ToNanoseconds() == seconds * 1e9


@pytest.mark.parametrize("error", [KeyError("password"), OSError("password"), TimeoutError()])
async def test_defects_tell_nothing(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        found, status = await rich(error)
    assert found.code() is grpc.StatusCode.INTERNAL
    assert "password" not in str(status) + str(found.trailing_metadata())
    assert repr(error) in repr([record.exc_info for record in caplog.records])


@pytest.mark.parametrize("kind", list(ERROR_POLICIES))
def test_the_table_of_failures_holds(kind: type[Exception]) -> None:
    error = UnknownName("x", "y", ("z",)) if kind is UnknownName else kind("why")
    expected = grpc.StatusCode[ERROR_POLICIES[kind].grpc_status or "INTERNAL"]
    assert status_of(error).code == expected.value[0]


def test_texts_that_cannot_travel() -> None:
    assert status_of(errors.MediaMissing("no \ud800.jpg")).message == "no ?.jpg"


def test_a_field_that_cannot_travel() -> None:
    assert "?" in str(status_of(InvalidInput("the key \ud800", field="\ud800")))


async def test_what_a_servicer_aborts_with_stands() -> None:
    class Aborting:
        async def Judge(self, request: Any, context: Any) -> Any:  # noqa: N802 - its name
            await context.abort(grpc.StatusCode.ALREADY_EXISTS, "used before")

    service = replace(judging(forever), servicer=Aborting())
    async with calling(service) as channel:
        found = await failure(stub_of("JudgeService", channel).Judge(REQUEST))
    assert (found.code(), found.details()) == (grpc.StatusCode.ALREADY_EXISTS, "used before")


async def test_a_method_that_nobody_wrote() -> None:
    async with calling(judging(forever)) as channel:
        stub = stub_of("JudgeService", channel)
        found = await failure(stub.Describe(judge_pb2.DescribeRequest()))
    assert found.code() is grpc.StatusCode.UNIMPLEMENTED


async def seen_remaining(tmp_path: Path, **given: Any) -> float | None:
    """The seconds that a servicer has left of its call."""
    seen: list[float | None] = []

    async def look() -> None:
        seen.append(remaining_seconds())

    options = replace(OPTIONS, tokens=token_file(tmp_path), deadline=45.0)
    async with calling(judging(look), options=options) as channel:
        stub = stub_of("JudgeService", channel)
        await stub.Judge(REQUEST, metadata=bearer(TOKENS["evaluate"]), **given)
    return seen[0]


async def test_the_deadline_of_the_caller_is_passed_on(tmp_path: Path) -> None:
    remaining = await seen_remaining(tmp_path, timeout=1000.0)
    assert remaining is not None
    # On the wire, gRPC rounds it up by as much as a hundredth.
    assert 45.0 < remaining <= 1010.0


async def test_a_deadline_where_the_caller_gave_none(tmp_path: Path) -> None:
    remaining = await seen_remaining(tmp_path)
    assert remaining is not None
    assert 0.0 < remaining <= 45.0


def test_outside_of_a_call_there_is_none() -> None:
    assert remaining_seconds() is None


@pytest.mark.parametrize("given", [{}, {"timeout": 0.05}])
async def test_the_deadline_ends_the_work(given: dict[str, float]) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        begun.set()
        try:
            await forever()
        finally:
            ended.set()

    options = replace(OPTIONS, deadline=0.05 if not given else 30.0)
    async with calling(judging(hang), options=options) as channel:
        stub = stub_of("JudgeService", channel)
        found = await failure(stub.Judge(REQUEST, **given))
        # The first may have spent its time on connecting.
        while not begun.is_set():
            found = await failure(stub.Judge(REQUEST, **given))
        await ended.wait()
    assert found.code() is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_a_request_that_is_too_large() -> None:
    async def nothing() -> None:
        pass

    async with calling(judging(nothing)) as channel:
        stub = stub_of("JudgeService", channel)
        await stub.Judge(judge_pb2.JudgeRequest(caption="x" * (MAX_RECEIVED - 100)))
        large = judge_pb2.JudgeRequest(caption="x" * MAX_RECEIVED)
        found = await failure(stub.Judge(large))
    assert found.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


class Naming:
    """Answers with what records name while it works on a call."""

    async def GetReport(self, request: Any, context: Any) -> Any:  # noqa: N802 - its name
        yield evaluate_pb2.GetReportResponse(media_type=str(subject_ids()))

    async def ListEvaluations(self, request: Any, context: Any) -> Any:  # noqa: N802 - its name
        return evaluate_pb2.ListEvaluationsResponse(next_page_token=str(subject_ids()))

    async def CancelEvaluation(self, request: Any, context: Any) -> None:  # noqa: N802 - its name
        raise KeyError(request.run)


class Subjects(logging.Filter):
    """Notes what each record names."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.subject = subject_ids()
        return True


async def test_records_logged_meanwhile_name_the_run(caplog: pytest.LogCaptureFixture) -> None:
    run = "0123456789abcdef"
    service = Service(CONTRACTS["EvaluateService"], Naming())
    async with calling(service) as channel:
        stub = stub_of("EvaluateService", channel)
        async for response in stub.GetReport(evaluate_pb2.GetReportRequest(run=run)):
            assert response.media_type == str({"run": run})
        listed = await stub.ListEvaluations(evaluate_pb2.ListEvaluationsRequest())
        assert listed.next_page_token == "{}"
        with caplog.filtering(Subjects()):
            for name in (run, "../x"):
                await failure(stub.CancelEvaluation(evaluate_pb2.CancelEvaluationRequest(run=name)))
    # The audit log, too, where another test left it on.
    errors = [record for record in caplog.records if record.levelname == "ERROR"]
    assert [vars(record)["subject"] for record in errors] == [{"run": run}, {}]


async def test_bytes_that_are_no_request(caplog: pytest.LogCaptureFixture) -> None:
    async def nothing() -> None:
        pass

    async with calling(judging(nothing)) as channel:
        found = await failure(
            channel.unary_unary("/caliper.api.judge.v1.JudgeService/Judge")(b"\xff")
        )
    assert found.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert found.details() == "the request is not a message of this method"
    assert caplog.records == []


async def test_bytes_that_are_no_request_in_a_stream() -> None:
    class Uploading:
        async def UploadCaptions(self, request_iterator: Any, context: Any) -> Any:  # noqa: N802 - its name
            count = len([request async for request in request_iterator])
            return evaluate_pb2.UploadCaptionsResponse(captions=f"{count} came")

    service = Service(CONTRACTS["EvaluateService"], Uploading())
    async with calling(service) as channel:
        upload = channel.stream_unary("/caliper.api.evaluate.v1.EvaluateService/UploadCaptions")
        assert b"2 came" in await upload(iter([b"", b""]))
        found = await failure(upload(iter([b"", b"\xff"])))
    assert found.code() is grpc.StatusCode.INVALID_ARGUMENT


class SlowWrite:
    """The context of a call whose first response is being sent until `sent` is set."""

    def __init__(self) -> None:
        self.writing, self.sent, self.codes = asyncio.Event(), asyncio.Event(), []
        self.written: list[str] = []

    def time_remaining(self) -> None:
        return None

    def code(self) -> grpc.StatusCode:
        return self.codes[-1]

    async def write(self, response: str) -> None:
        self.writing.set()
        await self.sent.wait()
        self.written.append(response)

    async def abort(self, code: grpc.StatusCode, *_: object) -> None:
        self.codes.append(code)
        raise grpc.aio.AbortError


async def test_a_response_that_is_being_sent_when_streams_end_is_sent() -> None:
    async def watch(*_: object) -> AsyncIterator[str]:
        yield "serving"
        await asyncio.Event().wait()

    async def continuation(_: object) -> Any:
        return grpc.unary_stream_rpc_method_handler(watch)

    guard, context = Guard(None, 60.0, Audit()), SlowWrite()
    details = SimpleNamespace(method="/grpc.health.v1.Health/Watch", invocation_metadata=())
    handler: Any = await guard.intercept_service(continuation, details)  # type: ignore[arg-type]
    call = asyncio.ensure_future(handler.unary_stream(None, context))
    await context.writing.wait()
    guard.end_streams()
    # The limit of the stream is moved to now, and then cancels its task.
    for _ in range(3):
        await asyncio.sleep(0)
    context.sent.set()
    with pytest.raises(grpc.aio.AbortError):
        await call
    assert context.written == ["serving"]
    assert context.codes == [grpc.StatusCode.UNAVAILABLE]
