"""What teams use, and what is refused."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes import runs
from tests.fakes.clock import FakeClock
from tests.fakes.stores import Gate, MemoryStore

from caliper.adapters.stores.directory import DirectoryStore
from caliper.core.errors import BackendOverloaded, InvalidInput
from caliper.core.keys import canonical_json
from caliper.core.owners import Owner, Sharing, Viewer
from caliper.core.quotas import DayQuota, QuotaTable, QuotaUse, TeamLimits
from caliper.core.spending import Spending
from caliper.core.terms import Terms
from caliper.pipeline.store.owners import Ownership
from caliper.pipeline.store.runs import SPEC, note_start, read_starts, run_store
from caliper.pipeline.store.team_quotas import TeamQuotas
from caliper.pipeline.store.team_use import note_stored, take_place, write_spent
from caliper.ports.storage import ObjectStore

DAY, RUN = "2026-01-01", "0123456789abcdef"
MIDNIGHT = "at 2026-01-02T00:00:00+00:00"


def quotas(store: ObjectStore, table: QuotaTable, team: str = "red", role: str = "") -> TeamQuotas:
    viewer = Viewer(Owner("somebody", team), role == "admin")
    return TeamQuotas(store, FakeClock(), Ownership(lambda: viewer), lambda: table)


async def test_without_a_limit_nothing_is_stored(store: MemoryStore) -> None:
    ours = quotas(store, QuotaTable({"blue": TeamLimits(0, 0, 0, 0)}))
    assert await ours.admit_run(RUN) is None
    await ours.admit_bytes("a" * 64, 1 << 40)
    assert await ours.uses() == []
    assert store.objects == {}


@pytest.mark.parametrize(
    ("limits", "spent", "message"),
    [
        (TeamLimits(calls_a_day=5), Spending(5, 0), "5 of 5 calls a day"),
        (TeamLimits(calls_a_day=5, tokens_a_day=90), Spending(4, 99), "99 of 90 tokens a day"),
    ],
)
async def test_a_day_is_over_at_midnight(
    store: MemoryStore, limits: TeamLimits, spent: Spending, message: str
) -> None:
    ours = quotas(store, QuotaTable(default=limits))
    assert await ours.admit_run(RUN) == DayQuota("red", limits.calls_a_day, limits.tokens_a_day)
    await write_spent(store, "red", DAY, "a-process", spent)
    await write_spent(store, "red", "2025-12-31", "a-process", Spending(1, 1))
    await write_spent(store, "red.other", DAY, "a-process", Spending(1, 1))
    with pytest.raises(BackendOverloaded) as refused:
        await ours.admit_run(RUN)
    assert str(refused.value) == f"the quota of team red: {message}; available again {MIDNIGHT}"
    assert refused.value.retry_after == 86_400
    assert await quotas(store, QuotaTable(default=limits), "blue").admit_run(RUN)


async def test_starts_that_come_together_take_one_place(store: MemoryStore) -> None:
    now = FakeClock().now()
    store.after = gate = Gate("get", "teams/running/team-red.json", first=True)
    first = asyncio.create_task(take_place(store, "red", "0" * 16, 1, now))
    await gate.reached.wait()
    assert await take_place(store, "red", "1" * 16, 1, now)
    gate.opened.set()
    assert not await first


async def test_a_run_that_another_gateway_begins_has_its_place(store: MemoryStore) -> None:
    now = FakeClock().now()
    assert await take_place(store, "red", "0" * 16, 1, now)
    # Its spec is stored after that; what failed meanwhile gives its place back.
    assert not await take_place(store, "red", "1" * 16, 1, now + timedelta(seconds=30))
    assert await take_place(store, "red", "1" * 16, 1, now + timedelta(hours=1))


async def test_pushes_that_come_together_take_no_more_than_there_is(store: MemoryStore) -> None:
    ours = quotas(store, QuotaTable(default=TeamLimits(bytes_stored=10)))
    pushes = (ours.admit_bytes(digit * 64, 6) for digit in "aab")
    results = await asyncio.gather(*pushes, return_exceptions=True)
    assert results[:2] == [None, None]
    assert str(results[2]).startswith(
        "the quota of team red: 6 of 10 bytes stored; available again when"
    )
    assert [each.used for each in await ours.uses()] == [6]


async def test_many_small_contents_are_not_listed_again_for_each(store: MemoryStore) -> None:
    listed, listing = list[str](), store.list
    store.list = lambda prefix: (listed.append(prefix), listing(prefix))[1]  # type: ignore[method-assign]
    ours = quotas(store, QuotaTable(default=TeamLimits(bytes_stored=100)))
    for number in range(50):
        await ours.admit_bytes(f"{number:064}", 1)
    assert len(listed) == 1


async def test_gateways_know_of_one_another_what_was_pushed(store: MemoryStore) -> None:
    table = QuotaTable(default=TeamLimits(bytes_stored=10))
    clock, ownership = FakeClock(), Ownership(lambda: Viewer(Owner("somebody", "red")))
    one, other = (TeamQuotas(store, clock, ownership, lambda: table) for _ in range(2))
    await one.admit_bytes("a" * 64, 4)
    await other.admit_bytes("b" * 64, 4)
    await clock.sleep(10)
    with pytest.raises(BackendOverloaded, match="8 of 10 bytes stored"):
        await one.admit_bytes("c" * 64, 4)


async def test_an_administrator_sees_all_teams_and_others_their_own(store: MemoryStore) -> None:
    limits = TeamLimits(tokens_a_day=7, bytes_stored=9)
    table = QuotaTable({"green": TeamLimits(runs_at_once=2)}, limits)
    await write_spent(store, "blue", DAY, "a-process", Spending(1, 3))
    await note_stored(store, "a.b", "c" * 64, 5)
    frees = {"tokens_a_day": MIDNIGHT, "bytes_stored": "when an administrator raises it"}

    def both(team: str, tokens: int, size: int) -> list[QuotaUse]:
        used = {"tokens_a_day": (tokens, 7), "bytes_stored": (size, 9)}
        return [QuotaUse(team, name, *each, frees[name]) for name, each in used.items()]

    green = QuotaUse("green", "runs_at_once", 0, 2, "when one of them ends")
    everything = [*both("a.b", 0, 5), *both("blue", 3, 0), green, *both("red", 0, 0)]
    assert await quotas(store, table, "red", "admin").uses() == everything
    assert await quotas(store, table, "red").uses() == both("red", 0, 0)
    assert await quotas(store, table, "green").uses() == [green]


@pytest.mark.parametrize("quota", [None, DayQuota("red", 0, None), DayQuota("red", None, 7)])
async def test_a_start_keeps_its_quota(store: MemoryStore, quota: DayQuota | None) -> None:
    run = run_store(store, RUN)
    await note_start(run, Terms(quota=quota), FakeClock().now())
    assert (await read_starts(run)).terms.quota == quota


@pytest.mark.parametrize("fields", [3, {"calls": 1}, {"team": "red", "calls": "x"}, ["red"]])
def test_what_is_no_quota(fields: object) -> None:
    with pytest.raises(InvalidInput, match="not the quota of a team"):
        DayQuota.from_json(fields)


async def test_a_team_whose_name_begins_with_a_dot(tmp_path: Path) -> None:
    store, limits = DirectoryStore(tmp_path), TeamLimits(9, 9, 9, 9)
    for team in (".", "..", ".red"):
        ours = quotas(store, QuotaTable(default=limits), team)
        assert await ours.admit_run(RUN) == DayQuota(team, 9, 9)
        await ours.admit_bytes("a" * 64, 5)
        await write_spent(store, team, DAY, "a-process", Spending(1, 3))
        assert [each.used for each in await ours.uses()] == [1, 1, 3, 5]
    seen = await quotas(store, QuotaTable(default=limits), role="admin").uses()
    assert {each.team for each in seen} == {".", "..", ".red", "red"}


@pytest.mark.parametrize(("is_admin", "payer"), [(True, "blue"), (False, "red")])
async def test_only_an_administrator_acts_at_the_cost_of_a_suites_owners(
    store: MemoryStore, is_admin: bool, payer: str
) -> None:
    viewer = Viewer(Owner("somebody", "red"), is_admin)
    ownership = Ownership(lambda: viewer, Sharing.ALL)
    table = QuotaTable(default=TeamLimits(calls_a_day=1))
    ours = TeamQuotas(store, FakeClock(), ownership, lambda: table)
    with ownership.acting_for([Owner("another", "blue")]):
        assert await ours.admit_run(RUN) == DayQuota(payer, 1)


async def test_a_run_whose_start_broke_off_gives_its_place_back(store: MemoryStore) -> None:
    spec, now = runs.spec(), FakeClock().now()
    assert await take_place(store, "red", spec.run_id, 1, now)
    # Its gateway died before it noted the start.
    await run_store(store, spec.run_id).put(SPEC, canonical_json(spec.to_json()))
    assert not await take_place(store, "red", "0" * 16, 1, now + timedelta(seconds=30))
    assert await take_place(store, "red", "0" * 16, 1, now + timedelta(days=1))
