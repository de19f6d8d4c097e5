"""A worker sees every job to its end, whatever happens."""

import asyncio
from collections import Counter
from collections.abc import Callable

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.telemetry import ToldStage

from caliper.adapters.streams.memory import DEAD_LETTERS, MemoryStream
from caliper.core.errors import (
    BackendOverloaded,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    CaliperError,
    InvalidInput,
    MediaMissing,
    ModelChanged,
    StoreFull,
    StoreUnavailable,
    StreamUnavailable,
    UnreadableReply,
)
from caliper.ports.stream import Message
from caliper.ports.telemetry import JobEnd
from caliper.runtime.worker import Attempt, Limits, Worker, first_failure

LIMITS = Limits(in_flight=4, budget=60.0, first_wait=1.0, longest_wait=8.0)
Script = Callable[[str, int, bool], Exception | None]
"""(job, how often it was tried before, whether it is the last try) -> what goes wrong."""


class Bench:
    """A topic of jobs, a worker on it, and notes of all that happens."""

    def __init__(self, *names: str, limits: Limits = LIMITS) -> None:
        self.stream, self.clock, self.limits = MemoryStream(), FakeClock(), limits
        self.names = names
        self.tries: Counter[str] = Counter()
        self.finals: list[str] = []
        self.done: list[str] = []
        self.given_up: list[tuple[str, BaseException]] = []
        self.open = self.most = 0
        self.told = ToldStage()
        # What is left as Unscored by the last try of a job.
        self.unscored: Exception | None = None

    async def work(self, script: Script) -> None:
        async def handle(attempt: Attempt) -> Exception | None:
            name = attempt.data.decode()
            before = self.tries[name]
            self.tries[name] += 1
            if attempt.final:
                self.finals.append(name)
            self.open += 1
            self.most = max(self.most, self.open)
            try:
                await asyncio.sleep(0)
                error = script(name, before, attempt.final)
            finally:
                self.open -= 1
            if error is not None:
                raise error
            self.done.append(name)
            return self.unscored if attempt.final else None

        async def give_up(data: bytes, error: BaseException) -> None:
            self.given_up.append((data.decode(), error))

        for name in self.names:
            await self.stream.publish(Message("jobs", name, name.encode()))
        self.names = ()
        await self.stream.close_topic("jobs")
        consumer = self.stream.consumer("jobs", "workers")
        self.worker = Worker(consumer, handle, give_up, self.clock, self.limits, self.told)
        await self.worker.run()

    async def dead(self) -> list[tuple[str, str, str]]:
        """(job, error, attempts) of every dead letter."""
        await self.stream.close_topic(DEAD_LETTERS)
        consumer = self.stream.consumer(DEAD_LETTERS, "test")
        found = []
        while (delivery := await consumer.receive()) is not None:
            headers = delivery.message.headers
            found.append((delivery.message.value.decode(), headers["error"], headers["attempts"]))
            await consumer.acknowledge(delivery)
        return found

    @property
    def gave_up(self) -> list[str]:
        return [name for name, _ in self.given_up]


def always(error: Exception) -> Script:
    return lambda name, before, final: error


def times(count: int, error: Exception) -> Script:
    return lambda name, before, final: error if before < count else None


async def test_jobs_that_go_well_are_done_once() -> None:
    bench = Bench("a", "b", "c")
    await bench.work(lambda name, before, final: None)
    assert sorted(bench.done) == ["a", "b", "c"]
    assert bench.tries == {"a": 1, "b": 1, "c": 1}
    assert (await bench.dead(), bench.clock.slept, bench.finals) == ([], [], [])


async def test_so_many_jobs_at_once_and_no_more() -> None:
    bench = Bench(*(str(number) for number in range(20)))
    await bench.work(lambda name, before, final: None)
    assert bench.most == LIMITS.in_flight
    assert len(bench.done) == 20


BACKENDS = [BackendUnavailable("x"), BackendTimeout("x"), BackendOverloaded("x")]


