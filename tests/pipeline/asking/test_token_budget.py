import asyncio
from weakref import ref

import pytest
from tests.fakes.stores import MemoryStore

from caliper.core.errors import BudgetSpent, StoreFull
from caliper.core.messages import CaptionJob
from caliper.core.terms import TokenCap
from caliper.pipeline.asking.token_budget import Allowance, SharedAllowances, spent_usage
from caliper.pipeline.store.runs import run_store, write_json
from caliper.ports.models import Usage

RUN = "0123456789abcdef"
FIRST = TokenCap(1, 100)


def job(cap: TokenCap | None = FIRST) -> CaptionJob:
    return CaptionJob(RUN, "capability", "scene/1", (), cap)


async def opened(shared: SharedAllowances, cap: TokenCap = FIRST) -> Allowance:
    found = await shared.of(job(cap))
    assert found is not None
    return found


async def open_others(shared: SharedAllowances) -> None:
    """Open more than what is counted at once."""
    for start in range(2, 100):
        await opened(shared, TokenCap(start, 100))


def named(store: MemoryStore, who: str, warned: list[str] | None = None) -> SharedAllowances:
    told: list[str] = [] if warned is None else warned
    return SharedAllowances(store, who, told.append)


async def test_without_a_cap_nothing_is_counted(store: MemoryStore) -> None:
    shared = named(store, "a")
    assert await shared.of(job(None)) is None
    await shared.publish(job(None))
    assert store.objects == {}


async def test_what_one_tells_all_others_count(store: MemoryStore) -> None:
    first, second = named(store, "a"), named(store, "b")
    (await opened(first)).enter(Usage(60), "m")
    # Not told yet: the job is not done.
    (await opened(second)).ask()
    await first.publish(job())
    (await opened(second)).ask()
    (await opened(second)).enter(Usage(40), "m")
    with pytest.raises(BudgetSpent):
        (await opened(second)).ask()
    await second.publish(job())
    with pytest.raises(BudgetSpent):
        (await opened(first)).ask()


async def test_what_is_told_twice_counts_once(store: MemoryStore) -> None:
    shared, other = named(store, "a"), named(store, "b")
    (await opened(shared)).enter(Usage(60), "m")
    await asyncio.gather(*(shared.publish(job()) for _ in range(3)))
    assert (await opened(other)).used_elsewhere == 60
    assert (await opened(shared)).used_elsewhere == 0


async def test_a_start_has_its_own_tokens(store: MemoryStore) -> None:
    shared, again = named(store, "a"), TokenCap(2, 100)
    (await opened(shared)).enter(Usage(100), "m")
    await shared.publish(job())
    (await opened(shared, again)).ask()
    with pytest.raises(BudgetSpent):
        (await opened(shared)).ask()


async def test_whoever_forgot_a_run_goes_on_from_what_it_told(store: MemoryStore) -> None:
    shared = named(store, "a")
    (await opened(shared)).enter(Usage(60), "m")
    await shared.publish(job())
    await open_others(shared)
    assert (await opened(shared)).used == 60


async def test_what_was_not_told_yet_is_not_forgotten(store: MemoryStore) -> None:
    shared, other = named(store, "a"), named(store, "b")
    # A job of the run goes on, and another of it has failed: neither was told.
    (await opened(shared)).enter(Usage(90), "m")
    await open_others(shared)
    again = await opened(shared)
    assert again.used == 90
    again.enter(Usage(10), "m")
    await shared.publish(job())
    assert (await opened(other)).used_elsewhere == 100


async def test_a_job_that_others_outlast_counts_as_any(store: MemoryStore) -> None:
    shared, other = named(store, "a"), named(store, "b")
    held = await opened(shared)
    await open_others(shared)
    # It asks only now, and the next job of its run sees that.
    held.enter(Usage(90), "m")
    assert await opened(shared) is held
    await open_others(shared)
    held.enter(Usage(10), "m")
    await shared.publish(job())
    assert (await opened(other)).used_elsewhere == 100


async def test_what_is_told_is_not_held_for_ever(store: MemoryStore) -> None:
    shared = named(store, "a")
    gone = ref(await opened(shared))
    await open_others(shared)
    assert gone() is None


async def test_nothing_is_forgotten_while_the_store_is_full(store: MemoryStore) -> None:
    shared, other = named(store, "a"), named(store, "b")
    (await opened(shared)).enter(Usage(90), "m")
    store.full = True
    with pytest.raises(StoreFull):
        await open_others(shared)
    store.full = False
    await open_others(shared)
    assert (await opened(other)).used_elsewhere == 90


async def test_jobs_that_begin_together_share_one_count(store: MemoryStore) -> None:
    shared = named(store, "a")
    found = await asyncio.gather(*(opened(shared) for _ in range(5)))
    assert len({id(each) for each in found}) == 1


async def test_a_cap_that_cannot_hold_is_told(store: MemoryStore) -> None:
    warned: list[str] = []
    shared = named(store, "a", warned)
    for _ in range(2):
        (await opened(shared)).enter(Usage(0), "llm")
    assert len(warned) == 1
    assert "llm does not count tokens" in warned[0]


async def test_what_a_run_used_is_told_by_model(store: MemoryStore) -> None:
    run = run_store(store, RUN)
    # An earlier release told tokens in total, also this process.
    for who, tokens in (("a", 30), ("c", 5)):
        await write_json(run, f"spent/1/{who}.json", tokens=tokens)
    shared, other = named(store, "a"), named(store, "b")
    (await opened(shared)).enter(Usage(6, 4), "judge")
    (await opened(shared)).enter(Usage(1, 1), "captioner")
    await shared.publish(job())
    (await opened(other, TokenCap(2, 100))).enter(Usage(2, 3), "judge")
    await other.publish(job(TokenCap(2, 100)))
    used = {"judge": Usage(8, 7), "captioner": Usage(1, 1), "": Usage(35)}
    assert await spent_usage(run) == used
    # Whoever forgot a run goes on from what it told.
    assert (await opened(named(store, "a"))).used == 42
    assert (await opened(other)).used_elsewhere == 47
