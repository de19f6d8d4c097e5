"""aggregator.v1: live scores of runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing

from caliper.adapters.wire.evaluations import encode_run_scores
from caliper.api.aggregator.v1 import aggregator_pb2 as pb
from caliper.core.errors import NotFound
from caliper.ports.stages import ScoreBoard
from caliper.serving.calls import Context, seconds


class AggregatorServicer:
    """Serves the scores of `board`, of the runs that `permits` lets the caller see."""

    contract = pb.DESCRIPTOR.services_by_name["AggregatorService"]

    def __init__(self, board: ScoreBoard, permits: Callable[[str], Awaitable[bool]]) -> None:
        self._board, self._permits = board, permits

    async def GetScores(  # noqa: N802 - named in the contract
        self, request: pb.GetScoresRequest, _: Context
    ) -> pb.GetScoresResponse:
        """The figures of a run so far."""
        permitted = await self._permits(request.run)
        scores = await self._board.scores(request.run) if permitted else None
        if scores is None:
            raise _unknown(request.run)
        return pb.GetScoresResponse(scores=encode_run_scores(scores))

    async def WatchScores(  # noqa: N802 - named in the contract
        self, request: pb.WatchScoresRequest, _: Context
    ) -> AsyncIterator[pb.WatchScoresResponse]:
        """The figures now and after every change, until the run is over."""
        if not await self._permits(request.run):
            raise _unknown(request.run)
        exists = False
        watch = self._board.watch(request.run, seconds(request.interval_ms))
        async with aclosing(watch) as updates:
            async for scores in updates:
                exists = True
                yield pb.WatchScoresResponse(scores=encode_run_scores(scores))
        if not exists:
            raise _unknown(request.run)


def _unknown(run: str) -> NotFound:
    return NotFound(f"no run {run!r:.40}")
