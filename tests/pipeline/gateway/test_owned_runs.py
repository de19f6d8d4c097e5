"""What the gateway does with runs of other teams, by what the store says alone."""

import re
from dataclasses import dataclass, replace

import pytest
from tests.fakes.boards import CAPTIONS, Front, scores

from caliper.core.errors import AlreadyExists, InvalidInput, NotFound
from caliper.core.owners import Owner, Viewer
from caliper.core.run import RunState
from caliper.pipeline.gateway.gateway import Page
from caliper.pipeline.ledger.stop_criterion import StopCriterion
from caliper.pipeline.store.owners import Ownership
from caliper.pipeline.store.runs import run_store, write_json


@dataclass
class Teams(Front):
    """A gateway that is called by teams."""

    viewer: Viewer | None = None

    def __post_init__(self) -> None:
        self.ownership = Ownership(lambda: self.viewer)

    def by(self, team: str) -> None:
        self.viewer = Viewer(Owner("somebody", team))


@pytest.fixture
def front() -> Teams:
    return Teams()


async def test_another_team_that_starts_the_same_run_owns_it_too(front: Teams) -> None:
    gateway = await front.gateway()
    front.by("red")
    begun, created = await gateway.start(front.asked)
    run = begun.spec.run_id
    spec = front.store.objects[f"runs/{run}/spec.json"]
    front.by("blue")
    with pytest.raises(NotFound, match=f"^no run {run}$"):
        await gateway.get(run)
    again, once_more = await gateway.start(front.asked)
    assert (again.spec, created, once_more) == (begun.spec, True, False)
    assert front.store.objects[f"runs/{run}/spec.json"] == spec
    for team in ("red", "blue"):
        front.by(team)
        assert (await gateway.get(run)).spec == begun.spec
    front.by("green")
    with pytest.raises(NotFound, match=f"^no run {run}$"):
        await gateway.cancel(run)


async def test_a_complete_run_of_another_team_is_not_judged_again(front: Teams) -> None:
    gateway = await front.gateway()
    front.by("red")
    begun, _ = await gateway.start(front.asked)
    end = {"state": "complete", "start": 1, "ended_at": "2026-01-02T03:04:05+00:00"}
    await write_json(run_store(front.store, begun.spec.run_id), "end.json", **end)
    front.board.now = scores("complete", 10)
    front.by("blue")
    again, created = await gateway.start(front.asked)
    assert (again.state, created) == (RunState.COMPLETE, False)
    assert (await gateway.get(begun.spec.run_id)).state is RunState.COMPLETE


async def test_a_run_from_before_belongs_to_everybody(front: Teams) -> None:
    gateway = await front.gateway()
    begun, _ = await gateway.start(front.asked)
    for team in ("red", "blue"):
        front.by(team)
        await gateway.start(front.asked)
        assert [each.spec for each in (await gateway.list()).evaluations] == [begun.spec]
    assert not [key for key in front.store.objects if "owners" in key]


async def test_pages_of_runs_name_no_run_of_another_team(front: Teams) -> None:
    gateway = await front.gateway()
    front.by("red")
    begun, _ = await gateway.start(front.asked)
    for place in range(600):
        await write_json(front.store, f"run-index/{place:015}-{begun.spec.run_id}.json")
    front.by("blue")
    first = await gateway.list()
    assert first.evaluations == ()
    assert re.fullmatch(rf"run-index/{499:015}-\w{{4}}~", first.next)
    assert await gateway.list(token=first.next) == Page((), "")


async def test_client_keys_belong_to_teams(front: Teams) -> None:
    gateway = await front.gateway()
    other = replace(front.asked, client_key="nightly", seed=1)
    for team, request in (("red", replace(front.asked, client_key="nightly")), ("blue", other)):
        front.by(team)
        _, created = await gateway.start(request)
        assert created
    front.by("red")
    with pytest.raises(AlreadyExists):
        await gateway.start(other)


@pytest.mark.parametrize("field", ["base", "repeats"])
async def test_a_baseline_of_another_team_does_not_exist(front: Teams, field: str) -> None:
    gateway = await front.gateway()
    runs = {}
    for team, name in (("red", "theirs"), ("blue", "ours")):
        front.by(team)
        runs[team], _ = await gateway.start(replace(front.asked, name=name))
        end = {"state": "complete", "start": 1, "ended_at": "2026-01-02T03:04:05+00:00"}
        await write_json(run_store(front.store, runs[team].spec.run_id), "end.json", **end)
    front.by("blue")
    given = {"base": runs["blue"].spec.run_id, "repeats": "", field: runs["red"].spec.run_id}
    judging = StopCriterion(given["base"], None, 1.0, 0.05, given["repeats"])
    message = f"judging.{field}: no run '{runs['red'].spec.run_id}'"
    with pytest.raises(InvalidInput, match=message):
        await gateway.start(replace(front.asked, judging=judging))


async def test_captions_of_another_team_are_not_there(front: Teams) -> None:
    gateway = await front.gateway()
    del front.store.objects[f"supplied/{CAPTIONS}.jsonl.gz"]
    front.by("red")
    place = f"supplied/{CAPTIONS}"
    await front.ownership.claim(front.store, f"{place}.owners.json", f"{place}.jsonl.gz")
    await front.store.put(f"{place}.jsonl.gz", b"")
    front.by("blue")
    with pytest.raises(InvalidInput, match="no such captions in the store"):
        await gateway.start(front.asked)
    front.by("red")
    await gateway.start(front.asked)