@pytest.mark.parametrize("error", BACKENDS, ids=lambda error: type(error).__name__)
async def test_a_backend_that_comes_back_costs_nothing_but_time(error: Exception) -> None:
    bench = Bench("a")
    await bench.work(times(3, error))
    assert (bench.done, bench.tries["a"]) == (["a"], 4)
    assert (await bench.dead(), bench.given_up, bench.finals) == ([], [], [])


async def test_waits_double_up_to_the_longest_and_are_shortened_by_half_at_most() -> None:
    bench = Bench("a", limits=Limits(budget=1000.0, first_wait=1.0, longest_wait=8.0))
    await bench.work(times(6, BackendUnavailable("x")))
    whole = [1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
    assert len(bench.clock.slept) == len(whole)
    for waited, longest in zip(bench.clock.slept, whole, strict=True):
        assert longest / 2 <= waited <= longest


@pytest.mark.parametrize("error", BACKENDS, ids=lambda error: type(error).__name__)
async def test_a_backend_that_stays_away_ends_with_a_last_try(error: Exception) -> None:
    bench = Bench("a")
    bench.unscored = error
    await bench.work(lambda name, before, final: None if final else error)
    assert (bench.finals, bench.done, bench.given_up) == (["a"], ["a"], [])
    assert bench.clock.seconds == LIMITS.budget
    ((name, told, attempts),) = await bench.dead()
    assert (name, told) == ("a", f"{type(error).__name__}: x")
    assert int(attempts) == bench.tries["a"] - 1


@pytest.mark.parametrize("error", BACKENDS, ids=lambda error: type(error).__name__)
async def test_a_job_that_goes_well_at_its_last_try_is_no_dead_letter(error: Exception) -> None:
    bench = Bench("a")
    await bench.work(lambda name, before, final: None if final else error)
    assert (bench.finals, bench.done, bench.given_up) == (["a"], ["a"], [])
    assert await bench.dead() == []


async def test_a_job_whose_last_try_fails_is_given_up_and_the_others_go_on() -> None:
    bench = Bench("bad", "good")
    error = BackendUnavailable("down")
    await bench.work(lambda name, before, final: error if name == "bad" else None)
    assert bench.done == ["good"]
    assert bench.given_up == [("bad", error)]
    assert [name for name, _, _ in await bench.dead()] == ["bad"]


async def test_a_last_try_that_ends_the_run_ends_the_run() -> None:
    bench = Bench("a")
    with pytest.raises(ModelChanged):
        await bench.work(
            lambda name, before, final: ModelChanged("b") if final else BackendTimeout("x")
        )
    assert await bench.dead() == []


async def test_a_server_that_says_how_long_is_heeded() -> None:
    bench = Bench("a")
    await bench.work(times(2, BackendOverloaded("x", retry_after=20.0)))
    assert bench.clock.slept == [20.0, 20.0]


async def test_a_server_that_says_too_long_gets_what_is_left_of_the_budget() -> None:
    bench = Bench("a")
    await bench.work(times(1, BackendOverloaded("x", retry_after=3600.0)))
    assert bench.clock.slept == [LIMITS.budget]
    assert bench.done == ["a"]


async def test_a_budget_of_nothing_leaves_one_try_and_the_last() -> None:
    bench = Bench("a", limits=Limits(budget=0.0))
    await bench.work(always(BackendTimeout("x")))
    assert (bench.tries["a"], bench.finals, bench.gave_up) == (2, ["a"], ["a"])


UNKNOWN = [ValueError("a defect"), CaliperError("whatever")]


@pytest.mark.parametrize("error", UNKNOWN, ids=lambda error: type(error).__name__)
async def test_anything_else_is_tried_once_more(error: Exception) -> None:
    healed, stubborn = Bench("a"), Bench("a")
    await healed.work(times(1, error))
    assert (healed.done, healed.tries["a"], await healed.dead()) == (["a"], 2, [])
    await stubborn.work(always(error))
    assert (stubborn.done, stubborn.tries["a"], stubborn.gave_up) == ([], 2, ["a"])
    assert len(await stubborn.dead()) == 1


HOPELESS = [
    InvalidInput("x"), MediaMissing("x"), BackendRejected("x"), UnreadableReply("x")
]  # fmt: skip


@pytest.mark.parametrize("error", HOPELESS, ids=lambda error: type(error).__name__)
async def test_what_will_not_get_better_is_given_up_at_once(error: Exception) -> None:
    bench = Bench("bad", "good")
    await bench.work(lambda name, before, final: error if name == "bad" else None)
    assert (bench.tries, bench.clock.slept) == ({"bad": 1, "good": 1}, [])
    assert bench.given_up == [("bad", error)]
    assert await bench.dead() == [("bad", f"{type(error).__name__}: x", "1")]
    assert bench.done == ["good"]


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
    bench = Bench(*"abc", limits=Limits(in_flight=4, budget=60.0, pause=5.0))
    await bench.work(lambda name, before, final: error if name == "b" and before < 100 else None)
    assert sorted(bench.done) == list("abc")
    assert bench.clock.slept == [5.0] * 100
    assert (bench.given_up, bench.finals, await bench.dead()) == ([], [], [])


async def test_trouble_lasts_until_it_is_over() -> None:
    bench = Bench("a", limits=Limits(in_flight=1, pause=5.0))
    failures = [StoreUnavailable("x"), StreamUnavailable("y"), None]
    seen = list[Exception | None]()

    def script(name: str, before: int, final: bool) -> Exception | None:
        seen.append(bench.worker.trouble)
        return failures[before]

    await bench.work(script)
    assert seen == [None, *failures[:2]]
    assert bench.worker.trouble is None


async def test_trouble_of_one_job_is_not_over_when_another_goes_well() -> None:
    bench = Bench("a", "b", limits=Limits(in_flight=2, pause=5.0))
    seen = dict[str, Exception | None]()
    error = StoreFull("x")

    def script(name: str, before: int, final: bool) -> Exception | None:
        seen[name] = bench.worker.trouble
        return error if name == "a" and "b" not in bench.done else None

    await bench.work(script)
    assert seen == {"a": error, "b": error}


async def test_time_without_store_leaves_a_job_its_budget() -> None:
    bench = Bench("a", limits=Limits(in_flight=1, budget=60.0, pause=50.0))
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


async def test_any_number_of_tries_has_a_wait() -> None:
    bench = Bench("a", limits=Limits(budget=1e6, first_wait=1.0, longest_wait=8.0))
    await bench.work(times(1100, BackendUnavailable("x")))
    assert bench.done == ["a"]
    assert max(bench.clock.slept) <= 8.0


class Early(FakeClock):
    """A clock that wakes its sleepers a microsecond early."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(max(0.0, seconds - 1e-6))


async def test_a_clock_that_wakes_early_does_not_multiply_the_tries() -> None:
    bench = Bench("a")
    bench.clock = Early()
    await bench.work(always(BackendOverloaded("x", retry_after=30.0)))
    # At 0 and 30 s, when the budget ends at 60 s, and the last one.
    assert bench.tries["a"] == 4


async def test_the_budget_of_a_job_begins_with_its_first_try() -> None:
    bench = Bench(*(f"{number:02}" for number in range(12)), limits=Limits(1, budget=10.0))
    await bench.work(times(1, BackendOverloaded("x", retry_after=6.0)))
    # One after another they wait for a minute in all: none of them ten seconds.
    assert (len(bench.done), bench.finals) == (12, [])


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
    assert bench.told.again == ["backend_timeout"]
    assert bench.told.letters == [("jobs", "invalid_input")]
    assert bench.told.in_flight == 0


async def test_a_job_that_ends_the_run_is_in_flight_no_longer() -> None:
    bench = Bench("a")
    with pytest.raises(ModelChanged):
        await bench.work(always(ModelChanged("another")))
    assert (bench.told.ends, bench.told.in_flight) == ([None], 0)
