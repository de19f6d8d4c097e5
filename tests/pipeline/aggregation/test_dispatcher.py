"""Jobs go out a little ahead of the workers, shared by the runs that wait."""

import asyncio
import logging
from collections.abc import Mapping

import pytest
from tests.fakes.evaluations import CODEC
from tests.fakes.telemetry import until
from tests.fakes.workshop import Workshop

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.caption import Caption
from caliper.core.envelopes import Message
from caliper.core.errors import InvalidInput, StreamUnavailable
from caliper.core.outcome import Reason, Unscored
from caliper.core.run import RunState
from caliper.core.terms import Priority
from caliper.pipeline.planning.job_queue import MOST_JOBS
from caliper.pipeline.planning.publisher import CAPTION_JOBS, QA_JOBS, RunJobs


@pytest.mark.parametrize("rate", [20, 200])
@pytest.mark.parametrize(("others", "bound"), [((4_000,), 2.5), (10 * (600,), 12)])
async def test_a_small_run_takes_its_share(
    rate: float, others: tuple[int, ...], bound: float
) -> None:
    alone = await Workshop(rate).seconds((), 100)
    beside = await Workshop(rate).seconds(others, 100)
    assert alone < beside <= bound * alone


async def test_a_hundred_runs_end_as_soon_as_one_of_their_size() -> None:
    shop = Workshop(200)
    for place in range(100):
        await shop.start(f"run {place:02}", 20)
    await shop.work(*(f"run {place:02}" for place in range(100)))
    assert max(shop.ended.values()) <= 1.2 * (100 * 20 / 200)


async def test_priorities_share_by_their_weights() -> None:
    shop = Workshop(100)
    planned = {each: await shop.start(each.name, 2_000, each) for each in Priority}
    while shop.clock.seconds < 20:
        await shop.tick()
    asked = {
        each: sum(run == one.spec.run_id for run, _ in shop.asked) for each, one in planned.items()
    }
    weights = sum(each.weight for each in Priority)
    # All but a window of the 2,000 jobs taken are shared 1 : 4 : 16.
    for each, number in asked.items():
        assert number == pytest.approx(2_000 * each.weight / weights, abs=30)


@pytest.mark.parametrize("rate", [4, 100, 400])
async def test_what_waits_for_workers_is_bounded_and_they_never_wait(rate: int) -> None:
    shop = Workshop(rate)
    await shop.start("ours", 10 * rate)
    await shop.work("ours")
    # At the beginning the window has to grow.
    assert shop.ended["ours"] <= 10 + 5
    assert shop.most_waiting <= max(64, 2 * rate)


async def test_every_job_is_asked_once() -> None:
    shop = Workshop(1_000)
    await shop.start("ours", 3 * MOST_JOBS + 1)
    await shop.work("ours")
    assert set(shop.asked.values()) == {1}
    assert len(shop.asked) == 3 * MOST_JOBS + 1


@pytest.mark.parametrize("has_snapshot", [True, False])
async def test_a_successor_publishes_what_is_missing(*, has_snapshot: bool) -> None:
    shop = Workshop(200)
    await shop.start("ours", 1_000)
    while sum(shop.asked.values()) < 500:
        await shop.tick()
    if has_snapshot:
        await shop.known.snapshot()
    await shop.restart()
    await shop.work("ours")
    # Only what had not been answered was published again.
    assert len(shop.asked) == 1_000
    assert sum(shop.asked.values()) <= 1_000 + shop.most_waiting


async def test_a_new_start_asks_only_what_is_missing_or_may_pass() -> None:
    shop = Workshop(100)
    planned = await shop.start("ours", 100)
    await shop.tick(Unscored(Reason.TIMEOUT))
    retried = set(shop.asked)
    await shop.work("ours")
    await shop.start_again(planned)
    for _ in range(20):
        await shop.tick()
    assert {key for key, times in shop.asked.items() if times == 2} == retried
    assert not any(run.retries or run.jobs_left for run in shop.known.table)


async def test_a_broken_shard_fails_its_run_until_it_is_started_again() -> None:
    shop = Workshop(100)
    ours, _ = await shop.start("ours", MOST_JOBS * 4), await shop.start("theirs", 100)
    (key,) = [each for each in shop.store.objects if each.endswith("000003.gz")]
    shop.store.objects[key] = b"no shard"
    await shop.work("theirs")
    while not any(run.is_broken for run in shop.known.table):
        await shop.tick()
    shop.clock.seconds += 10
    await shop.known.conclude()
    scores = await shop.known.scores(ours.spec.run_id)
    assert scores is not None
    assert scores.state is RunState.FAILED
    assert "000003.gz" in scores.error
    await shop.start_again(ours)
    await shop.work("ours")
    assert len(shop.asked) == MOST_JOBS * 4 + 100


