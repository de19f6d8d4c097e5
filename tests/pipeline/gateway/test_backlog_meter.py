from __future__ import annotations

import asyncio

from tests.fakes.clock import FakeClock
from tests.fakes.telemetry import RecordedTelemetry, until

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.envelopes import Message
from caliper.core.errors import StreamUnavailable
from caliper.pipeline.gateway.backlog_meter import BacklogMeter
from caliper.pipeline.planning.publisher import JUDGE_JOBS
from caliper.ports.stream import Backlog
from caliper.ports.telemetry import BacklogRead


class ShakyStream(MemoryStream):
    """Away at the first call."""

    calls = 0

    async def backlog(self, topic: str, group: str) -> Backlog:
        self.calls += 1
        if self.calls == 1:
            raise StreamUnavailable("away")
        return await super().backlog(topic, group)


async def test_jobs_that_nobody_takes_are_counted() -> None:
    stream, told = ShakyStream(), RecordedTelemetry()
    for _ in range(3):
        await stream.publish(Message(JUDGE_JOBS, "key", b"job"))
    measuring = asyncio.create_task(BacklogMeter(stream, FakeClock(), told).run())
    await until(lambda: len(told.of(BacklogRead)) >= 7)
    measuring.cancel()
    backlogs = {one.topic: one.backlog for one in told.of(BacklogRead)}
    assert {topic: one.waiting for topic, one in backlogs.items() if one.waiting} == {JUDGE_JOBS: 3}
    assert backlogs[JUDGE_JOBS].oldest is not None
