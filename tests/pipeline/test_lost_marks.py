"""A run that lost one of its marks, without starts or jobs that would bring it back, still ends."""

from collections.abc import Awaitable, Callable

import pytest
from tests.fakes.damage import CODEC, LATER, Installation

from caliper.core.envelopes import Message
from caliper.core.messages import RunFailed, event_key
from caliper.core.run import FINAL_STATES, RunState
from caliper.pipeline.gateway.lost_starts import LostStarts
from caliper.pipeline.planning.publisher import RUNS


async def whole() -> tuple[bytes, ...] | None:
    """The files of an undisturbed run."""
    site = await Installation.left("ended")
    return await site.files(site.specs[0])


async def check(site: Installation) -> list[str]:
    """What the gateway's checks of eleven minutes start again."""
    lost_starts, found = LostStarts(site.gateway, site.stream, CODEC, site.clock), list[str]()
    for _ in range(11):
        site.clock.seconds += LATER
        found += await lost_starts.resume()
    return found


async def _failed(site: Installation) -> str:
    """A run that failed, and that nobody remembers."""
    run = site.specs[0].run_id
    event = RunFailed(run, "another model", 1)
    await site.stream.publish(Message(RUNS, event_key(event), CODEC.write(event)))
    await site.plan()
    site.clock.seconds += LATER
    await site.plan()
    await site.take_jobs()
    assert (await site.gateway.get(run)).state is RunState.FAILED
    return "end.json"


async def _ended_twice(site: Installation) -> str:
    """A run whose last end is that of its second start, and that nobody remembers."""
    await site.work()
    site.damage(f"runs/{site.specs[0].run_id}/verdicts/00000000.jsonl.gz", "deleted")
    await site.start(site.specs[0])
    await site.work()
    return "end.json"


async def _cancelled(site: Installation) -> str:
    """A run whose jobs were dropped, and whose aggregator has not read of it."""
    await site.gateway.cancel(site.specs[0].run_id)
    await site.take_jobs()
    return "cancelled.json"


async def _cancelled_in_planning(site: Installation) -> str:
    await site.start(site.specs[0])
    await site.gateway.cancel(site.specs[0].run_id)
    await site.plan()
    return "cancelled.json"


@pytest.mark.parametrize("reach", [_failed, _ended_twice, _cancelled, _cancelled_in_planning])
async def test_a_run_whose_mark_is_lost_goes_on(
    reach: Callable[[Installation], Awaitable[str]],
) -> None:
    site = await Installation.left("running")
    ours = site.specs[0]
    mark = await reach(site)
    site.damage(f"runs/{ours.run_id}/{mark}", "deleted")
    await site.go_on("without topics")
    assert (await site.gateway.get(ours.run_id)).state not in FINAL_STATES
    # Once: what does not help is not repeated.
    assert await check(site) == [ours.run_id]
    await site.work()
    assert await site.files(ours) == await whole()
    assert await check(site) == []


async def test_an_end_that_is_lost_while_its_run_is_held_is_written_again() -> None:
    site = await Installation.left("ended")
    ours = site.specs[0]
    site.damage(f"runs/{ours.run_id}/end.json", "deleted")
    await site.go_on("live")
    assert await site.files(ours) is None
    site.clock.seconds += 600
    await site.work()
    # The gateway's check asks for it.
    assert await LostStarts(site.gateway, site.stream, CODEC, site.clock).resume() == []
    await site.work()
    assert await site.files(ours) == await whole()


async def test_a_run_whose_starts_are_lost_fails_until_it_is_started_again() -> None:
    site = await Installation.left("running")
    ours = site.specs[0]
    site.damage(f"runs/{ours.run_id}/started.json", "deleted")
    (found,) = [each for each in (await site.gateway.list()).evaluations if each.spec == ours]
    assert (found.state, found.error[:12]) == (RunState.FAILED, "started.json")
    await site.work()
    assert "started.json" in await site.error(ours)
    await site.start(ours)
    await site.work()
    assert await site.files(ours) == await whole()
