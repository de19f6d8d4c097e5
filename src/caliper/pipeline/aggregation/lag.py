"""Records how far the aggregator lags behind its topics."""

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
    """Compares the ends of the topics with what is applied, and records the difference."""

    def __init__(
        self, aggregator: Aggregator, logs: LogReader, clock: Clock, telemetry: Telemetry
    ) -> None:
        self._aggregator, self._logs = aggregator, logs
        self._clock, self._telemetry = clock, telemetry

    async def run(self) -> None:
        """Measure every ten seconds, skipping while the stream is down or another leads."""
        while True:
            for topic in (RUNS, VERDICTS) if self._aggregator.leads else ():
                with suppress(StreamUnavailable):
                    await self._measure(topic)
            await self._clock.sleep(_PACE)

    async def _measure(self, topic: str) -> None:
        ends = await self._logs.ends(topic)
        reached = self._aggregator.places.offsets.get(topic, {})
        lag = {
            partition: max(0, end - reached.get(partition, 0)) for partition, end in ends.items()
        }
        self._telemetry.record(RecordsWaiting(topic, lag))
