"""What a dispatcher meets: starts that overlap, a stream that is away, jobs that are too long."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from tests.fakes.workshop import Workshop

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.envelopes import Message
from caliper.core.errors import DataLoss, InvalidInput, StreamUnavailable
from caliper.core.run import RunState
from caliper.pipeline.aggregation.queue_reader import QueueReader
from caliper.pipeline.planning.publisher import QA_JOBS
from caliper.pipeline.store.runs import STARTED


async def healed(shop: Workshop) -> str:
    """A run that lost an object, was started again, and is over."""
    planned = await shop.start("ours", 20)
    await shop.work("ours")
    await shop.known.conclude()
    (run,) = shop.known.table
    shop.known.table.fail(run, DataLoss("lost", file="a caption"))
    await shop.start_again(planned)
    for _ in range(10):
        await shop.tick()
    shop.clock.seconds += 10
    await shop.known.conclude()
    (run,) = shop.known.table
    assert (run.state, run.jobs_left) == (RunState.COMPLETE, False)
    return planned.spec.run_id


async def test_a_run_that_was_healed_is_not_asked_again_after_a_restart() -> None:
    shop = Workshop(100)
    await healed(shop)
    asked = sum(shop.asked.values())
    await shop.known.snapshot()
    await shop.restart()
    for _ in range(10):
        await shop.tick()
    assert sum(shop.asked.values()) == asked


async def test_a_run_that_was_healed_is_not_asked_again_when_somebody_looks_at_it() -> None:
    shop = Workshop(100)
    run = await healed(shop)
    asked = sum(shop.asked.values())
    shop.clock.seconds += 3600
    await shop.known.conclude()
    assert not list(shop.known.table)
    await shop.known.scores(run)
    for _ in range(10):
        await shop.tick()
    assert sum(shop.asked.values()) == asked


class WatchedStream(MemoryStream):
    """Calls `after` once, after its first message."""

    after: Callable[[], Awaitable[None]] | None = None

    async def publish(self, message: Message) -> None:
        await super().publish(message)
        after, self.after = self.after, None
        if after is not None:
            await after()


async def test_a_start_that_is_planned_while_the_last_jobs_go_out_gets_its_own() -> None:
    stream = WatchedStream()
    shop = Workshop(100, stream)
    planned = await shop.start("ours", 10)
    stream.after = lambda: shop.start_again(planned)
    await shop.dispatcher.refill()
    await shop.dispatcher.refill()
    (run,) = shop.known.table
    assert run.start == 2
    # Workers may have dropped the jobs of the first start, which was cancelled.
    assert (await stream.backlog(QA_JOBS, QA_JOBS)).waiting == 20


class NarrowShakyStream(MemoryStream):
    """Takes no message about one sample, which is too long, and is away for another once."""

    was_away = False

    async def publish(self, message: Message) -> None:
        if message.key.endswith("_007"):
            raise InvalidInput("a message of 9000000 bytes")
        if not self.was_away:
            self.was_away = True
            raise StreamUnavailable("away")
        await super().publish(message)


async def test_a_job_that_is_too_long_fails_its_run_though_the_stream_is_away() -> None:
    shop = Workshop(100, NarrowShakyStream())
    await shop.start("ours", 20)
    with pytest.raises(StreamUnavailable):
        await shop.dispatcher.refill()
    await shop.dispatcher.refill()
    (run,) = shop.known.table
    # Or else it waits for ever: the job is in no queue, and on no topic.
    assert run.is_broken


@pytest.mark.parametrize("field", [b'"starts":"x"', b'"starts":1,"priority":[]'])
async def test_a_damaged_start_stops_no_other_run(field: bytes) -> None:
    shop = Workshop(100)
    ours, _ = await shop.start("ours", 20), await shop.start("theirs", 20)
    await ours.store.put(STARTED, b'{"schema":1,' + field + b"}")
    dispatching = asyncio.create_task(shop.dispatcher.run())
    for _ in range(100):
        await asyncio.sleep(0)
    assert not dispatching.done()
    dispatching.cancel()


async def test_jobs_in_memory_are_bounded_in_bytes() -> None:
    shop = Workshop(100)
    await shop.start("ours", 1_000)
    (run,) = shop.known.table
    queue = QueueReader(shop.known.table, run, run.start, 0, weight=1, shards=run.shards or 0)
    await queue.read_ahead(most=1)
    one_shard = queue.size
    await queue.read_ahead(most=1)
    assert queue.size == one_shard > 0
    await queue.read_ahead(most=one_shard + 1)
    assert queue.size > one_shard
    while queue.heads():
        queue.take(QA_JOBS)
    assert queue.size == 0
