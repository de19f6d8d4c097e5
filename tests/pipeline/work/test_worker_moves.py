"""A partition that is lost during a retry and comes back finds the job's budget whole."""

import asyncio
from collections.abc import Mapping
from types import MappingProxyType

import pytest
from tests.fakes.clock import FakeClock

from caliper.core.envelopes import Delivery, Message, position_of
from caliper.core.errors import BackendUnavailable
from caliper.pipeline.work.worker import Attempt, Worker, WorkerLimits

JOB = Message("jobs", "a", b"job")
BUDGET, HOUR = 600.0, 3600.0


class Scripted:
    """ports.stream.Consumer that hands out deliveries, with seconds that pass and events that
    are awaited in between, and keeps what became of them. `retries` are set one by one.
    """

    trouble = None
    rebalances = 0
    lag: Mapping[int, int] = MappingProxyType({})

    def __init__(self, clock: FakeClock, *script: Delivery | float | asyncio.Event) -> None:
        self.clock, self.script = clock, list(script)
        self.fates: list[str] = []
        self.retries = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def receive(self) -> Delivery | None:
        while self.script:
            match self.script.pop(0):
                case Delivery() as delivery:
                    return delivery
                case asyncio.Event() as event:
                    await event.wait()
                case seconds:
                    self.clock.seconds += seconds
        return None

    async def acknowledge(self, delivery: Delivery) -> None:
        self.fates.append("done")

    async def retry(self, delivery: Delivery) -> None:
        self.retries[self.fates.count("retried")].set()
        self.fates.append("retried")

    async def dead_letter(self, delivery: Delivery, error: str) -> None:
        self.fates.append("dead")

    def drain(self) -> None:
        self.script.clear()

    async def leave(self) -> None:
        pass


async def nobody_gives_up(data: bytes, error: BaseException) -> None:
    raise AssertionError("its last try concludes it")


async def worked(*script: Delivery | float) -> tuple[list[str], list[bool]]:
    """What became of each delivery of a job whose endpoint is down, and which tries were final."""
    clock = FakeClock()
    consumer, finals = Scripted(clock, *script), list[bool]()

    async def handle(attempt: Attempt) -> Exception | None:
        finals.append(attempt.final)
        if not attempt.final:
            raise BackendUnavailable("down")
        return BackendUnavailable("down")

    limits = WorkerLimits(in_flight=1, budget=BUDGET)
    await Worker(consumer, handle, nobody_gives_up, clock, limits).run()
    return consumer.fates, finals


@pytest.mark.parametrize("attempt", [1, 2], ids=["retry lost", "retry committed"])
async def test_a_partition_that_comes_back_brings_a_whole_budget(attempt: int) -> None:
    position = position_of(3, 7)
    before = Delivery(JOB, position, tenure=1)
    after = Delivery(JOB, position, attempt=attempt, tenure=2)
    fates, finals = await worked(before, HOUR, after)
    assert (fates, finals) == (["retried", "retried"], [False, False])


async def test_a_partition_does_not_touch_the_time_of_another() -> None:
    here, there = position_of(3, 7), position_of(4, 7)
    fates, _ = await worked(
        Delivery(JOB, here, tenure=1),
        Delivery(JOB, there, tenure=2),
        HOUR,
        Delivery(JOB, there, 2, tenure=3),
        Delivery(JOB, here, 2, tenure=1),
    )
    assert fates == ["retried", "retried", "retried", "dead"]


async def test_a_try_that_outlasts_its_partition_leaves_no_time_to_the_next() -> None:
    clock, position = FakeClock(), position_of(3, 7)
    old, new = Delivery(JOB, position, tenure=1), Delivery(JOB, position, tenure=2)
    again = Delivery(JOB, position, 2, tenure=2)
    old_began = asyncio.Event()
    consumer = Scripted(clock, old, old_began, 0.7 * BUDGET, new)
    new_retried, old_retried, _ = consumer.retries
    consumer.script += [old_retried, 0.7 * BUDGET, again]
    tries = 0

    async def handle(attempt: Attempt) -> Exception | None:
        nonlocal tries
        tries += 1
        if tries == 1:
            old_began.set()
            await new_retried.wait()
        assert not attempt.final
        raise BackendUnavailable("down")

    limits = WorkerLimits(in_flight=2, budget=BUDGET)
    await Worker(consumer, handle, nobody_gives_up, clock, limits).run()
    assert consumer.fates == ["retried"] * 3
