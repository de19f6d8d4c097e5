import asyncio

import pytest
from tests.fakes.clock import PATIENCE, FakeClock

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.errors import StreamUnavailable
from caliper.core.messages import MessageValue
from caliper.pipeline.work.stage import Stage
from caliper.pipeline.work.worker import Attempt, WorkerLimits


async def handle(attempt: Attempt) -> None:
    pass


async def give_up(job: MessageValue, error: BaseException) -> None:
    raise error


async def test_a_stage_that_has_not_begun_says_so() -> None:
    stage = Stage("jobs", (handle, give_up), MemoryStream(), FakeClock(), WorkerLimits())
    with pytest.raises(StreamUnavailable, match="jobs"):
        await stage.check()
    async with asyncio.timeout(PATIENCE):
        working = asyncio.ensure_future(stage.run())
        await asyncio.sleep(0)
        await stage.check()
        stage.stop()
        await working
