"""The gateway's gRPC clients for the stages and the aggregator."""

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

    `remaining` returns the seconds left of the incoming call, which bound every outgoing call.
    """

    def __init__(self, targets: Mapping[str, Target], remaining: Remaining = lambda: None) -> None:
        self._targets, self._remaining = targets, remaining
        self._channels: dict[str, grpc.aio.Channel] = {}

    async def describe(self, role: str) -> StageDescription:
        """Query the stage of a role. Raises InvalidInput if there is none, BackendError."""
        target = self._targets.get(role)
        if target is None:
            raise InvalidInput(f"no {role} is configured", field=role)
        if role not in self._channels:
            self._channels[role] = target.channel()
        async with told(target):
            timeout = _timeout(self._remaining)
            return await _DESCRIBE[role](self._channels[role], target.metadata, timeout)

    async def close(self) -> None:
        """Close all connections."""
        for channel in self._channels.values():
            await channel.close()


async def _captioner(
    channel: grpc.aio.Channel, metadata: _Metadata, seconds: float
) -> StageDescription:
    stub = captioner_pb2_grpc.CaptionerServiceStub(channel)
    response = await stub.Describe(
        captioner_pb2.DescribeRequest(), timeout=seconds, metadata=metadata
    )
    return StageDescription({"captioner": decode_identity(response.identity)}, response.pack)


async def _judge(
    channel: grpc.aio.Channel, metadata: _Metadata, seconds: float
) -> StageDescription:
    stub = judge_pb2_grpc.JudgeServiceStub(channel)
    response = await stub.Describe(judge_pb2.DescribeRequest(), timeout=seconds, metadata=metadata)
    models: dict[str, Identity] = {"judge": decode_identity(response.identity)}
    for role in ("tagger", "embedder"):
        if response.HasField(role):
            models[role] = decode_identity(getattr(response, role))
    return StageDescription(models, response.pack)


async def _reader(
    channel: grpc.aio.Channel, metadata: _Metadata, seconds: float
) -> StageDescription:
    stub = qa_reader_pb2_grpc.QaReaderServiceStub(channel)
    response = await stub.Describe(
        qa_reader_pb2.DescribeRequest(), timeout=seconds, metadata=metadata
    )
    return StageDescription({"reader": decode_identity(response.identity)}, response.pack)


def _timeout(remaining: Remaining) -> float:
    """The timeout of a call in seconds."""
    left = remaining()
    return _TIMEOUT if left is None else min(left, _TIMEOUT)


_DESCRIBE = {"captioner": _captioner, "judge": _judge, "reader": _reader}


class RemoteScores:
    """ports.stages.ScoreBoard over gRPC; `remaining` as for RemoteStages."""

    def __init__(self, target: Target, remaining: Remaining = lambda: None) -> None:
        self._target, self._remaining = target, remaining
        self._channel: grpc.aio.Channel | None = None

    async def scores(self, run: str) -> Scores | None:
        """Query the aggregator. Raises BackendError."""
        request = aggregator_pb2.GetScoresRequest(run=run)
        try:
            async with told(self._target):
                response = await self._stub.GetScores(
                    request, timeout=_timeout(self._remaining), metadata=self._target.metadata
                )
        except NotFound:
            return None
        return decode_run_scores(response.scores)

    async def watch(self, run: str, interval: float) -> AsyncGenerator[Scores, None]:
        """Stream scores from the aggregator until the run ends. Raises BackendError."""
        request = aggregator_pb2.WatchScoresRequest(run=run, interval_ms=round(interval * 1000))
        call = self._stub.WatchScores(request, metadata=self._target.metadata)
        try:
            async with told(self._target):
                async for response in call:
                    yield decode_run_scores(response.scores)
        except NotFound:
            return
        finally:
            call.cancel()

    @property
    def _stub(self) -> aggregator_pb2_grpc.AggregatorServiceStub:
        # A channel belongs to the event loop in which it was created.
        if self._channel is None:
            self._channel = self._target.channel()
        return aggregator_pb2_grpc.AggregatorServiceStub(self._channel)

    async def close(self) -> None:
        """Close the connection."""
        if self._channel is not None:
            await self._channel.close()