class NarrowStream(MemoryStream):
    """Takes no message about one sample: it is too long."""

    async def publish(self, message: Message) -> None:
        if message.key.endswith("_007"):
            raise InvalidInput("a message of 9000000 bytes")
        await super().publish(message)


async def test_a_job_that_is_too_long_fails_its_run_alone() -> None:
    shop = Workshop(100, NarrowStream())
    ours, _ = await shop.start("ours", 20), await shop.start("theirs", 5)
    await shop.work("theirs")
    shop.clock.seconds += 10
    await shop.known.conclude()
    scores = await shop.known.scores(ours.spec.run_id)
    assert scores is not None
    assert (scores.state, scores.error) == (RunState.FAILED, "a message of 9000000 bytes")


@pytest.mark.parametrize("heals", [True, False])
async def test_a_run_that_was_cancelled_gets_no_more_jobs(*, heals: bool) -> None:
    shop = Workshop(100)
    await shop.start("ours", 1_000)
    await shop.tick()
    (run,) = shop.known.table
    run.heals = heals
    run.cancel(run.start)
    waiting_before = await waiting(shop, QA_JOBS)
    await shop.dispatcher.refill()
    assert await waiting(shop, QA_JOBS) == waiting_before
    assert not run.jobs_left


async def test_captions_wait_while_their_examiners_have_enough() -> None:
    shop = Workshop(10)
    planned = await shop.start("ours", 1_000, captions=False)
    for number in range(100):
        key = f"{planned.spec.run_id}/captionqa/{number}"
        await shop.stream.publish(Message(QA_JOBS, key, b"a job of another run"))
    await shop.dispatcher.refill()
    first = await waiting(shop, CAPTION_JOBS)
    await shop.dispatcher.refill()
    assert await waiting(shop, CAPTION_JOBS) == first <= 64


async def waiting(shop: Workshop, topic: str) -> int:
    return sum((await shop.stream.untaken(topic, topic)).values())


class ShakyStream(MemoryStream):
    """Refuses every other message, and every third question."""

    calls = 0

    async def publish(self, message: Message) -> None:
        self.calls += 1
        if self.calls % 2:
            raise StreamUnavailable("away")
        await super().publish(message)

    async def untaken(self, topic: str, group: str) -> Mapping[int, int]:
        self.calls += 1
        if not self.calls % 3:
            raise StreamUnavailable("away")
        return await super().untaken(topic, group)


async def test_jobs_wait_while_the_stream_is_down(caplog: pytest.LogCaptureFixture) -> None:
    shop = Workshop(100, ShakyStream())
    await shop.start("ours", 50)
    (run,) = shop.known.table
    with caplog.at_level(logging.WARNING):
        dispatching = asyncio.create_task(shop.dispatcher.run())
        await until(lambda: not run.jobs_left)
        dispatching.cancel()
    backlog = await shop.stream.backlog(QA_JOBS, QA_JOBS)
    assert backlog.waiting == 50
    assert caplog.messages == ["jobs wait: away"]


async def test_a_run_whose_captions_are_written_leaves_others_their_share() -> None:
    shop = Workshop(20)
    writer = shop.stream.consumer(CAPTION_JOBS, CAPTION_JOBS)
    planned = [await shop.start(name, 2_000, captions=name == "ours") for name in ("ours", "new")]
    while shop.clock.seconds < 60:
        await shop.tick()
        # Captions are written ten times as fast as they are read.
        for _ in range(min(50, sum((await shop.stream.untaken(*2 * (CAPTION_JOBS,))).values()))):
            delivery = await writer.receive()
            assert delivery is not None
            job = CODEC.read_caption_job(delivery.message.value)
            await writer.acknowledge(delivery)
            caption = Caption(job.sample, "a green thing")
            examination = RunJobs(job.run, CODEC, {}).examination(job.items, caption)
            await shop.stream.publish(examination.message)
    asked = [sum(run == each.spec.run_id for run, _ in shop.asked) for each in planned]
    # Equal priorities: half of 1,200 for each, but for a window or two.
    assert min(asked) > 400
