"""The gateway's gRPC clients for the stages and the aggregator."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

from caliper.adapters.remote.channel import ReopeningChannel, Target, translate_errors
from caliper.adapters.wire.evaluations import decode_run_scores
from caliper.adapters.wire.rpc import service_stub
from caliper.adapters.wire.specs import decode_identity
from caliper.api.aggregator.v1 import aggregator_pb2
from caliper.api.captioner.v1 import captioner_pb2
from caliper.api.judge.v1 import judge_pb2
from caliper.api.qa_reader.v1 import qa_reader_pb2
from caliper.api.types.v1 import run_pb2
from caliper.core.errors import InvalidInput, NotFound
from caliper.ports.stages import Scores, StageDescription

_TIMEOUT = 10.0
_SERVICES: Mapping[str, tuple[str, Any]] = {
    "captioner": ("CaptionerService", captioner_pb2),
    "judge": ("JudgeService", judge_pb2),
    "reader": ("QaReaderService", qa_reader_pb2),
}

Remaining = Callable[[], float | None]


class RemoteStages:
    """ports.stages.StageDirectory over gRPC; `targets` by role (captioner, judge, reader).

    `remaining` returns the seconds left of the incoming call, which bound every outgoing call.
    """

    def __init__(self, targets: Mapping[str, Target], remaining: Remaining = lambda: None) -> None:
        self._targets, self._remaining = targets, remaining
        self._channels = {role: ReopeningChannel(target) for role, target in targets.items()}

    async def describe(self, role: str) -> StageDescription:
        target = self._targets.get(role)
        if target is None:
            raise InvalidInput(f"no {role} is configured", field=role)
        name, pb = _SERVICES[role]
        channel = self._channels[role].current()
        service = service_stub(pb.DESCRIPTOR.services_by_name[name], channel)
        request, timeout = pb.DescribeRequest(), _timeout(self._remaining)
        async with translate_errors(target):
            response = await service.Describe(request, timeout=timeout, metadata=target.metadata)
        models = {
            role if field.name == "identity" else field.name: decode_identity(value)
            for field, value in response.ListFields()
            if isinstance(value, run_pb2.Identity)
        }
        return StageDescription(models, response.pack)

    async def close(self) -> None:
        """Close all connections."""
        for channel in self._channels.values():
            await channel.close()


def _timeout(remaining: Remaining) -> float:
    """The timeout of a call in seconds."""
    left = remaining()
    return _TIMEOUT if left is None else min(left, _TIMEOUT)


class RemoteScores:
    """ports.stages.ScoreBoard over gRPC; `remaining` as for RemoteStages."""

    def __init__(self, target: Target, remaining: Remaining = lambda: None) -> None:
        self._target, self._remaining = target, remaining
        self._channel = ReopeningChannel(target)

    async def scores(self, run: str) -> Scores | None:
        request = aggregator_pb2.GetScoresRequest(run=run)
        try:
            async with translate_errors(self._target):
                response = await self._stub.GetScores(
                    request, timeout=_timeout(self._remaining), metadata=self._target.metadata
                )
        except NotFound:
            return None
        return decode_run_scores(response.scores)

    async def watch(self, run: str, interval: float) -> AsyncGenerator[Scores, None]:
        request = aggregator_pb2.WatchScoresRequest(run=run, interval_ms=round(interval * 1000))
        call = self._stub.WatchScores(request, metadata=self._target.metadata)
        try:
            async with translate_errors(self._target):
                async for response in call:
                    yield decode_run_scores(response.scores)
        except NotFound:
            return
        finally:
            call.cancel()

    @property
    def _stub(self) -> Any:
        # A channel belongs to the event loop in which it was created.
        services = aggregator_pb2.DESCRIPTOR.services_by_name
        return service_stub(services["AggregatorService"], self._channel.current())

    async def close(self) -> None:
        """Close the connection."""
        await self._channel.close()
