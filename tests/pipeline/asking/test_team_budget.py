"""What teams spend a day: shared by processes, and counted once."""

import asyncio
from collections.abc import Sequence

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.models import ScriptedModel
from tests.fakes.stores import MemoryStore

from caliper.core.errors import BudgetSpent
from caliper.core.messages import CaptionJob
from caliper.core.question import Decoding
from caliper.core.quotas import DayQuota
from caliper.core.spending import Spending
from caliper.core.terms import Terms
from caliper.pipeline.asking.team_budget import TeamBudgets
from caliper.pipeline.asking.token_budget import Allowance, CappedChatModel, SharedAllowances
from caliper.pipeline.store.team_use import spent_by_process
from caliper.ports.models import Usage

DAY = "2026-01-01"


class Process:
    """A process that works on the runs of teams."""

    def __init__(self, store: MemoryStore, name: str, clock: FakeClock) -> None:
        self.warned: list[str] = []
        teams = TeamBudgets(store, clock, name)
        self._shared = SharedAllowances(store, name, self.warned.append, teams)

    async def opened(self, quota: DayQuota, run: str = "1" * 16) -> Allowance:
        found = await self._shared.of(_job(quota, run))
        assert found is not None
        return found

    async def publish(self, quota: DayQuota, run: str = "1" * 16) -> None:
        await self._shared.publish(_job(quota, run))


def _job(quota: DayQuota, run: str) -> CaptionJob:
    return CaptionJob(run, "capability", "scene/1", (), Terms(quota=quota).token_cap(1))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def spent(store: MemoryStore, team: str, day: str = DAY) -> Spending:
    return sum((await spent_by_process(store, team, day)).values(), Spending())


@pytest.mark.parametrize(
    ("quota", "limit"),
    [(DayQuota("red", calls=3), "calls a day"), (DayQuota("red", tokens=30), "tokens a day")],
)
async def test_all_runs_and_processes_of_a_team_share_its_quota(
    store: MemoryStore, clock: FakeClock, quota: DayQuota, limit: str
) -> None:
    first, second = Process(store, "a", clock), Process(store, "b", clock)
    (await first.opened(quota)).enter(Usage(6, 4), "m")
    (await first.opened(quota, "2" * 16)).enter(Usage(6, 4), "m")
    await first.publish(quota)
    (await second.opened(quota)).ask()
    (await second.opened(quota)).enter(Usage(6, 4), "m")
    with pytest.raises(BudgetSpent, match=f"the quota of team red on {limit} leaves no room"):
        (await second.opened(quota)).ask()
    await second.publish(quota)
    with pytest.raises(BudgetSpent):
        (await first.opened(quota, "2" * 16)).ask()
    # Another team, though its name begins with the same, and one with a higher limit go on.
    (await first.opened(DayQuota("red.more", calls=1))).ask()
    (await first.opened(DayQuota("red", 4, 40))).ask()


async def test_what_is_told_twice_counts_once(store: MemoryStore, clock: FakeClock) -> None:
    quota, process = DayQuota("red", calls=2), Process(store, "a", clock)
    for _ in range(2):
        # A job that comes again finds its reply, and enters nothing.
        await process.opened(quota)
        await process.publish(quota)
    (await process.opened(quota)).enter(Usage(1, 1), "m")
    for _ in range(3):
        await process.publish(quota)
    assert await spent(store, "red") == Spending(1, 2)
    (await process.opened(quota)).ask()


async def results(allowances: Sequence[Allowance], model: ScriptedModel) -> list[object]:
    """The results of a call for each allowance, made at once."""
    calls = (CappedChatModel(model, each).complete([], Decoding()) for each in allowances)
    return await asyncio.gather(*calls, return_exceptions=True)


async def test_calls_at_once_do_not_exceed_a_quota(store: MemoryStore, clock: FakeClock) -> None:
    quota, process = DayQuota("red", calls=3), Process(store, "a", clock)
    runs = [await process.opened(quota, run * 16) for run in "12" * 4]
    trouble, model = TimeoutError("slow"), ScriptedModel(lambda text, before: "1")
    failing = ScriptedModel(lambda text, before: trouble)
    assert (await results(runs, failing)).count(trouble) == 3
    # What failed is free again.
    told = await results(runs, model)
    assert len(model.calls) == 3
    assert sum(isinstance(each, BudgetSpent) for each in told) == 5
    await process.publish(quota)
    assert await spent(store, "red") == Spending(3, 0)


async def test_the_next_day_has_a_quota_of_its_own(store: MemoryStore, clock: FakeClock) -> None:
    quota, process = DayQuota("red", calls=1), Process(store, "a", clock)
    (await process.opened(quota)).enter(Usage(1, 1), "m")
    with pytest.raises(BudgetSpent):
        (await process.opened(quota)).ask()
    await clock.sleep(86_400)
    (await process.opened(quota)).ask()
    (await process.opened(quota)).enter(Usage(1, 1), "m")
    # Each is told of its own day, whenever.
    await process.publish(quota)
    assert await spent(store, "red") == await spent(store, "red", "2026-01-02") == Spending(1, 2)


async def test_without_a_quota_nothing_is_counted(store: MemoryStore, clock: FakeClock) -> None:
    assert Terms().token_cap(1) is None
    process, capped = Process(store, "a", clock), Terms(tokens=5).token_cap(1)
    job = CaptionJob("1" * 16, "capability", "scene/1", (), capped)
    allowance = await process._shared.of(job)
    assert allowance is not None
    allowance.enter(Usage(1, 1), "m")
    await process._shared.publish(job)
    assert not [key for key in store.objects if key.startswith("teams/")]


@pytest.mark.parametrize(("quota", "count"), [(DayQuota("red", 5), 0), (DayQuota("red", 5, 5), 1)])
async def test_tokens_that_nobody_counts_are_warned_of(
    store: MemoryStore, clock: FakeClock, quota: DayQuota, count: int
) -> None:
    process = Process(store, "a", clock)
    (await process.opened(quota)).enter(Usage(), "m")
    assert len(process.warned) == count
    assert all("the quota of its team cannot be enforced" in text for text in process.warned)
