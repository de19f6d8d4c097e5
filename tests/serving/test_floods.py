"""What one caller can ask for: calls in flight, seconds, and bytes of captions."""

from collections.abc import AsyncIterator
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
    failure,
    forever,
    judging,
    stub_of,
    token_file,
)

from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.api.judge.v1 import judge_pb2
from caliper.core.errors import BackendOverloaded, InvalidInput
from caliper.serving.calls import remaining_seconds
from caliper.serving.gateway import GatewayServicer
from caliper.serving.grpc_server import MOST_CALLS, Service
from caliper.serving.permissions import RULES
from caliper.serving.uploads import Uploads

READ, TEAM = bearer(TOKENS["read"]), bearer(TOKENS["evaluate"])
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED


class Endless:
    """Watches and comparisons that never end; every call to get a run is answered."""

    async def WatchEvaluation(  # noqa: N802 - named in the contract
        self, _: Any, __: Any
    ) -> AsyncIterator[pb.WatchEvaluationResponse]:
        yield pb.WatchEvaluationResponse()
        await forever()

    async def CompareEvaluations(  # noqa: N802 - named in the contract
        self, _: Any, __: Any
    ) -> AsyncIterator[pb.CompareEvaluationsResponse]:
        yield pb.CompareEvaluationsResponse()
        await forever()

    async def GetEvaluation(  # noqa: N802 - named in the contract
        self, _: Any, __: Any
    ) -> pb.GetEvaluationResponse:
        return pb.GetEvaluationResponse()


@pytest.fixture
async def stub(tmp_path: Path) -> AsyncIterator[Any]:
    service = Service(GatewayServicer.contract, Endless())
    async with calling(service, options=replace(OPTIONS, tokens=token_file(tmp_path))) as channel:
        yield stub_of("EvaluateService", channel)


@pytest.mark.parametrize(
    ("method", "request_of"),
    [
        ("WatchEvaluation", pb.WatchEvaluationRequest),
        ("CompareEvaluations", pb.CompareEvaluationsRequest),
    ],
)
async def test_one_caller_locks_nobody_out(stub: Any, method: str, request_of: Any) -> None:
    most = RULES[f"/{GatewayServicer.contract.full_name}/{method}"].in_flight
    call = getattr(stub, method)
    watches = [call(request_of(), metadata=READ) for _ in range(most)]
    for watch in watches:
        await watch.read()
    refused = await failure(call(request_of(), metadata=READ).read())
    assert refused.code() is EXHAUSTED
    assert f"{most} such calls in flight" in str(refused.details())
    # The same caller's other calls are answered, and so is everybody else.
    await stub.GetEvaluation(pb.GetEvaluationRequest(), metadata=READ)
    await call(request_of(), metadata=TEAM).read()
    watches[0].cancel()
    while await code_of(call(request_of(), metadata=READ).read()) is EXHAUSTED:
        pass


def test_no_caller_may_fill_a_server() -> None:
    assert sum(rule.in_flight for rule in set(RULES.values())) < MOST_CALLS


@pytest.mark.parametrize(
    ("asked", "usual", "most"), [(86_400.0, 120.0, 600.0), (86_400.0, 900.0, 900.0)]
)
async def test_a_caller_cannot_ask_for_more_time(asked: float, usual: float, most: float) -> None:
    seen: list[float | None] = []

    async def look() -> None:
        seen.append(remaining_seconds())

    async with calling(judging(look), options=replace(OPTIONS, deadline=usual)) as channel:
        await stub_of("JudgeService", channel).Judge(judge_pb2.JudgeRequest(), timeout=asked)
    assert seen == [pytest.approx(most, abs=30)]


HEADER = pb.UploadCaptionsRequest(header=pb.UploadHeader(benchmark="captionqa"))


def caption(sample: str, text: str = "A dog.") -> pb.UploadCaptionsRequest:
    return pb.UploadCaptionsRequest(caption=pb.UploadedCaption(sample=sample, text=text))


async def parts(*captions: pb.UploadCaptionsRequest) -> AsyncIterator[pb.UploadCaptionsRequest]:
    for part in (HEADER, *captions):
        yield part


async def test_an_upload_is_bounded_in_bytes() -> None:
    uploads = Uploads(each=1000)
    with pytest.raises(InvalidInput, match="more than 1,000 bytes in all"):
        # 300 characters, 1,200 bytes.
        async with uploads.receive(parts(caption("a", "\U0001f600" * 300))):
            pass


async def test_all_uploads_together_are_bounded_in_bytes() -> None:
    uploads = Uploads(together=1000)
    big = caption("a", "x" * 700)
    async with uploads.receive(parts(big)) as first:
        assert dict(first) == {"a": "x" * 700}
        with pytest.raises(BackendOverloaded, match="try again later"):
            async with uploads.receive(parts(big)):
                pass
        async with uploads.receive(parts(caption("b"))) as small:
            assert dict(small) == {"b": "A dog."}
    async with uploads.receive(parts(big)) as again:
        assert len(again) == 1
