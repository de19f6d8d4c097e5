import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.job_worker import LIMITS, Bench, always, times

from caliper.core.backoff import Backoff
from caliper.core.errors import (
    BackendOverloaded,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    CaliperError,
    InvalidInput,
    MediaMissing,
    UnreadableReply,
)
from caliper.pipeline.work.log_subject import subject_ids
from caliper.pipeline.work.worker import WorkerLimits


async def test_jobs_that_go_well_are_done_once() -> None:
    bench = Bench("a", "b", "c")
    await bench.work(lambda name, before, final: None)
    assert sorted(bench.done) == ["a", "b", "c"]
    assert bench.tries == {"a": 1, "b": 1, "c": 1}
    assert (await bench.dead(), bench.clock.slept, bench.finals) == ([], [], [])


async def test_records_logged_meanwhile_name_the_job() -> None:
    jobs = [f"0123456789abcdef/captionqa/{sample}" for sample in "abcdef"]
    bench, samples = Bench(*jobs), {}

    def log(name: str, before: int, final: bool) -> None:
        samples[name] = subject_ids()["sample"]

    await bench.work(log)
    assert samples == dict(zip(jobs, "abcdef", strict=True))
    assert subject_ids() == {}


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


async def test_waits_double_up_to_the_longest_and_are_half_as_long_again_at_most() -> None:
    bench = Bench("a", limits=WorkerLimits(budget=1000.0, backoff=Backoff(1.0, 8.0)))
    await bench.work(times(6, BackendUnavailable("x")))
    doubled = [1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
    assert len(bench.clock.slept) == len(doubled)
    for waited, least in zip(bench.clock.slept, doubled, strict=True):
        assert least <= waited <= 1.5 * least


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


async def test_a_server_that_says_how_long_is_heeded() -> None:
    bench = Bench("a")
    await bench.work(times(2, BackendOverloaded("x", retry_after=20.0)))
    assert [round(waited, -1) for waited in bench.clock.slept] == [20.0, 20.0]
    assert min(bench.clock.slept) >= 20.0


async def test_a_server_that_says_too_long_gets_what_is_left_of_the_budget() -> None:
    bench = Bench("a")
    await bench.work(times(1, BackendOverloaded("x", retry_after=3600.0)))
    assert bench.clock.slept == [LIMITS.budget]
    assert bench.done == ["a"]


async def test_a_budget_of_nothing_leaves_one_try_and_the_last() -> None:
    bench = Bench("a", limits=WorkerLimits(budget=0.0))
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


async def test_any_number_of_tries_has_a_wait() -> None:
    bench = Bench("a", limits=WorkerLimits(budget=1e6, backoff=Backoff(1.0, 8.0)))
    await bench.work(times(1100, BackendUnavailable("x")))
    assert bench.done == ["a"]
    assert max(bench.clock.slept) <= 12.0


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
    bench = Bench(*(f"{number:02}" for number in range(12)), limits=WorkerLimits(1, budget=10.0))
    await bench.work(times(1, BackendOverloaded("x", retry_after=6.0)))
    # One after another they wait for a minute in all: none of them ten seconds.
    assert (len(bench.done), bench.finals) == (12, [])
