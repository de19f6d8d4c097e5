import asyncio

from tests.fakes.clock import FakeClock
from tests.fakes.evaluations import House, stored_run, verdict, verdicts_of
from tests.fakes.telemetry import RecordedTelemetry, until

from caliper.adapters.streams.memory import MemoryStream
from caliper.pipeline.aggregation.follower import LagMeter
from caliper.pipeline.planning.publisher import RUNS, VERDICTS


async def test_the_aggregator_tells_how_far_it_is_behind() -> None:
    house, told = House(), RecordedTelemetry()
    board, run = await house.aggregator(), await stored_run(house.store)
    log = MemoryStream(logs=(VERDICTS, RUNS))
    lagging = asyncio.create_task(LagMeter([board], log, FakeClock(), told).run())
    record = verdicts_of(run, [verdict(0, 1), verdict(1, 0)])
    await log.publish(record.message)
    await until(lambda: told.lag.get(VERDICTS) == {0: 1})
    await board.apply([record])
    await until(lambda: told.lag.get(VERDICTS) == {0: 0})
    lagging.cancel()
