"""aggregator.v1: rolling scores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc

from caliper.adapters.wire.evaluations import encode_run_scores
from caliper.api.aggregator.v1 import aggregator_pb2 as pb
from caliper.api.aggregator.v1 import aggregator_pb2_grpc
from caliper.core.errors import NotFound
from caliper.pipeline.gateway import OVER
from caliper.ports.clock import Clock
from caliper.ports.stages import ScoreBoard, Scores
from caliper.runtime.grpc_server import Service

NAME = pb.DESCRIPTOR.services_by_name["AggregatorService"].full_name
_INTERVAL = 1000
_Context = grpc.aio.ServicerContext[Any, Any]


class AggregatorServicer(aggregator_pb2_grpc.AggregatorServiceServicer):
    """Tells what `board` shows."""

    def __init__(self, board: ScoreBoard, clock: Clock) -> None:
        self._board, self._clock = board, clock

    async def GetScores(  # noqa: N802 - named in the contract
        self, request: pb.GetScoresRequest, _: _Context
    ) -> pb.GetScoresResponse:
        """The figures of a run so far."""
        return pb.GetScoresResponse(scores=encode_run_scores(await self._scores(request.run)))

    async def WatchScores(  # noqa: N802 - named in the contract
        self, request: pb.WatchScoresRequest, _: _Context
    ) -> AsyncIterator[pb.WatchScoresResponse]:
        """The figures now, and whenever they have changed, until the run is over."""
        last = None
        while True:
            found = await self._scores(request.run)
            if found != last:
                yield pb.WatchScoresResponse(scores=encode_run_scores(found))
            if found.state in OVER:
                return
            last = found
            await self._clock.sleep((request.interval_ms or _INTERVAL) / 1000)

    async def _scores(self, run: str) -> Scores:
        found = await self._board.scores(run)
        if found is None:
            raise NotFound(f"no run {run!r:.40}")
        return found


def service(servicer: AggregatorServicer) -> Service:
    """The servicer as a server takes it."""
    return Service(
        NAME,
        lambda server: aggregator_pb2_grpc.add_AggregatorServiceServicer_to_server(
            servicer, server
        ),
    )
