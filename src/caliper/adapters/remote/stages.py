"""The stages and the aggregator, as the gateway calls them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

import grpc

from caliper.adapters.remote.channel import Target, told
from caliper.adapters.wire.evaluations import decode_run_scores
from caliper.adapters.wire.specs import decode_identity
from caliper.api.aggregator.v1 import aggregator_pb2, aggregator_pb2_grpc
from caliper.api.captioner.v1 import captioner_pb2, captioner_pb2_grpc
from caliper.api.judge.v1 import judge_pb2, judge_pb2_grpc
from caliper.api.qa_reader.v1 import qa_reader_pb2, qa_reader_pb2_grpc
from caliper.core.errors import InvalidInput, NotFound
from caliper.core.run import Identity
from caliper.ports.stages import Scores, StageDescription

_TIMEOUT = 10.0

Remaining = Callable[[], float | None]
_Metadata = Sequence[tuple[str, str]]


class RemoteStages:
    """ports.stages.StageDirectory over gRPC; `targets` by role (captioner, judge, reader).

    `remaining` gives the seconds that are left of the call that is being answered: none of ours
    takes longer.
    """

    def __init__(self, targets: Mapping[str, Target], remaining: Remaining = lambda: None) -> None:
        self._targets, self._remaining = targets, remaining
        self._channels: dict[str, grpc.aio.Channel] = {}

    async def describe(self, role: str) -> StageDescription:
        """Ask the stage of a role. Raises InvalidInput when there is none, BackendError."""
        target = self._targets.get(role)
        if target is None:
            raise InvalidInput(f"no {role} is configured", field=role)
        if role not in self._channels:
            self._channels[role] = target.channel()
        async with told(target):
            within = _timeout(self._remaining)
            return await _DESCRIBE[role](self._channels[role], target.metadata, within)

    async def close(self) -> None:
        """Close all connections."""
        for channel in self._channels.values():
            await channel.close()


async def _captioner(
    channel: grpc.aio.Channel, metadata: _Metadata, within: float
) -> StageDescription:
    stub = captioner_pb2_grpc.CaptionerServiceStub(channel)
    found = await stub.Describe(captioner_pb2.DescribeRequest(), timeout=within, metadata=metadata)
    return StageDescription({"captioner": decode_identity(found.identity)}, found.pack)


async def _judge(channel: grpc.aio.Channel, metadata: _Metadata, within: float) -> StageDescription:
    stub = judge_pb2_grpc.JudgeServiceStub(channel)
    found = await stub.Describe(judge_pb2.DescribeRequest(), timeout=within, metadata=metadata)
    models: dict[str, Identity] = {"judge": decode_identity(found.identity)}
    for role in ("tagger", "embedder"):
        if found.HasField(role):
            models[role] = decode_identity(getattr(found, role))
    return StageDescription(models, found.pack)


async def _reader(
    channel: grpc.aio.Channel, metadata: _Metadata, within: float
) -> StageDescription:
    stub = qa_reader_pb2_grpc.QaReaderServiceStub(channel)
    found = await stub.Describe(qa_reader_pb2.DescribeRequest(), timeout=within, metadata=metadata)
    return StageDescription({"reader": decode_identity(found.identity)}, found.pack)


def _timeout(remaining: Remaining) -> float:
    """Seconds that a call may take."""
    left = remaining()
    return _TIMEOUT if left is None else min(left, _TIMEOUT)


_DESCRIBE = {"captioner": _captioner, "judge": _judge, "reader": _reader}


class RemoteScores:
    """ports.stages.ScoreBoard over gRPC; `remaining` as for RemoteStages."""

    def __init__(self, target: Target, remaining: Remaining = lambda: None) -> None:
        self._target, self._remaining = target, remaining
        self._channel: grpc.aio.Channel | None = None

    async def scores(self, run: str) -> Scores | None:
        """Ask the aggregator. Raises BackendError."""
        request = aggregator_pb2.GetScoresRequest(run=run)
        try:
            async with told(self._target):
                found = await self._stub.GetScores(
                    request, timeout=_timeout(self._remaining), metadata=self._target.metadata
                )
        except NotFound:
            return None
        return decode_run_scores(found.scores)

    async def watch(self, run: str, interval: float) -> AsyncGenerator[Scores, None]:
        """Listen to the aggregator until the run is over. Raises BackendError."""
        request = aggregator_pb2.WatchScoresRequest(run=run, interval_ms=round(interval * 1000))
        call = self._stub.WatchScores(request, metadata=self._target.metadata)
        try:
            async with told(self._target):
                async for found in call:
                    yield decode_run_scores(found.scores)
        except NotFound:
            return
        finally:
            call.cancel()

    @property
    def _stub(self) -> aggregator_pb2_grpc.AggregatorServiceStub:
        # A channel belongs to the event loop that it is made in.
        if self._channel is None:
            self._channel = self._target.channel()
        return aggregator_pb2_grpc.AggregatorServiceStub(self._channel)

    async def close(self) -> None:
        """Close the connection."""
        if self._channel is not None:
            await self._channel.close()
