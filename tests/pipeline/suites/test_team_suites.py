"""Suites of several teams in one store: what each of them sees and may change."""

import json
from dataclasses import replace

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore
from tests.fakes.suites import checkpoint, suite

from caliper.core.entry_states import EntryCause
from caliper.core.errors import AlreadyExists, UnknownName
from caliper.core.owners import Owner, Viewer
from caliper.core.suites import SuiteCause
from caliper.pipeline.store.owners import Ownership, run_owners, share, suite_owners
from caliper.pipeline.suites.administration import Administration
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.pipeline.suites.team_suites import TeamSuites

RUN = "0123456789abcdef"
RUN_OWNERS = f"runs/{RUN}/owners.json"
LIST = [{"name": "suites", "team": "machines"}]


class House:
    """The suites of a store, as the caller `viewer` sees them."""

    def __init__(self) -> None:
        self.viewer: Viewer | None = None
        self.store, self.clock = MemoryStore(), FakeClock()
        ownership = Ownership(lambda: self.viewer)
        self.administration = Administration(TeamSuites(self.store, self.clock, ownership))

    def by(self, team: str, *, is_admin: bool = False) -> Administration:
        self.viewer = Viewer(Owner("somebody", team), is_admin)
        return self.administration

    async def seen(self) -> list[str]:
        return [each.suite.name for each in (await self.administration.suites()).records]


@pytest.fixture
async def house() -> House:
    house = House()
    await SuiteRegistry(house.store, house.clock).apply(suite("before"))
    for team in ("red", "blue"):
        await house.by(team).apply(suite(team))
        await house.administration.register(checkpoint(1), [team])
    return house


async def test_a_team_sees_its_own_suites_and_those_of_nobody(house: House) -> None:
    for team, others in (("red", ["red"]), ("blue", ["blue"]), ("green", [])):
        house.by(team)
        assert await house.seen() == ["before", *others]
        entries = (await house.administration.entries()).entries
        assert [each.suite for each in entries] == others
    house.by("green", is_admin=True)
    assert await house.seen() == ["before", "blue", "red"]


async def test_suites_of_another_team_do_not_exist(house: House) -> None:
    blue = house.by("blue")
    calls = (
        blue.record,
        lambda name: blue.change(name, SuiteCause.PAUSE),
        blue.account,
        blue.notices,
        blue.progress,
        lambda name: blue.register(checkpoint(2), [name]),
        lambda name: blue.find("step-1", [name]),
        lambda name: blue.change_entries("step-1", [name], EntryCause.SKIP),
    )
    for call in calls:
        messages = []
        for name in ("red", "gone"):
            with pytest.raises(UnknownName) as caught:
                await call(name)
            messages.append(str(caught.value).replace(name, "NAME"))
        assert messages[0] == messages[1]


async def test_a_name_that_another_team_has_is_taken(house: House) -> None:
    before = dict(house.store.objects)
    with pytest.raises(AlreadyExists, match="another suite red"):
        await house.by("blue").apply(replace(suite("red"), keep=1))
    assert house.store.objects == before
    await house.by("red").apply(replace(suite("red"), keep=1))
    assert (await house.administration.record("red")).suite.keep == 1


async def test_a_name_that_another_team_takes_at_the_same_time(house: House) -> None:
    blue, version = Owner("somebody", "blue"), house.store.version

    async def late(key: str) -> str | None:
        if key == "suites/new/suite.json":
            own = Ownership(lambda: Viewer(blue))
            house.store.version = version  # type: ignore[method-assign]
            await TeamSuites(house.store, house.clock, own).apply(suite("new"))
            return None
        return await version(key)

    house.store.version = late  # type: ignore[method-assign]
    with pytest.raises(AlreadyExists, match="another suite new"):
        await house.by("red").apply(replace(suite("new"), keep=1))
    assert json.loads(house.store.objects[suite_owners("new")])["owners"] == [
        {"name": "somebody", "team": "blue"}
    ]


@pytest.mark.parametrize("is_owned", [True, False])
async def test_a_run_of_a_suite_belongs_to_its_owners_too(house: House, is_owned: bool) -> None:
    if is_owned:
        house.store.objects[RUN_OWNERS] = json.dumps({"schema": 1, "owners": LIST}).encode()
    for name in ("red", "before"):
        await share(house.store, run_owners(RUN), suite_owners(name))
    if is_owned:
        owners = json.loads(house.store.objects[RUN_OWNERS])["owners"]
        assert owners == [*LIST, {"name": "somebody", "team": "red"}]
    else:
        assert RUN_OWNERS not in house.store.objects
