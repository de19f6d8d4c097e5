"""Measures the jobs waiting for workers, also if there are none."""

from __future__ import annotations

from contextlib import suppress

from caliper.core.errors import StreamUnavailable
from caliper.pipeline.planning.publisher import JOB_TOPICS
from caliper.ports.clock import Clock
from caliper.ports.stream import JobStream
from caliper.ports.telemetry import BacklogRead, Telemetry

_PACE = 15.0


class BacklogMeter:
    """Records the backlog of every topic of jobs."""

    def __init__(self, stream: JobStream, clock: Clock, telemetry: Telemetry) -> None:
        self._stream, self._clock, self._telemetry = stream, clock, telemetry

    async def run(self) -> None:
        """Measure every 15 seconds, forever, skipping while the stream is down."""
        while True:
            for topic in JOB_TOPICS:
                with suppress(StreamUnavailable):
                    # The workers of a topic share the group of its name.
                    backlog = await self._stream.backlog(topic, topic)
                    self._telemetry.record(BacklogRead(topic, backlog))
            await self._clock.sleep(_PACE)
