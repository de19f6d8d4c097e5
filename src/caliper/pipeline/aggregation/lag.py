"""How far the aggregator is behind its topics, as telemetry."""

from __future__ import annotations

from contextlib import suppress

from caliper.core.errors import StreamUnavailable
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.planning.publisher import RUNS, VERDICTS
from caliper.ports.clock import Clock
from caliper.ports.stream import LogReader
from caliper.ports.telemetry import RecordsWaiting, Telemetry

_PACE = 10.0


class LagMeter:
    """Asks `logs` for the ends of the topics again and again, and tells what is not entered."""

    def __init__(
        self, aggregator: Aggregator, logs: LogReader, clock: Clock, telemetry: Telemetry
    ) -> None:
        self._aggregator, self._logs = aggregator, logs
        self._clock, self._telemetry = clock, telemetry

    async def run(self) -> None:
        """Look every ten seconds; while the stream is away nothing new is told."""
        while True:
            for topic in (RUNS, VERDICTS):
                with suppress(StreamUnavailable):
                    await self._look(topic)
            await self._clock.sleep(_PACE)

    async def _look(self, topic: str) -> None:
        ends = await self._logs.ends(topic)
        reached = self._aggregator.places.offsets.get(topic, {})
        lag = {place: max(0, end - reached.get(place, 0)) for place, end in ends.items()}
        self._telemetry.record(RecordsWaiting(topic, lag))
