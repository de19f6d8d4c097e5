import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.fakes import runs
from tests.fakes.datasets import push_dataset
from tests.fakes.installation import listening
from tests.fakes.loopback_server import failure, forever, serving, stub_of

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.stages import RemoteScores, RemoteStages
from caliper.adapters.stores.directory import DirectoryStore
from caliper.api.aggregator.v1 import aggregator_pb2
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.api.qa_reader.v1 import qa_reader_pb2
from caliper.core.keys import canonical_json
from caliper.local.submission import parcel_at
from caliper.pipeline.store.runs import run_store
from caliper.pipeline.store.supplies import put_captions
from caliper.serving import adhoc, aggregator
from caliper.serving.calls import remaining_seconds
from caliper.serving.grpc_server import Service
from caliper.wiring.grounds import memory_ground
from caliper.wiring.services import gateway_parts

QUESTIONS = Path(__file__).resolve().parents[2] / "examples" / "captionqa" / "questions.json"
# Seconds. What is told apart is whose deadline holds, not how long anything takes; deadlines are
# rounded up on their way.
SHORT, OWN, LONG = 4.0, 10.0, 3600.0
ROUNDED = 1.0


@dataclass
class SilentStages:
    """A reader and an aggregator that never answer, and how long each call gave them."""

    given: list[float] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def Describe(  # noqa: N802 - named in the contract
        self, _: qa_reader_pb2.DescribeRequest, context: Any
    ) -> qa_reader_pb2.DescribeResponse:
        await self._wait(context)
        return qa_reader_pb2.DescribeResponse()

    async def GetScores(  # noqa: N802 - named in the contract
        self, _: aggregator_pb2.GetScoresRequest, context: Any
    ) -> aggregator_pb2.GetScoresResponse:
        await self._wait(context)
        return aggregator_pb2.GetScoresResponse()

    async def _wait(self, context: Any) -> None:
        self.given.append(context.time_remaining())
        self.asked.set()
        try:
            await forever()
        finally:
            self.ended.set()


def services(slow: SilentStages) -> tuple[Service, ...]:
    return Service(adhoc.QaReaderServicer.contract, slow), Service(
        aggregator.AggregatorServicer.contract, slow
    )


@asynccontextmanager
async def front(store: DirectoryStore, address: str) -> AsyncIterator[Any]:
    """The API of a gateway whose reader and aggregator are at `address`."""
    stages = RemoteStages({"reader": Target(address)}, remaining_seconds)
    scores = RemoteScores(Target(address), remaining_seconds)
    parts = gateway_parts(memory_ground(store), stages, scores)
    async with listening(parts) as place, grpc.aio.insecure_channel(place) as channel:
        yield stub_of("EvaluateService", channel)
    await stages.close()
    await scores.close()


async def start_of(store: DirectoryStore) -> pb.StartEvaluationRequest:
    parcel = parcel_at("captionqa", QUESTIONS, None)
    await push_dataset(store, parcel)
    captions = await put_captions(store, {"nat_000": "A dog."})
    part = pb.BenchmarkRequest(name="captionqa", data=parcel.digest, captions=captions)
    return pb.StartEvaluationRequest(name="ours", benchmarks=[part])


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    return DirectoryStore(tmp_path / "store")


async def test_a_stage_has_no_longer_than_the_caller(store: DirectoryStore) -> None:
    request, slow = await start_of(store), SilentStages()
    async with serving(*services(slow)) as server, front(store, str(server.address)) as stub:
        error = await failure(stub.StartEvaluation(request, timeout=SHORT))
        await asyncio.wait_for(slow.ended.wait(), 60)
    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert [0 < given <= SHORT + ROUNDED for given in slow.given] == [True]
    assert [key async for key in store.list("runs/")] == []


async def test_the_aggregator_has_no_longer_than_the_caller(store: DirectoryStore) -> None:
    spec, slow = runs.spec(name="ours"), SilentStages()
    await run_store(store, spec.run_id).put("spec.json", canonical_json(spec.to_json()))
    request = pb.GetEvaluationRequest(run=spec.run_id)
    async with serving(*services(slow)) as server, front(store, str(server.address)) as stub:
        error = await failure(stub.GetEvaluation(request, timeout=SHORT))
        await asyncio.wait_for(slow.ended.wait(), 60)
    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert [0 < given <= SHORT + ROUNDED for given in slow.given] == [True]


async def test_who_has_much_time_gives_a_stage_no_more_than_it_needs(store: DirectoryStore) -> None:
    request, slow = await start_of(store), SilentStages()
    async with serving(*services(slow)) as server, front(store, str(server.address)) as stub:
        call = stub.StartEvaluation(request, timeout=LONG)
        await asyncio.wait_for(slow.asked.wait(), 60)
        # Who leaves takes along what was asked for in turn.
        call.cancel()
        await asyncio.wait_for(slow.ended.wait(), 60)
    assert [SHORT < given <= OWN + ROUNDED for given in slow.given] == [True]
