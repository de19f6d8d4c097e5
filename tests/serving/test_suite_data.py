"""The datasets of suites: those that the suite's owners may see, when it is applied and later."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.fakes.loopback_server import bearer, refusal, stub_of
from tests.fakes.sources import EXAMPLES
from tests.fakes.stores import MemoryStore
from tests.fakes.suites import suite
from tests.fakes.teams import dataset, gateway, push, started

from caliper.adapters.wire import suites as wire
from caliper.adapters.wire.specs import decode_spec
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.api.suites.v1 import suites_pb2
from caliper.core.owners import Sharing

ROWS = (EXAMPLES / "captionqa" / "questions.json").read_bytes()
PLACE = "benchmarks.captionqa.data"


@pytest.fixture
async def channel(tmp_path: Path) -> AsyncIterator[grpc.aio.Channel]:
    """A gateway where ana of team red has pushed questions, and a picture."""
    async with gateway(MemoryStore(), tmp_path, Sharing.TEAM) as found:
        await push(found, "ana", dataset(ROWS, "ours@v1", media={"a.jpg": b"a"}))
        yield found


def application(name: str, data: str) -> suites_pb2.ApplySuiteRequest:
    named = suite(name, run={"benchmarks": {"captionqa": {"data": data}}})
    return suites_pb2.ApplySuiteRequest(suite=wire.encode_suite(named))


async def applied(channel: grpc.aio.Channel, caller: str, name: str, data: str) -> Any:
    """The data of a suite as it is kept."""
    apply = stub_of("SuiteService", channel).ApplySuite
    response = await apply(application(name, data), metadata=bearer(caller))
    return wire.decode_record(response.record).suite.values["run"]["benchmarks"]["captionqa"][
        "data"
    ]


async def refused(channel: grpc.aio.Channel, caller: str, data: str) -> tuple[list[str], str]:
    apply = stub_of("SuiteService", channel).ApplySuite
    fields, message = await refusal(apply(application("other", data), metadata=bearer(caller)))
    return fields, message.replace(data, "DATA")


async def test_a_suite_names_a_dataset_of_its_team(channel: grpc.aio.Channel) -> None:
    digest = (await push(channel, "ana", dataset(ROWS))).dataset
    assert await applied(channel, "ben", "nightly", "ours@v1") == digest
    assert await applied(channel, "ben", "nightly", digest) == digest
    assert await applied(channel, "cleo", "paths", "questions.json") == "questions.json"
    for hidden, absent in (("ours@v1", "nobodys@v1"), (digest, "e" * 64)):
        told = await refused(channel, "cleo", absent)
        assert told[0] == [PLACE]
        assert await refused(channel, "cleo", hidden) == told
    listed = await stub_of("SuiteService", channel).ListSuites(
        suites_pb2.ListSuitesRequest(), metadata=bearer("cleo")
    )
    assert [wire.decode_record(each).suite.name for each in listed.records] == ["paths"]


async def uploaded(channel: grpc.aio.Channel, caller: str) -> str:
    header = pb.UploadCaptionsRequest(header=pb.UploadHeader(benchmark="captionqa"))
    caption = pb.UploadedCaption(sample="nat_000", text=f"A dog that {caller} saw.")
    sent = [header, pb.UploadCaptionsRequest(caption=caption)]
    upload = stub_of("EvaluateService", channel).UploadCaptions
    return str((await upload(iter(sent), metadata=bearer(caller))).captions)


async def test_a_checkpoint_is_evaluated_on_what_its_suites_owners_have(
    channel: grpc.aio.Channel,
) -> None:
    digest = await applied(channel, "ana", "nightly", "ours@v1")
    await applied(channel, "cleo", "blues", "questions.json")
    part = pb.BenchmarkRequest(
        name="captionqa", data=digest, captions=await uploaded(channel, "ana")
    )

    async def start(caller: str, of_suite: str) -> Any:
        request = pb.StartEvaluationRequest(name="step-1", benchmarks=[part], suite=of_suite)
        return await started(channel, caller, request)

    # As the service does: it sees everything, the owners of its suites do not.
    absent = await start("root", "blues")
    assert absent == "benchmarks[0].data: no such dataset in the store"
    run = await start("root", "nightly")
    assert decode_spec(run.spec).benchmarks[0].media
    get = stub_of("EvaluateService", channel).GetEvaluation
    for caller in ("ben", "root"):
        found = await get(pb.GetEvaluationRequest(run=run.run), metadata=bearer(caller))
        assert found.evaluation.run == run.run
    # Nobody borrows the eyes of another team's suite.
    assert await start("cleo", "nightly") == absent
    assert "suite" in await start("cleo", "../nightly")
