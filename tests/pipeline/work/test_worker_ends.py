import asyncio
from collections import Counter

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.job_worker import Bench, always

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.envelopes import Message
from caliper.core.errors import (
    BackendTimeout,
    InvalidInput,
    ModelChanged,
    StoreFull,
    StoreUnavailable,
    StreamUnavailable,
)
from caliper.pipeline.work.worker import Attempt, Worker, WorkerLimits, first_failure
from caliper.ports.telemetry import JobEnd

OF_THE_RUN = [ModelChanged("x"), StoreUnavailable("x"), StoreFull("x"), StreamUnavailable("x")]


@pytest.mark.parametrize("error", OF_THE_RUN, ids=lambda error: type(error).__name__)
async def test_failures_of_the_run_end_the_worker_and_a_later_one_takes_over(
    error: Exception,
) -> None:
    bench = Bench(*"abcdefgh")
    with pytest.raises(type(error)) as caught:
        await bench.work(lambda name, before, final: error if name == "c" else None)
    assert caught.value is error
    assert (bench.given_up, bench.open) == ([], 0)
    assert "c" not in bench.done
    before = list(bench.done)
    await bench.work(lambda name, before, final: None)
    assert sorted(bench.done) == list("abcdefgh")
    assert bench.done[: len(before)] == before
    assert await bench.dead() == []


DOWN = OF_THE_RUN[1:]


@pytest.mark.parametrize("error", DOWN, ids=lambda error: type(error).__name__)
async def test_a_worker_may_wait_for_store_and_stream_without_counting(error: Exception) -> None:
    bench = Bench(*"abc", limits=WorkerLimits(in_flight=4, budget=60.0, pause=5.0))
    await bench.work(lambda name, before, final: error if name == "b" and before < 100 else None)
    assert sorted(bench.done) == list("abc")
    assert bench.clock.slept == [5.0] * 100
    assert (bench.given_up, bench.finals, await bench.dead()) == ([], [], [])


async def test_trouble_lasts_until_it_is_over() -> None:
    bench = Bench("a", limits=WorkerLimits(in_flight=1, pause=5.0))
    failures = [StoreUnavailable("x"), StreamUnavailable("y"), None]
    seen = list[Exception | None]()

    def script(name: str, before: int, final: bool) -> Exception | None:
        seen.append(bench.worker.trouble)
        return failures[before]

    await bench.work(script)
    assert seen == [None, *failures[:2]]
    assert bench.worker.trouble is None


async def test_trouble_of_one_job_is_not_over_when_another_goes_well() -> None:
    bench = Bench("a", "b", limits=WorkerLimits(in_flight=2, pause=5.0))
    seen = dict[str, Exception | None]()
    error = StoreFull("x")

    def script(name: str, before: int, final: bool) -> Exception | None:
        seen[name] = bench.worker.trouble
        return error if name == "a" and "b" not in bench.done else None

    await bench.work(script)
    assert seen == {"a": error, "b": error}


async def test_time_without_store_leaves_a_job_its_budget() -> None:
    bench = Bench("a", limits=WorkerLimits(in_flight=1, budget=60.0, pause=50.0))
    failures = [StoreUnavailable("x"), StoreUnavailable("x"), BackendTimeout("x")]
    await bench.work(lambda name, before, final: dict(enumerate(failures)).get(before))
    assert (bench.done, bench.finals, bench.tries["a"]) == (["a"], [], 4)


class Stalled(FakeClock):
    """A clock whose sleepers never wake."""

    def __init__(self) -> None:
        super().__init__()
        self.asleep = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.asleep.set()
        await asyncio.Event().wait()


async def test_a_worker_that_is_cancelled_hands_its_jobs_back() -> None:
    bench, clock = Bench("a", "b"), Stalled()
    bench.clock = clock
    working = asyncio.create_task(bench.work(always(BackendTimeout("x"))))
    await clock.asleep.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    await bench.work(lambda name, before, final: None)
    assert sorted(bench.done) == ["a", "b"]


async def test_a_cancelled_job_whose_end_meets_an_outage_is_not_repeated() -> None:
    stream, working, calls = MemoryStream(), asyncio.Event(), list[Attempt]()

    async def handle(attempt: Attempt) -> None:
        calls.append(attempt)
        if len(calls) == 1:
            try:
                working.set()
                await asyncio.Event().wait()
            finally:
                raise StoreUnavailable("away")

    async def give_up(_: bytes, error: BaseException) -> None:
        raise error

    await stream.publish(Message("jobs", "a", b"a"))
    consumer = stream.consumer("jobs", "workers")
    worker = Worker(consumer, handle, give_up, FakeClock(), WorkerLimits(pause=5.0))
    running = asyncio.create_task(worker.run())
    await working.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(calls) == 1


def test_the_first_failure_of_nested_groups() -> None:
    error = ModelChanged("x")
    inner = ExceptionGroup("", [error, ValueError()])
    assert first_failure(ExceptionGroup("", [inner, KeyError()])) is error


async def test_what_becomes_of_jobs_is_told() -> None:
    bench = Bench("good", "late", "bad")

    def script(name: str, before: int, final: bool) -> Exception | None:
        if name == "late" and not before:
            return BackendTimeout("slow")
        return InvalidInput("no job") if name == "bad" else None

    await bench.work(script)
    ends = Counter(bench.told.ends)
    assert ends == {JobEnd.DONE: 2, JobEnd.RETRIED: 1, JobEnd.DEAD_LETTER: 1}
    assert bench.told.repeated == [("", "backend_timeout")]
    assert bench.told.letters == [("jobs", "invalid_input")]
    assert bench.told.in_flight == 0


async def test_a_job_that_ends_the_run_is_in_flight_no_longer() -> None:
    bench = Bench("a")
    with pytest.raises(ModelChanged):
        await bench.work(always(ModelChanged("another")))
    assert (bench.told.ends, bench.told.in_flight) == ([None], 0)


async def test_a_last_try_that_ends_the_run_ends_the_run() -> None:
    bench = Bench("a")
    with pytest.raises(ModelChanged):
        await bench.work(
            lambda name, before, final: ModelChanged("b") if final else BackendTimeout("x")
        )
    assert await bench.dead() == []
